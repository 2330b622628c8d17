//! What is remembered besides conversations, and marks on exchanges.

use std::fmt::Write as _;

use memoir_core::{Mark, TimeZone};
use memoir_runtime::{
    operations::memory::{MarkOutcome, MarkReport, MarkedExchange, MemoryReport, ReleaseReport},
    printable,
};

use super::core_memory;

/// Returns core memory, instructions and marked exchanges.
pub(crate) fn list(report: &MemoryReport, zone: &TimeZone) -> String {
    let mut text = core_memory::blocks(&report.core_memory);
    if !report.instructions.is_empty() {
        text.push_str("instructions kept in this conversation, since they left the window\n");
    }
    for (index, instruction) in report.instructions.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {} {}", index + 1, printable(instruction));
    }
    for (title, exchanges) in [("pinned", &report.pinned), ("marked as wrong", &report.wrong)] {
        if !exchanges.is_empty() {
            let _ = writeln!(text, "{title}");
        }
        for MarkedExchange { exchange, .. } in exchanges {
            let prompt = printable(exchange.user_message.trim());
            let line = prompt.lines().next().unwrap_or_default();
            let _ =
                writeln!(text, "  exchange {}, {}: {line}", exchange.id, exchange.started.minute_in(zone));
        }
    }
    text
}

/// Returns what was done with a mark.
pub(crate) fn mark(report: &MarkReport) -> String {
    let exchange = report.exchange;
    match (report.outcome, report.mark) {
        (MarkOutcome::Set, Mark::Pinned) => {
            format!("Exchange {exchange} is pinned: where it matters, it comes before others.")
        }
        (MarkOutcome::Set, Mark::Wrong) => {
            format!("Exchange {exchange} is marked as wrong: it comes after others, and says so.")
        }
        (MarkOutcome::Removed, _) => format!("Exchange {exchange} has no mark any more."),
        (MarkOutcome::WasNotSet, Mark::Pinned) => format!("Exchange {exchange} is not pinned."),
        (MarkOutcome::WasNotSet, Mark::Wrong) => format!("Exchange {exchange} is not marked as wrong."),
    }
}

/// Returns which instruction is no longer sent.
pub(crate) fn release(report: &ReleaseReport) -> String {
    format!("No longer kept: {}", printable(&report.instruction))
}
