//! Metrics of ranking quality: recall at several cutoffs, and the mean reciprocal rank.

use std::{
    collections::{BTreeMap, HashSet},
    fmt,
    iter::Sum,
};

use serde::Serialize;

/// Ranks at which recall is measured.
pub const CUTOFFS: [usize; 4] = [5, 10, 25, 50];

/// Mean scores over the questions of a category, in percent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CategoryScores {
    /// Name of the category, or `all` for the mean over all categories.
    pub name: String,
    /// Number of questions that have an answer.
    pub questions: usize,
    /// Share of the evidence that is among the first 5, 10, 25 and 50 turns.
    pub recall: [f64; CUTOFFS.len()],
    /// Mean reciprocal rank of the first turn that is evidence.
    pub reciprocal_rank: f64,
}

/// Number of questions that were handled correctly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Hits {
    /// Number of questions handled correctly.
    pub correct: usize,
    /// Total number of questions.
    pub total: usize,
}

impl Hits {
    /// Returns the share of questions handled correctly, in percent.
    pub fn percent(self) -> f64 {
        100.0 * self.correct as f64 / self.total.max(1) as f64
    }
}

impl Sum for Hits {
    fn sum<I: Iterator<Item = Self>>(hits: I) -> Self {
        hits.fold(Self::default(), |sum, hits| Self {
            correct: sum.correct + hits.correct,
            total: sum.total + hits.total,
        })
    }
}

impl fmt::Display for Hits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{} of {}", self.correct, self.total))
    }
}

#[derive(Default, Clone, Copy)]
struct Sums {
    questions: usize,
    recall: [f64; CUTOFFS.len()],
    reciprocal: f64,
}

impl Sums {
    fn to_scores(self, name: &str) -> CategoryScores {
        let mean = |sum: f64| 100.0 * sum / self.questions.max(1) as f64;
        CategoryScores {
            name: name.to_owned(),
            questions: self.questions,
            recall: self.recall.map(mean),
            reciprocal_rank: mean(self.reciprocal),
        }
    }
}

#[derive(Default)]
pub(super) struct Measurement {
    pub(super) answerable: Hits,
    pub(super) unanswerable: Hits,
    all: Sums,
    categories: BTreeMap<String, Sums>,
}

impl Measurement {
    /// Adds the ranking of a question. Questions without an answer are ignored because every ranking is equally good.
    pub(super) fn add(&mut self, category: &str, ranking: &[&str], evidence: &[String]) {
        if evidence.is_empty() {
            return;
        }
        let relevant: HashSet<&str> = evidence.iter().map(String::as_str).collect();
        let first_hit = ranking.iter().position(|turn| relevant.contains(turn));
        for sums in [&mut self.all, self.categories.entry(category.to_owned()).or_default()] {
            sums.questions += 1;
            sums.reciprocal += first_hit.map_or(0.0, |index| 1.0 / (index + 1) as f64);
            for (sum, cutoff) in sums.recall.iter_mut().zip(CUTOFFS) {
                let hits = ranking.iter().take(cutoff).filter(|turn| relevant.contains(*turn)).count();
                *sum += hits as f64 / relevant.len() as f64;
            }
        }
    }

    /// Adds the number of passages recalled for a question. It should be zero if the question has no answer, and
    /// positive otherwise.
    pub(super) fn add_prompt(&mut self, passages: usize, evidence: &[String]) {
        let hits = if evidence.is_empty() { &mut self.unanswerable } else { &mut self.answerable };
        hits.total += 1;
        hits.correct += usize::from((passages == 0) == evidence.is_empty());
    }

    pub(super) fn scores(&self) -> Vec<CategoryScores> {
        let categories = self.categories.iter().map(|(name, sums)| sums.to_scores(name));
        std::iter::once(self.all.to_scores("all")).chain(categories).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_means_over_questions() {
        let mut measurement = Measurement::default();
        measurement.add("one", &["a", "b", "c"], &["b".to_owned()]);
        measurement.add("two", &["x"], &["x".to_owned(), "y".to_owned()]);
        measurement.add("none", &["x"], &[]);
        measurement.add_prompt(2, &["b".to_owned()]);
        measurement.add_prompt(1, &[]);
        measurement.add_prompt(0, &[]);
        let scores = |name: &str, questions, recall, reciprocal_rank| CategoryScores {
            name: name.to_owned(),
            questions,
            recall: [recall; CUTOFFS.len()],
            reciprocal_rank,
        };
        assert_eq!(
            measurement.scores(),
            [scores("all", 2, 75.0, 75.0), scores("one", 1, 100.0, 50.0), scores("two", 1, 50.0, 100.0)]
        );
        assert_eq!(measurement.answerable, Hits { correct: 1, total: 1 });
        assert_eq!(measurement.unanswerable, Hits { correct: 1, total: 2 });
    }
}
