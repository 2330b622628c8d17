//! Distinguishes a statement with a new value from one about another subject.

use memoir_core::content_words;

use crate::{
    dates::{is_month, is_weekday},
    excerpt::is_form_of,
};

/// Minimum fraction of words, apart from values, that such statements share.
const MIN_SHARED: f64 = 0.3;

/// Verbs between the subject of a statement and what it is.
const COPULAS: [&str; 5] = ["is", "are", "am", "was", "were"];

/// Words of a statement that replaces another one.
const CHANGE_WORDS: [&str; 4] = ["now", "instead", "anymore", "longer"];

/// Returns whether two statements say the same of different subjects, such as "Ana sees the dentist on Tuesday" and "Tom
/// sees the dentist on Friday": they are built alike, where they first differ there is a word that is not a value, and
/// they differ again after it. A single difference, or one after the verb, may be a new value.
pub(crate) fn have_different_subjects(old: &str, new: &str) -> bool {
    if words(new).any(|word| CHANGE_WORDS.contains(&word.as_str())) {
        return false;
    }
    let before_difference = words(old).zip(words(new)).take_while(|(old, new)| old == new);
    if before_difference.into_iter().any(|(word, _)| COPULAS.contains(&word.as_str())) {
        return false;
    }
    let (old, new) = (content_words(old), content_words(new));
    if old.len().abs_diff(new.len()) > 1 || shared_fraction(&old, &new) < MIN_SHARED {
        return false;
    }
    let common = old.iter().zip(&new).take_while(|(old, new)| is_form_of(old, new)).count();
    let (Some((first_old, old_rest)), Some((first_new, new_rest))) =
        (old[common..].split_first(), new[common..].split_first())
    else {
        return false;
    };
    let are_subjects = [(first_old, &new), (first_new, &old)]
        .into_iter()
        .all(|(word, others)| !is_value(word) && !contains(others, word));
    let differ_again = |rest: &[String], others: &[String]| rest.iter().any(|word| !contains(others, word));
    are_subjects && differ_again(old_rest, &new) && differ_again(new_rest, &old)
}

/// Returns all words of a text in lower case.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// Returns the fraction of words, apart from values, that both statements contain.
fn shared_fraction(old: &[String], new: &[String]) -> f64 {
    let words: Vec<&String> = old.iter().filter(|word| !is_value(word)).collect();
    let shared = words.iter().filter(|word| contains(new, word)).count();
    shared as f64 / words.len().max(1) as f64
}

fn contains(words: &[String], word: &str) -> bool {
    words.iter().any(|other| is_form_of(other, word))
}

/// Returns whether a word is a value that may change, such as a number or a day.
pub(crate) fn is_value(word: &str) -> bool {
    word.contains(|c: char| c.is_ascii_digit()) || is_weekday(word) || is_month(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_about_other_subjects_are_recognized() {
        for (old, new) in [
            ("Dentist for Ana on Tuesday at 8:15.", "Dentist for Tom on Friday at 9:00."),
            ("The staging server runs on port 8080.", "The production server runs on port 9090."),
            ("My sister Eva lives in Graz.", "My sister Lena lives in Linz."),
            ("I fly to Oslo on 3 May.", "I fly to Rome on 12 June."),
            ("Lunch with Ben on Monday at Rosso.", "Lunch with Carla on Thursday at Verde."),
            ("Ana's phone number is 555 1234.", "Tom's phone number is 555 9876."),
        ] {
            assert!(have_different_subjects(old, new), "{new}");
        }
        for (old, new) in [
            ("The meeting is on Tuesday.", "The meeting is on Thursday."),
            ("The capital is Bonn.", "The capital is Berlin."),
            ("My phone is a Pixel 6.", "My phone is an iPhone 15."),
            ("My flight is with Lufthansa at 9:00.", "My flight is with KLM at 11:30."),
            ("The server runs Ubuntu 20.04.", "The server runs Debian 12 now."),
            ("My dentist is Dr. Weber.", "My dentist is now Dr. Roth, Weber retired."),
            ("The rent is 900 euros.", "We pay 950 euros of rent now."),
            ("Samira works 24 hours a week in the shop.", "Samira works 30 hours a week from now on."),
            ("We use Postgres as the database.", "All measurements are in a single SQLite file."),
        ] {
            assert!(!have_different_subjects(old, new), "{new}");
        }
    }
}
