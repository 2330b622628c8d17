//! Similarity thresholds, which depend on the embedding model and on the size of memory.

use memoir_models::Embedder;

/// Minimum cosines for a passage to count as relevant.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Calibration {
    /// Threshold that the best passage must reach for anything to be added to a prompt.
    pub(crate) prompt_best: f64,
    /// Threshold for every other passage added to that prompt.
    pub(crate) prompt_other: f64,
    /// Threshold for the results of a search.
    pub(crate) search: f64,
}

/// Distances of the thresholds from the nearest unrelated text, in deviations: 0.05, -0.04 and -0.09 for the built-in
/// model.
const MARGINS: [f64; 3] = [0.05 / 0.11, -0.04 / 0.11, -0.09 / 0.11];

/// Number of texts beyond which the threshold no longer rises.
const MAX_TEXTS: u64 = 10_000;

/// Thresholds by the beginning of the model's full name, based on the cosines of unrelated texts that vendors and users
/// report.
const CALIBRATIONS: [(&str, Calibration); 3] = [
    ("openai/text-embedding-3", Calibration { prompt_best: 0.40, prompt_other: 0.32, search: 0.26 }),
    ("openai/text-embedding-ada", Calibration { prompt_best: 0.80, prompt_other: 0.77, search: 0.75 }),
    ("google/gemini-embedding", Calibration { prompt_best: 0.66, prompt_other: 0.60, search: 0.56 }),
];

/// Thresholds for any other model.
const DEFAULT: Calibration = Calibration { prompt_best: 0.55, prompt_other: 0.45, search: 0.40 };

impl Calibration {
    /// Returns the thresholds for an embedding model and a memory of `texts` embedded texts.
    pub(crate) fn for_model(model: &dyn Embedder, texts: u64) -> Self {
        if let Some(unrelated) = model.unrelated_cosines() {
            return Self::measured(unrelated, texts);
        }
        let entry = CALIBRATIONS.iter().find(|(prefix, _)| model.name().starts_with(prefix));
        entry.map_or(DEFAULT, |(_, calibration)| *calibration)
    }

    /// Returns thresholds above the cosine that the nearest of many unrelated texts has, given the mean and the
    /// deviation for one. The margins were measured with the built-in model (`memoir eval recall`): most prompts with
    /// an answer recall something, and most prompts about other things recall nothing.
    fn measured((mean, deviation): (f64, f64), texts: u64) -> Self {
        // Approximates the expected maximum of as many normally distributed values.
        let highest = 0.88 * (2.0 * (texts.min(MAX_TEXTS) as f64 + 1.0).ln()).sqrt();
        let nearest = mean + deviation * highest;
        let above = |margin: f64| nearest + margin * deviation;
        Self { prompt_best: above(MARGINS[0]), prompt_other: above(MARGINS[1]), search: above(MARGINS[2]) }
    }

    /// Replaces all thresholds with the user's minimum, if there is one.
    pub(crate) fn with_minimum(self, minimum: Option<f64>) -> Self {
        match minimum {
            None => self,
            Some(minimum) => Self { prompt_best: minimum, prompt_other: minimum, search: minimum },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_rise_with_the_size_of_memory_up_to_a_limit() {
        let best = |texts| Calibration::measured((0.03, 0.11), texts).prompt_best;
        assert!(best(3) < 0.3 && (0.4..0.46).contains(&best(700)), "{} {}", best(3), best(700));
        assert!(best(100_000) < 0.5 && best(100_000) == best(1_000_000));
        let narrow = Calibration::measured((0.75, 0.03), 1000);
        assert!(narrow.search > 0.75 && narrow.prompt_best < 0.88, "a model with high cosines: {narrow:?}");
    }
}
