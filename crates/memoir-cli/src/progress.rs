//! How far long work has come, on stderr, where a person watches.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar over so many of something.
pub(crate) fn bar(length: u64, of: &'static str) -> ProgressBar {
    styled(ProgressBar::new(length), &format!("{{bar:30}} {{pos}} of {{len}} {of} {{eta}}"))
}

fn styled(bar: ProgressBar, template: &str) -> ProgressBar {
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
