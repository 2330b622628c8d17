//! Compares the built-in reader with the 32-bit model it was quantized from.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

use memoir_embed::read_blocking;
use memoir_models::{ReaderQuestion, ReaderText};
use serde::Deserialize;

#[derive(Deserialize)]
struct ScoredText {
    question: String,
    earlier: Option<String>,
    title: String,
    before: String,
    sentences: Vec<String>,
    scores: Vec<f32>,
}

fn ask(question: &str) -> ReaderQuestion {
    ReaderQuestion { text: question.to_owned(), earlier: None }
}

fn text(sentences: &[String]) -> ReaderText {
    ReaderText { title: String::new(), before: String::new(), sentences: sentences.to_vec() }
}

#[test]
fn scores_are_near_those_of_the_32_bit_reader() {
    let texts: Vec<ScoredText> = serde_json::from_str(include_str!("reader.json")).unwrap();
    assert!(texts.len() >= 7);
    for text in texts {
        let question = ReaderQuestion { text: text.question, earlier: text.earlier };
        let read = ReaderText { title: text.title, before: text.before, sentences: text.sentences };
        let scores = read_blocking(&question, std::slice::from_ref(&read)).unwrap().remove(0);
        assert_eq!(scores.len(), text.scores.len());
        for (score, expected) in scores.iter().zip(&text.scores) {
            assert!((score - expected).abs() < 0.5, "{scores:?} and {:?} for {read:?}", text.scores);
        }
    }
}

#[test]
fn the_sentence_that_answers_has_the_highest_score() {
    let sentences = [
        "user: The kitchen tap drips again.",
        "user: Our plumber is called Ines Prado.",
        "user: The bins go out on Thursday.",
    ]
    .map(str::to_owned);
    for (question, best) in [("Who is our plumber?", 1), ("when do the bins go out", 2)] {
        let scores = read_blocking(&ask(question), &[text(&sentences)]).unwrap().remove(0);
        let highest = scores.iter().copied().fold(f32::MIN, f32::max);
        assert!(scores[best] == highest && highest > 0.0, "{scores:?} for {question}");
    }
}

#[test]
fn long_and_unusual_texts_have_a_score_for_each_sentence() {
    let long: Vec<String> =
        (0..100).map(|number| format!("user: This is sentence number {number}.")).collect();
    let unusual = ["", " \n", "\0\u{fffd}", "🦀", &"word ".repeat(5000)].map(str::to_owned);
    let texts = [text(&long), text(&[]), text(&unusual)];
    let question = ask(&"Which word? ".repeat(500));
    let scores = read_blocking(&question, &texts).unwrap();
    assert_eq!(scores.iter().map(Vec::len).collect::<Vec<_>>(), [100, 0, 5]);
    assert!(scores.iter().flatten().all(|score| score.is_finite()));
    assert!(read_blocking(&question, &[]).unwrap().is_empty());
}
