//! Formats what was added to prompts of other programs.

use std::fmt::Write as _;

use memoir_core::TimeZone;
use memoir_runtime::{
    printable,
    view::{InjectedQuotation, InjectionReport},
};

/// Maximum length of a quoted text, in characters.
const MAX_CHARS: usize = 200;

pub(crate) fn list(reports: &[InjectionReport], zone: &TimeZone) -> String {
    if reports.is_empty() {
        return "Nothing was added to prompts of other programs in this project. `memoir connect` lists the programs that can be connected.".to_owned();
    }
    let mut text = String::new();
    for InjectionReport { source, event, created, items } in reports {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{}  {} ({event}, session {})",
            created.format_minute(zone),
            printable(&source.program),
            printable(&source.session)
        );
        if items.is_empty() {
            text.push_str("  What was added has been deleted since.\n");
        }
        for InjectedQuotation { id, title, date, text: quotation, reason, tokens } in items {
            let line = quotation.split_whitespace().collect::<Vec<_>>().join(" ");
            let mut short: String = line.chars().take(MAX_CHARS).collect();
            if short.len() < line.len() {
                short.push('…');
            }
            let _ = writeln!(
                text,
                "  {} \"{}\", {date}\n    {}\n    {reason}, {tokens} tokens",
                printable(id),
                printable(title),
                printable(&short)
            );
        }
        text.push('\n');
    }
    text
}
