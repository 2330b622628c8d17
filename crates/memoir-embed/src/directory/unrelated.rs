//! Measures how similar a model finds texts that have nothing to do with each other. Models differ a lot in this.

use memoir_models::ModelError;

use crate::{Encoder, encoder::dot};

/// Questions, each about another thing than all statements but the one in its own place.
const QUESTIONS: [&str; 12] = [
    "Where is the spare key?",
    "Which restaurant did my sister like?",
    "How do I restart the web server?",
    "When is the dentist appointment?",
    "What was the name of the hotel in Lisbon?",
    "Why did the tests fail on Friday?",
    "Who borrowed the ladder?",
    "How much did the new tyres cost?",
    "What should I read next?",
    "Which medicine does the cat take?",
    "How long must the dough rest?",
    "What did we decide about the logo?",
];

const STATEMENTS: [&str; 12] = [
    "I hid the spare key under the blue flower pot.",
    "My sister loved the little Thai place near the station.",
    "Run the restart script as root, then check the log of the server.",
    "The dentist can see me on the third of March at nine.",
    "In Lisbon we stayed at the Pensão Alegre, fourth floor.",
    "The tests failed because the clock of the build machine was wrong.",
    "Our neighbour still has the ladder from the garage.",
    "Four new tyres were 380 euros, including the fitting.",
    "You might enjoy the novel about the lighthouse keeper.",
    "The cat gets half a tablet for her thyroid every morning.",
    "Let the dough rest overnight in the fridge.",
    "We agreed to keep the old logo and only change its colour.",
];

/// Returns the mean and the standard deviation of the cosines of all questions with all statements about other things.
pub(super) fn measure(encoder: &Encoder, [query, document]: &[String; 2]) -> Result<(f64, f64), ModelError> {
    let with = |prompt: &str, texts: &[&str]| -> Vec<String> {
        texts.iter().map(|text| format!("{prompt}{text}")).collect()
    };
    let questions = encoder.embed_all(&with(query, &QUESTIONS))?.vectors;
    let statements = encoder.embed_all(&with(document, &STATEMENTS))?.vectors;
    let mut cosines = Vec::new();
    for (place, question) in questions.iter().enumerate() {
        for (other, statement) in statements.iter().enumerate() {
            if place != other {
                cosines.push(f64::from(dot(question, statement)));
            }
        }
    }
    let count = cosines.len() as f64;
    let mean = cosines.iter().sum::<f64>() / count;
    let variance = cosines.iter().map(|cosine| (cosine - mean).powi(2)).sum::<f64>() / count;
    Ok((mean, variance.sqrt()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_measurement_agrees_with_that_of_the_built_in_model() {
        let measured = Encoder::get().and_then(|encoder| measure(encoder, &Default::default()));
        let (mean, deviation) = measured.unwrap_or_default();
        let (expected_mean, expected_deviation) = crate::UNRELATED;
        assert!((mean - expected_mean).abs() < 0.04, "{mean}");
        assert!((deviation - expected_deviation).abs() < 0.04, "{deviation}");
    }
}
