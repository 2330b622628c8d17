//! Similarity thresholds, which depend on the embedding model.

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

/// Thresholds by the beginning of the model's full name. Those of the first model were measured with `memoir eval
/// recall` on both data sets: most prompts with an answer recall something, and most without one recall nothing. The
/// others are based on the cosines of unrelated texts that vendors and users report.
const CALIBRATIONS: [(&str, Calibration); 4] = [
    ("memoir/", Calibration { prompt_best: 0.42, prompt_other: 0.33, search: 0.28 }),
    ("openai/text-embedding-3", Calibration { prompt_best: 0.40, prompt_other: 0.32, search: 0.26 }),
    ("openai/text-embedding-ada", Calibration { prompt_best: 0.80, prompt_other: 0.77, search: 0.75 }),
    ("google/gemini-embedding", Calibration { prompt_best: 0.66, prompt_other: 0.60, search: 0.56 }),
];

/// Thresholds for any other model.
const DEFAULT: Calibration = Calibration { prompt_best: 0.55, prompt_other: 0.45, search: 0.40 };

impl Calibration {
    /// Returns the thresholds for the embedding model with this full name.
    pub(crate) fn for_model(model: &str) -> Self {
        let entry = CALIBRATIONS.iter().find(|(prefix, _)| model.starts_with(prefix));
        entry.map_or(DEFAULT, |(_, calibration)| *calibration)
    }

    /// Replaces all thresholds with the user's minimum, if there is one.
    pub(crate) fn with_minimum(self, minimum: Option<f64>) -> Self {
        match minimum {
            None => self,
            Some(minimum) => Self { prompt_best: minimum, prompt_other: minimum, search: minimum },
        }
    }
}
