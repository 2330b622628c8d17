//! What a question asks for: its words, the people it names, the time it speaks of.

use memoir_core::{TimeZone, Timestamp, telling_words};

use crate::dates::{DateRange, find_dates};

/// A question, taken apart.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    /// Words to look for.
    pub(crate) words: Vec<String>,
    /// The question without the names of those who talk: they say who spoke, not what about.
    pub(crate) meaning: String,
    /// The one person that it names, if it names one.
    pub(crate) speaker: Option<String>,
    /// The time it speaks of.
    pub(crate) dates: Option<DateRange>,
}

impl Question {
    pub(crate) fn read(text: &str, people: &[String], now: Timestamp, zone: &TimeZone) -> Self {
        let named: Vec<&String> = people.iter().filter(|person| names(text, person)).collect();
        let mut meaning: String = text.to_owned();
        for person in &named {
            meaning = without(&meaning, person);
        }
        Self {
            words: telling_words(text),
            meaning: if telling_words(&meaning).is_empty() { text.to_owned() } else { meaning },
            speaker: match named.as_slice() {
                [one] => Some((*one).clone()),
                _ => None,
            },
            dates: find_dates(text, now, zone),
        }
    }
}

/// Whether a word of `text` is the person's name, or the beginning of it ("Mel" for "Melanie").
fn names(text: &str, person: &str) -> bool {
    words(text).any(|word| is_name(word, person))
}

fn is_name(word: &str, person: &str) -> bool {
    let first = person.split_whitespace().next().unwrap_or(person);
    let (word, first) = (word.to_lowercase(), first.to_lowercase());
    word == first || (word.len() >= 3 && first.starts_with(&word) && first.len() <= word.len() + 5)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn without(text: &str, person: &str) -> String {
    let keep = |word: &&str| {
        !is_name(word.trim_end_matches("'s").trim_matches(|c: char| !c.is_alphanumeric()), person)
    };
    text.split_whitespace().filter(keep).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Question {
        let people = ["Melanie".to_owned(), "Caroline".to_owned()];
        Question::read(text, &people, Timestamp::from_millis(0), &TimeZone::UTC)
    }

    #[test]
    fn names_tell_who_spoke_and_are_left_out_of_the_meaning() {
        let question = read("What did Melanie's kids paint?");
        assert_eq!(question.speaker.as_deref(), Some("Melanie"));
        assert_eq!(question.meaning, "What did kids paint?");
        assert_eq!(read("Where did Mel go?").speaker.as_deref(), Some("Melanie"));
        assert_eq!(read("Did Mel meet Caroline?").speaker, None, "two are named");
        assert_eq!(read("Who is there?").speaker, None);
    }
}
