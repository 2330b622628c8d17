//! Parsing a question: its words, the people it names and the dates it mentions.

use memoir_core::{TimeZone, Timestamp, content_words, is_stop_word};

use crate::dates::{DateRange, find_dates};

/// A prompt that consists only of these words asks for nothing.
const PLEASANTRIES: [&str; 24] = [
    "ok", "okay", "thanks", "thank", "hi", "hello", "hey", "yes", "no", "sure", "great", "good", "nice",
    "cool", "bye", "please", "continue", "go", "done", "right", "fine", "perfect", "yep", "nope",
];

/// Maximum number of words to search for. A longer prompt usually contains a pasted text.
const MAX_WORDS: usize = 32;

/// The words, names and dates in a question.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ParsedQuestion {
    /// Words to search for.
    pub words: Vec<String>,
    /// Text to embed: the question without the names of authors, which identify a speaker rather than a topic.
    pub meaning: String,
    /// Author named in the question, if exactly one is.
    pub speaker: Option<String>,
    /// Dates mentioned in the question.
    pub dates: Option<DateRange>,
    /// Whether the question only greets or thanks and therefore asks for nothing.
    pub is_idle: bool,
}

impl ParsedQuestion {
    /// Parses a question. `nicknames` are names in the text, each with the author it belongs to.
    pub(crate) fn parse(
        text: &str,
        authors: &[String],
        nicknames: &[(String, String)],
        now: Timestamp,
        zone: &TimeZone,
    ) -> Self {
        let mut named_authors: Vec<&String> =
            authors.iter().filter(|author| has_name(text, author)).collect();
        let mut meaning: String = text.to_owned();
        for name in named_authors.iter().copied().chain(nicknames.iter().map(|(name, _)| name)) {
            meaning = remove_name(&meaning, name);
        }
        for (_, author) in nicknames {
            if !named_authors.contains(&author) {
                named_authors.push(author);
            }
        }
        let mut words = content_words(text);
        words.truncate(MAX_WORDS);
        Self {
            is_idle: words.iter().all(|word| PLEASANTRIES.contains(&word.as_str())),
            words,
            meaning: if content_words(&meaning).is_empty() { text.to_owned() } else { meaning },
            speaker: match named_authors.as_slice() {
                [author] => Some((*author).clone()),
                _ => None,
            },
            dates: find_dates(text, now, zone),
        }
    }
}

/// Returns whether `text` contains the person's first name or a short form of it ("Mel" for "Melanie").
fn has_name(text: &str, person: &str) -> bool {
    split_words(text).enumerate().any(|(index, word)| is_name(word, person) && is_used_as_name(word, index))
}

pub(crate) fn is_name(word: &str, person: &str) -> bool {
    let first = person.split_whitespace().next().unwrap_or(person);
    let (word, first) = (word.to_lowercase(), first.to_lowercase());
    let is_short_form = word.len() >= 3 && first.starts_with(&word) && first.len() <= word.len() + 5;
    word == first || (is_short_form && !is_stop_word(&word))
}

/// Returns whether a word that may also be a stop word, such as "will", is used as a name: it is capitalized, and not
/// only because it starts the sentence.
fn is_used_as_name(word: &str, index: usize) -> bool {
    !is_stop_word(&word.to_lowercase()) || (index > 0 && word.starts_with(char::is_uppercase))
}

fn split_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty())
}

fn remove_name(text: &str, person: &str) -> String {
    let is_other_word = |(index, word): (usize, &'_ str)| {
        let bare = word.trim_end_matches("'s").trim_matches(|c: char| !c.is_alphanumeric());
        !(is_name(bare, person) && is_used_as_name(bare, index))
    };
    let words = text.split_whitespace().enumerate().filter(|word| is_other_word(*word));
    words.map(|(_, word)| word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> ParsedQuestion {
        let authors = ["Melanie".to_owned(), "Caroline".to_owned()];
        ParsedQuestion::parse(text, &authors, &[], Timestamp::from_millis(0), &TimeZone::UTC)
    }

    #[test]
    fn a_name_identifies_the_speaker_and_is_removed_from_the_meaning() {
        let question = parse("What did Melanie's kids paint?");
        assert_eq!(question.speaker.as_deref(), Some("Melanie"));
        assert_eq!(question.meaning, "What did kids paint?");
        assert_eq!(parse("Where did Mel go?").speaker.as_deref(), Some("Melanie"));
        assert_eq!(parse("Did Mel meet Caroline?").speaker, None, "two authors are named");
        assert_eq!(parse("Who is there?").speaker, None);
        let authors = ["Andrew".to_owned(), "Will".to_owned()];
        let parse =
            |text| ParsedQuestion::parse(text, &authors, &[], Timestamp::from_millis(0), &TimeZone::UTC);
        let speaker = |text| parse(text).speaker;
        assert_eq!(parse("When will Will cook?").meaning, "When will cook?");
        assert_eq!(speaker("What did he cook and bake?"), None, "\"and\" is not a short form of Andrew");
        assert_eq!(speaker("Will it rain, and when will it stop?"), None);
        assert_eq!(speaker("Where does Will live?").as_deref(), Some("Will"));
        assert_eq!(speaker("what did andrew say").as_deref(), Some("Andrew"));
        let nicknames = [("Kate".to_owned(), "Will".to_owned())];
        let question = ParsedQuestion::parse(
            "What are Kate's hobbies?",
            &authors,
            &nicknames,
            Timestamp::from_millis(0),
            &TimeZone::UTC,
        );
        assert_eq!(
            (question.speaker.as_deref(), question.meaning.as_str()),
            (Some("Will"), "What are hobbies?")
        );
    }
}
