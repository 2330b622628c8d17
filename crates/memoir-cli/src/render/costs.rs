//! Formats costs by period, purpose and model.

use std::fmt::Write as _;

use memoir_core::Usd;
use memoir_runtime::operations::costs::{CostBreakdown, CostEntry, CostReport, CostTotal};

/// Returns the cost of each period, followed by breakdowns by purpose and model.
pub(crate) fn report(report: &CostReport) -> String {
    let mut text = String::new();
    let mut periods = vec![("today".to_owned(), &report.today), ("total".to_owned(), &report.all)];
    if let Some(conversation) = &report.conversation {
        periods.insert(0, (format!("conversation {}", conversation.id), &conversation.costs));
    }
    for (title, costs) in &periods {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{title:<18} {}", amount(&costs.total));
    }
    // Skip a breakdown that is the same as the previous one.
    let mut previous: &[CostEntry] = &[];
    for (title, CostBreakdown { lines, .. }) in periods {
        if lines.as_slice() != previous {
            let _ = writeln!(text, "\n{title}, by purpose and model");
            lines.iter().for_each(|line| write_line(&mut text, line));
            previous = lines;
        }
    }
    text
}

/// Returns a cost and the number of calls whose price is unknown.
pub(crate) fn amount(total: &CostTotal) -> String {
    let unpriced = match total.unpriced_calls {
        0 => return total.cost.to_string(),
        calls => super::pluralize(calls, "call with unknown price", "calls with unknown price"),
    };
    if total.cost == Usd::ZERO { unpriced } else { format!("{} and {unpriced}", total.cost) }
}

fn write_line(text: &mut String, line: &CostEntry) {
    let CostEntry { purpose, model, total } = line;
    let (calls, usage) = (super::pluralize(total.calls, "call", "calls"), total.usage);
    let _ = writeln!(
        text,
        "  {purpose:<10} {model:<32} {calls:>11} {:>9} in {:>9} cached {:>8} out  {}",
        usage.input_tokens,
        usage.cached_tokens,
        usage.output_tokens,
        amount(total)
    );
}
