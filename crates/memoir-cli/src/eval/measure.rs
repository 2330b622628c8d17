//! How good a ranking is.

use std::{
    collections::{BTreeMap, HashSet},
    fmt,
};

const CUTS: [usize; 4] = [5, 10, 25, 50];

#[derive(Default, Clone, Copy)]
struct Sums {
    questions: usize,
    recall: [f64; CUTS.len()],
    reciprocal: f64,
}

/// Sums by category, and over all questions that have an answer.
#[derive(Default)]
pub(super) struct Table {
    /// Prompts that brought something back, of those with an answer in memory, and nothing, of those without.
    met: (usize, usize),
    left_alone: (usize, usize),
    all: Sums,
    categories: BTreeMap<String, Sums>,
}

impl Table {
    /// Adds a question. One without an answer has no ranking to be good or bad.
    pub(super) fn add(&mut self, category: &str, ranked: &[&str], evidence: &[String]) {
        if evidence.is_empty() {
            return;
        }
        let wanted: HashSet<&str> = evidence.iter().map(String::as_str).collect();
        let first = ranked.iter().position(|turn| wanted.contains(turn));
        for sums in [&mut self.all, self.categories.entry(category.to_owned()).or_default()] {
            sums.questions += 1;
            sums.reciprocal += first.map_or(0.0, |first| 1.0 / (first + 1) as f64);
            for (sum, cut) in sums.recall.iter_mut().zip(CUTS) {
                let found = ranked.iter().take(cut).filter(|turn| wanted.contains(*turn)).count();
                *sum += found as f64 / wanted.len() as f64;
            }
        }
    }

    /// Notes how many passages the question would bring into a prompt.
    pub(super) fn add_prompt(&mut self, passages: usize, evidence: &[String]) {
        let (right, all) = if evidence.is_empty() { &mut self.left_alone } else { &mut self.met };
        *all += 1;
        *right += usize::from((passages == 0) == evidence.is_empty());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<20}{:>6}", "", "n")?;
        CUTS.iter().try_for_each(|cut| write!(f, "{:>8}", format!("R@{cut}")))?;
        writeln!(f, "{:>8}", "MRR")?;
        let rows = std::iter::once(("all", &self.all))
            .chain(self.categories.iter().map(|(name, sums)| (name.as_str(), sums)));
        for (name, sums) in rows {
            let mean = |sum: f64| 100.0 * sum / sums.questions.max(1) as f64;
            write!(f, "{name:<20}{:>6}", sums.questions)?;
            sums.recall.iter().try_for_each(|sum| write!(f, "{:>8.1}", mean(*sum)))?;
            writeln!(f, "{:>8.1}", mean(sums.reciprocal))?;
        }
        writeln!(
            f,
            "prompts with an answer in memory that bring something back: {} of {}",
            self.met.0, self.met.1
        )?;
        writeln!(
            f,
            "prompts without one that bring nothing back: {} of {}",
            self.left_alone.0, self.left_alone.1
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recall_and_rank_are_means_over_questions() {
        let mut table = Table::default();
        table.add("one", &["a", "b", "c"], &["b".to_owned()]);
        table.add("two", &["x"], &["x".to_owned(), "y".to_owned()]);
        table.add("none", &["x"], &[]);
        table.add_prompt(2, &["b".to_owned()]);
        table.add_prompt(1, &[]);
        table.add_prompt(0, &[]);
        let rows: Vec<String> = table
            .to_string()
            .lines()
            .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        assert_eq!(
            rows,
            [
                "n R@5 R@10 R@25 R@50 MRR",
                "all 2 75.0 75.0 75.0 75.0 75.0",
                "one 1 100.0 100.0 100.0 100.0 50.0",
                "two 1 50.0 50.0 50.0 50.0 100.0",
                "prompts with an answer in memory that bring something back: 1 of 1",
                "prompts without one that bring nothing back: 1 of 2",
            ]
        );
    }
}
