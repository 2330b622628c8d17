//! How good recall is, as a table.

use std::fmt::Write as _;

use memoir_runtime::operations::eval::{CUT_OFFS, EvalReport};

/// Returns the table and the lines below it.
pub(crate) fn report(report: &EvalReport) -> String {
    let mut text = format!("{:<20}{:>6}", "", "n");
    for cut_off in CUT_OFFS {
        text.push_str(&format!("{:>8}", format!("R@{cut_off}")));
    }
    text.push_str(&format!("{:>8}", "MRR"));
    for scores in &report.scores {
        text.push_str(&format!("\n{:<20}{:>6}", scores.name, scores.questions));
        for mean in scores.recall.iter().chain([&scores.reciprocal_rank]) {
            text.push_str(&format!("{mean:>8.1}"));
        }
    }
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "\nprompts with an answer in memory that bring something back: {} of {}\n\
         prompts without one that bring nothing back: {} of {}\n{:.1} ms per question",
        report.answerable.correct,
        report.answerable.total,
        report.unanswerable.correct,
        report.unanswerable.total,
        report.milliseconds_per_question
    );
    text
}

#[cfg(test)]
mod tests {
    use memoir_runtime::operations::eval::{CategoryScores, Hits};

    use super::*;

    #[test]
    fn a_table_has_a_row_for_each_category() {
        let scores = |name: &str, questions, recall, reciprocal_rank| CategoryScores {
            name: name.to_owned(),
            questions,
            recall: [recall; CUT_OFFS.len()],
            reciprocal_rank,
        };
        let measured = EvalReport {
            scores: vec![scores("all", 2, 75.0, 75.0), scores("one", 1, 100.0, 50.0)],
            answerable: Hits { correct: 1, total: 1 },
            unanswerable: Hits { correct: 1, total: 2 },
            milliseconds_per_question: 1.26,
        };
        let rows: Vec<String> = report(&measured)
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(
            rows,
            [
                "n R@5 R@10 R@25 R@50 MRR",
                "all 2 75.0 75.0 75.0 75.0 75.0",
                "one 1 100.0 100.0 100.0 100.0 50.0",
                "prompts with an answer in memory that bring something back: 1 of 1",
                "prompts without one that bring nothing back: 1 of 2",
                "1.3 ms per question",
            ]
        );
    }
}
