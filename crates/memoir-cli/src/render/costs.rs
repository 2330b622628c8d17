//! What was spent.

use std::fmt::Write as _;

use memoir_core::Usd;
use memoir_runtime::operations::costs::{CostBreakdown, CostEntry, CostReport, CostTotal};

/// Returns the costs of each period, and what they consist of.
pub(crate) fn report(report: &CostReport) -> String {
    let mut text = String::new();
    let mut periods = vec![("today".to_owned(), &report.today), ("in all".to_owned(), &report.all)];
    if let Some(conversation) = &report.conversation {
        periods.insert(0, (format!("conversation {}", conversation.id), &conversation.costs));
    }
    for (title, costs) in &periods {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{title:<18} {}", amount(&costs.total));
    }
    // A period with the same lines as the one before it adds nothing.
    let mut shown: &[CostEntry] = &[];
    for (title, CostBreakdown { lines, .. }) in periods {
        if lines.as_slice() != shown {
            let _ = writeln!(text, "\n{title}, by purpose and model");
            lines.iter().for_each(|line| write_line(&mut text, line));
            shown = lines;
        }
    }
    text
}

/// Returns an amount, and how many calls are missing from it.
pub(crate) fn amount(total: &CostTotal) -> String {
    let unknown = match total.unpriced_calls {
        0 => return total.cost.to_string(),
        calls => super::count(calls, "call of unknown price", "calls of unknown price"),
    };
    if total.cost == Usd::ZERO { unknown } else { format!("{} and {unknown}", total.cost) }
}

fn write_line(text: &mut String, line: &CostEntry) {
    let CostEntry { purpose, model, total } = line;
    let (calls, usage) = (super::count(total.calls, "call", "calls"), total.usage);
    let _ = writeln!(
        text,
        "  {purpose:<10} {model:<32} {calls:>11} {:>9} in {:>9} cached {:>8} out  {}",
        usage.input_tokens,
        usage.cached_tokens,
        usage.output_tokens,
        amount(total)
    );
}
