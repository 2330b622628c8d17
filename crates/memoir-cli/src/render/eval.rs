//! Formats the results of `memoir eval recall` as a table.

use std::fmt::Write as _;

use memoir_runtime::operations::eval::{CUTOFFS, EvalReport};

/// Returns a table with one row per category, followed by the totals.
pub(crate) fn report(report: &EvalReport) -> String {
    let mut text = format!("{:<20}{:>6}", "", "n");
    for cut_off in CUTOFFS {
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
        "\nanswerable questions that recalled a passage: {} of {}\n\
         unanswerable questions that recalled nothing: {} of {}\n{:.1} ms per question",
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
    fn table_has_one_row_per_category() {
        let scores = |name: &str, questions, recall, reciprocal_rank| CategoryScores {
            name: name.to_owned(),
            questions,
            recall: [recall; CUTOFFS.len()],
            reciprocal_rank,
        };
        let results = EvalReport {
            scores: vec![scores("all", 2, 75.0, 75.0), scores("one", 1, 100.0, 50.0)],
            answerable: Hits { correct: 1, total: 1 },
            unanswerable: Hits { correct: 1, total: 2 },
            milliseconds_per_question: 1.26,
        };
        let rows: Vec<String> = report(&results)
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(
            rows,
            [
                "n R@5 R@10 R@25 R@50 MRR",
                "all 2 75.0 75.0 75.0 75.0 75.0",
                "one 1 100.0 100.0 100.0 100.0 50.0",
                "answerable questions that recalled a passage: 1 of 1",
                "unanswerable questions that recalled nothing: 1 of 2",
                "1.3 ms per question",
            ]
        );
    }
}
