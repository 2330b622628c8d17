//! What nearness means depends on whose vectors are compared.

/// From which cosine on something is near in meaning.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Calibration {
    /// For the best passage, if anything is to come into a prompt unasked.
    pub(crate) to_answer: f64,
    /// For each passage, once something does.
    pub(crate) to_be_among: f64,
    /// For what is searched for.
    pub(crate) to_be_found: f64,
}

/// Known models, by how their full names begin. The first was measured with `memoir eval recall` on both sets: above its
/// bounds most prompts with an answer bring something, and most without one nothing. For the others the figures follow from what their makers and users report about unrelated texts.
const KNOWN: [(&str, Calibration); 4] = [
    ("memoir/", Calibration { to_answer: 0.42, to_be_among: 0.33, to_be_found: 0.28 }),
    ("openai/text-embedding-3", Calibration { to_answer: 0.40, to_be_among: 0.32, to_be_found: 0.26 }),
    ("openai/text-embedding-ada", Calibration { to_answer: 0.80, to_be_among: 0.77, to_be_found: 0.75 }),
    ("google/gemini-embedding", Calibration { to_answer: 0.66, to_be_among: 0.60, to_be_found: 0.56 }),
];

/// For a model that no one has measured.
const UNKNOWN: Calibration = Calibration { to_answer: 0.55, to_be_among: 0.45, to_be_found: 0.40 };

impl Calibration {
    /// Returns the thresholds for the embedding model with this full name.
    pub(crate) fn for_model(model: &str) -> Self {
        let known = KNOWN.iter().find(|(name, _)| model.starts_with(name));
        known.map_or(UNKNOWN, |(_, calibration)| *calibration)
    }

    /// The same with the user's own bound for what is near.
    pub(crate) fn with_minimum(self, minimum: Option<f64>) -> Self {
        match minimum {
            None => self,
            Some(minimum) => Self { to_answer: minimum, to_be_among: minimum, to_be_found: minimum },
        }
    }
}
