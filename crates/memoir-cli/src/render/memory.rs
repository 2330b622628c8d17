//! Formats core memory, instructions and marked exchanges.

use std::fmt::Write as _;

use memoir_core::{Mark, TimeZone};
use memoir_runtime::{
    operations::memory::{MarkOutcome, MarkReport, MarkedExchange, MemoryReport, ReleaseReport},
    printable,
};

use super::core_memory;

pub(crate) fn list(report: &MemoryReport, zone: &TimeZone) -> String {
    let mut text = core_memory::blocks(&report.core_memory);
    if !report.instructions.is_empty() {
        text.push_str("instructions kept from earlier in this conversation\n");
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
            let _ = writeln!(
                text,
                "  exchange {}, {}: {line}",
                exchange.id,
                exchange.started.format_minute(zone)
            );
        }
    }
    text
}

/// Returns the result of adding or removing a mark.
pub(crate) fn mark(report: &MarkReport) -> String {
    let exchange = report.exchange;
    match (report.outcome, report.mark) {
        (MarkOutcome::Set, Mark::Pinned) => {
            format!("Pinned exchange {exchange}. It now ranks above other matches.")
        }
        (MarkOutcome::Set, Mark::Wrong) => {
            format!("Marked exchange {exchange} as wrong. It now ranks below other matches.")
        }
        (MarkOutcome::Removed, _) => format!("Removed the mark from exchange {exchange}."),
        (MarkOutcome::WasNotSet, Mark::Pinned) => format!("Exchange {exchange} is not pinned."),
        (MarkOutcome::WasNotSet, Mark::Wrong) => format!("Exchange {exchange} is not marked as wrong."),
    }
}

pub(crate) fn release(report: &ReleaseReport) -> String {
    format!("This instruction is no longer sent: {}", printable(&report.instruction))
}
