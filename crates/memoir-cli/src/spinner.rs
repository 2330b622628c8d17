//! The line that shows what a turn is doing.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressStyle};
use memoir_core::lock;

/// A line that shows the current activity and its duration. It is visible only while nothing else is printed, because both
/// use the same line.
#[derive(Clone, Default)]
pub(crate) struct Spinner(Arc<Mutex<Option<ProgressBar>>>);

impl Spinner {
    pub(crate) fn show(&self, activity: &str) {
        let mut current = lock(&self.0);
        if let Some(spinner) = current.as_ref() {
            spinner.set_message(activity.to_owned());
            return;
        }
        let spinner = ProgressBar::new_spinner().with_message(activity.to_owned());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
            spinner.set_style(style);
        }
        spinner.enable_steady_tick(Duration::from_millis(100));
        *current = Some(spinner);
    }

    pub(crate) fn stop(&self) {
        if let Some(spinner) = lock(&self.0).take() {
            spinner.finish_and_clear();
        }
    }
}
