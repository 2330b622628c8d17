//! Formats the results of `memoir eval` as tables.

use std::fmt::Write as _;

use memoir_runtime::operations::eval::{AnswersReport, CUTOFFS, EvalReport, FailedCase, Hits};

/// Returns a table with the rows of each data set: all its questions, then each category.
pub(crate) fn report(report: &EvalReport) -> String {
    let mut text = format!("{:<26}{:>6}", "", "n");
    for cut_off in CUTOFFS {
        text.push_str(&format!("{:>8}", format!("R@{cut_off}")));
    }
    text.push_str(&format!("{:>8}", "MRR"));
    for set in &report.sets {
        for (index, scores) in set.scores.iter().enumerate() {
            let name = if index == 0 { set.name.clone() } else { format!("  {}", scores.name) };
            text.push_str(&format!("\n{name:<26}{:>6}", scores.questions));
            for mean in scores.recall.iter().chain([&scores.reciprocal_rank]) {
                text.push_str(&format!("{mean:>8.1}"));
            }
        }
    }
    let answerable: Hits = report.sets.iter().map(|set| set.answerable).sum();
    let unanswerable: Hits = report.sets.iter().map(|set| set.unanswerable).sum();
    text + &format!(
        "\nanswerable questions that recalled a passage: {answerable}\n\
         unanswerable questions that recalled nothing: {unanswerable}\n{:.1} ms per question",
        report.milliseconds_per_question
    )
}

/// Returns the failed cases, followed by a table with one row per category and the totals.
pub(crate) fn answers(report: &AnswersReport) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    for FailedCase { id, ask, expected, answer } in &report.failures {
        let expected = expected.as_deref().unwrap_or("nothing");
        let _ = writeln!(text, "{id}: {ask}\n  expected: {expected}\n  answered: {answer}\n");
    }
    for (name, hits) in &report.categories {
        let _ = writeln!(text, "{name:<14}{hits:>10}");
    }
    text + &format!(
        "answered by the first line: {:.1} %\nabsent facts on which Memoir abstained: {:.1} %",
        report.answered.percent(),
        report.abstained.percent()
    )
}
