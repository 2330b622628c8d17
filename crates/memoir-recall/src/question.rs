//! What a question asks for: its words, the people it names, the time it speaks of.

use memoir_core::{TimeZone, Timestamp, is_stop_word, telling_words};

use crate::dates::{DateRange, find_dates};

/// Words of which a prompt can consist without asking for anything.
const PLEASANTRIES: [&str; 24] = [
    "ok", "okay", "thanks", "thank", "hi", "hello", "hey", "yes", "no", "sure", "great", "good", "nice",
    "cool", "bye", "please", "continue", "go", "done", "right", "fine", "perfect", "yep", "nope",
];

/// How many words of a question are looked up; a longer one is a text of its own.
const MOST_WORDS: usize = 32;

/// A question, taken apart.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ParsedQuestion {
    /// Words to look for.
    pub words: Vec<String>,
    /// The question without the names of those who talk: they say who spoke, not what about.
    pub meaning: String,
    /// The one person that it names, if it names one.
    pub speaker: Option<String>,
    /// The time it speaks of.
    pub dates: Option<DateRange>,
    /// Whether it only greets or thanks: a prompt like that asks nothing.
    pub is_idle: bool,
}

impl ParsedQuestion {
    pub(crate) fn parse(text: &str, people: &[String], now: Timestamp, zone: &TimeZone) -> Self {
        let named: Vec<&String> = people.iter().filter(|person| names(text, person)).collect();
        let mut meaning: String = text.to_owned();
        for person in &named {
            meaning = without(&meaning, person);
        }
        let mut words = telling_words(text);
        words.truncate(MOST_WORDS);
        Self {
            is_idle: words.iter().all(|word| PLEASANTRIES.contains(&word.as_str())),
            words,
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
    split_words(text).enumerate().any(|(place, word)| is_name(word, person) && is_meant_as_name(word, place))
}

fn is_name(word: &str, person: &str) -> bool {
    let first = person.split_whitespace().next().unwrap_or(person);
    let (word, first) = (word.to_lowercase(), first.to_lowercase());
    let short_form = word.len() >= 3 && first.starts_with(&word) && first.len() <= word.len() + 5;
    word == first || (short_form && !is_stop_word(&word))
}

/// "will" is a name where it is written like one, and not where every sentence begins so.
fn is_meant_as_name(word: &str, place: usize) -> bool {
    !is_stop_word(&word.to_lowercase()) || (place > 0 && word.starts_with(char::is_uppercase))
}

fn split_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn without(text: &str, person: &str) -> String {
    let keep = |(place, word): (usize, &'_ str)| {
        let bare = word.trim_end_matches("'s").trim_matches(|c: char| !c.is_alphanumeric());
        !(is_name(bare, person) && is_meant_as_name(bare, place))
    };
    let kept = text.split_whitespace().enumerate().filter(|word| keep(*word));
    kept.map(|(_, word)| word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> ParsedQuestion {
        let people = ["Melanie".to_owned(), "Caroline".to_owned()];
        ParsedQuestion::parse(text, &people, Timestamp::from_millis(0), &TimeZone::UTC)
    }

    #[test]
    fn names_tell_who_spoke_and_are_left_out_of_the_meaning() {
        let question = read("What did Melanie's kids paint?");
        assert_eq!(question.speaker.as_deref(), Some("Melanie"));
        assert_eq!(question.meaning, "What did kids paint?");
        assert_eq!(read("Where did Mel go?").speaker.as_deref(), Some("Melanie"));
        assert_eq!(read("Did Mel meet Caroline?").speaker, None, "two are named");
        assert_eq!(read("Who is there?").speaker, None);
        let people = ["Andrew".to_owned(), "Will".to_owned()];
        let read = |text| ParsedQuestion::parse(text, &people, Timestamp::from_millis(0), &TimeZone::UTC);
        let speaker = |text| read(text).speaker;
        assert_eq!(read("When will Will cook?").meaning, "When will cook?");
        assert_eq!(speaker("What did he cook and bake?"), None, "\"and\" is no short form of Andrew");
        assert_eq!(speaker("Will it rain, and when will it stop?"), None);
        assert_eq!(speaker("Where does Will live?").as_deref(), Some("Will"));
        assert_eq!(speaker("what did andrew say").as_deref(), Some("Andrew"));
    }
}
