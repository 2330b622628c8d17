//! What a prompt asks for: a fact, the conversations of a period, or nothing, because it states something.

use memoir_core::{TimeZone, Timestamp, content_words};

use super::{
    units,
    vocabulary::{
        ABOUT_NOTHING, ASKING, DATE_WORDS, FOLLOW_UP_WORDS, FORMER, FORMER_WORDS, QUESTION_WORDS, REFERENCES,
        SEARCHES, STATING, SUBJECTS, VERBS,
    },
};
use crate::dates::{DateRange, find_dates, is_month, is_weekday};

/// Maximum number of words of a prompt that refers to the one before it.
const MAX_FOLLOW_UP_WORDS: usize = 9;

/// What a prompt asks for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Intent {
    /// It states something.
    Statement,
    /// It asks for everything in a period.
    Overview(DateRange),
    /// It asks for a fact.
    Question {
        /// Whether it asks for what was true before.
        former: bool,
    },
}

impl Intent {
    pub(crate) fn parse(prompt: &str, now: Timestamp, zone: &TimeZone) -> Self {
        if is_statement(prompt) {
            return Self::Statement;
        }
        if let Some(period) = find_dates(prompt, now, zone).filter(|_| is_about_nothing_else(prompt)) {
            return Self::Overview(period);
        }
        Self::Question { former: asks_for_former(prompt) }
    }
}

fn words(text: &str) -> Vec<String> {
    text.split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase().replace('’', "'"))
        .filter(|word| !word.is_empty())
        .collect()
}

/// Returns whether a prompt states something, rather than asking a question or searching for words.
fn is_statement(prompt: &str) -> bool {
    let prompt = prompt.trim();
    let words: Vec<String> = words(prompt).into_iter().skip_while(|word| word == "please").collect();
    let Some(first) = words.first().map(String::as_str) else { return false };
    if words.len() < 3 || prompt.ends_with('?') {
        return false;
    }
    if matches!(first, "remember" | "note") {
        return true;
    }
    // "Had lunch with Ines." states something, although "had" also starts questions.
    let is_sentence = prompt.ends_with('.') && !QUESTION_WORDS.contains(&first) && words.len() >= 4;
    if asks(prompt) || (ASKING.contains(&first) && !is_sentence) {
        return false;
    }
    if prompt.contains('\n') {
        return !units::split(prompt).iter().any(|unit| unit.is_question);
    }
    let starts_like_statement = STATING.contains(&first) || prompt.starts_with(|c: char| c.is_uppercase());
    starts_like_statement && (has_verb(&words) || (prompt.ends_with('.') && words.len() >= 4))
}

/// Returns whether some words after the first one contain a verb.
fn has_verb(words: &[String]) -> bool {
    words.iter().skip(1).any(|word| VERBS.contains(&word.as_str()))
        || words.get(1).is_some_and(|word| word.len() > 3 && (word.ends_with("ed") || word.ends_with('s')))
}

/// Returns whether a prompt only asks memory for something, in every sentence. Such a prompt is never recalled. A prompt
/// that may say something is recalled, so in doubt this returns false.
pub fn is_lookup(prompt: &str) -> bool {
    let mut sentences = prompt.lines().flat_map(units::sentences).peekable();
    sentences.peek().is_some() && sentences.all(asks)
}

/// Returns whether a sentence asks for something.
fn asks(sentence: &str) -> bool {
    if sentence.ends_with('?') {
        return true;
    }
    // "Who knows, we may move to Oslo." and "find box 12" may be notes.
    if sentence.ends_with(['.', '!']) || sentence.contains(|c: char| c == ':' || c.is_ascii_digit()) {
        return false;
    }
    let words = words(sentence);
    let is = |index: usize, list: &[&str]| words.get(index).is_some_and(|word| list.contains(&word.as_str()));
    let text = format!("{} ", words.join(" "));
    let asks = is(0, &QUESTION_WORDS) && !is(1, &SUBJECTS);
    let searches = SEARCHES.iter().any(|search| text.starts_with(&format!("{search} ")));
    asks || searches
}

/// Maximum number of words of a search.
const MAX_SEARCH_WORDS: usize = 6;

/// Returns whether a text may be a search of memory, such as "japanese noodle soup", rather than a note.
pub(crate) fn may_be_search(text: &str) -> bool {
    let words = words(text);
    let is_line = !text.trim().contains('\n') && !text.contains(|c: char| c.is_ascii_digit());
    is_line && words.len() <= MAX_SEARCH_WORDS && !has_verb(&words)
}

/// Returns whether a question with a date names no topic: "What did we talk about last week?".
fn is_about_nothing_else(prompt: &str) -> bool {
    content_words(prompt).iter().all(|word| {
        let is_number = word.starts_with(|c: char| c.is_ascii_digit());
        is_number
            || ABOUT_NOTHING.contains(&word.as_str())
            || DATE_WORDS.contains(&word.as_str())
            || is_weekday(word)
            || is_month(word)
    })
}

/// Returns whether a question asks for what was true before something changed.
fn asks_for_former(prompt: &str) -> bool {
    let text = format!(" {} ", words(prompt).join(" "));
    FORMER.iter().any(|phrase| text.contains(&format!(" {phrase} ")))
        || text.trim_end().ends_with(" before")
        || text.contains(" use before ")
        || text.contains(" have before ")
}

/// Removes the words that ask for the former state, which would be searched for otherwise.
pub(crate) fn without_former_words(question: &str) -> String {
    let is_topic = |word: &&str| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
        !FORMER_WORDS.contains(&word.as_str())
    };
    question.split_whitespace().filter(is_topic).collect::<Vec<_>>().join(" ")
}

/// A question for what was true before something changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Former {
    /// The question for what is true now.
    pub(crate) topic: String,
    /// What it was before, if the question says so: "the Wachtel" in "Which oven did we have before the Wachtel?".
    pub(crate) later: Vec<String>,
}

impl Former {
    /// Parses a question that may follow up on a previous one.
    pub(crate) fn parse(question: &str, previous: Option<&str>) -> Self {
        if let Some(previous) = previous {
            return Self { topic: previous.to_owned(), later: Vec::new() };
        }
        let lower = question.to_lowercase();
        let (topic, later) = match lower.find(" before ") {
            Some(index) if question.is_char_boundary(index) => {
                (format!("{}?", &question[..index]), content_words(&lower[index + " before ".len()..]))
            }
            _ => (question.to_owned(), Vec::new()),
        };
        Self { topic: without_former_words(&topic), later }
    }
}

/// Returns whether a prompt can only be understood after the one before it.
pub(crate) fn is_follow_up(prompt: &str) -> bool {
    let all = words(prompt);
    if all.is_empty() || all.len() > MAX_FOLLOW_UP_WORDS || is_statement(prompt) {
        return false;
    }
    let starts_with_and = matches!(all[0].as_str(), "and" | "but" | "so");
    let refers = all.iter().skip(1).any(|word| REFERENCES.contains(&word.as_str()));
    let content: Vec<String> =
        content_words(prompt).into_iter().filter(|word| !FOLLOW_UP_WORDS.contains(&word.as_str())).collect();
    // Only stop words are left if there is no content word.
    let topics = content.iter().filter(|word| !memoir_core::is_stop_word(word)).count();
    let is_question = ASKING.contains(&all[0].as_str());
    match topics {
        0 => is_question || refers,
        1 => starts_with_and || (refers && is_question),
        _ => false,
    }
}

/// Returns whether a follow-up asks for the time of what was answered: "when was that?".
pub(crate) fn asks_when_that_was(prompt: &str) -> bool {
    let words = words(prompt);
    words.first().is_some_and(|word| word == "when" || word == "when's")
        && words.len() <= 4
        && words.iter().any(|word| matches!(word.as_str(), "that" | "it" | "this"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sunday, 15 November 2026.
    const NOW: Timestamp = Timestamp::from_millis(1_794_700_800_000);

    #[test]
    fn statements_are_told_from_questions_and_searches() {
        for text in [
            "My sister Klara lives in Porto",
            "Samira works 30 hours a week from now on.",
            "Deploys are on Mondays and Wednesdays.",
            "I signed up for a pottery course.",
            "we switched to SQLite",
            "Please remember that the spare key is under the pot",
            "remember: bins go out on Thursday",
            "Shopping list\n- flour\n- yeast",
            "Had lunch with Ines today.",
        ] {
            assert!(is_statement(text), "{text}");
        }
        for text in [
            "What database do we use?",
            "what's the rate limit",
            "japanese noodle soup stock",
            "stock options",
            "tell me about the boiler",
            "Which licence do we use now",
            "thanks",
            "how did I make the noodle soup stock?",
        ] {
            assert!(!is_statement(text), "{text}");
        }
    }

    #[test]
    fn only_a_prompt_that_says_nothing_is_a_lookup() {
        for text in [
            "Where is the key?",
            "where is the key that we hid from the children when they were small",
            "Who was that? And when?",
            "tell me about the boiler",
        ] {
            assert!(is_lookup(text), "{text}");
        }
        for text in [
            "I moved to Porto. Where is the key?",
            "I live at number 7. Where is the shop?",
            "Key: under the pot",
            "# Door code 4711",
            "| locker | 4711 |",
            "Ines says the code is 4711, but:\nWhere is the key?",
            "klara moved to oslo",
            "Had lunch with Ines today.",
            "May 5 dentist",
            "Fix the gate\nCall Ines\nIs Tomo back?",
            "how I make tea: boil water, wait four minutes",
            "What I learned today",
            "What a concert by Ines",
            "Who knows, we may move to Oslo.",
            "Search party meets at the mill",
            "",
        ] {
            assert!(!is_lookup(text), "{text}");
        }
    }

    #[test]
    fn a_period_without_a_topic_asks_for_an_overview() {
        let parse = |text| Intent::parse(text, NOW, &TimeZone::UTC);
        for text in [
            "What did we talk about last week?",
            "What did I tell you today?",
            "what happened in March?",
            "what did we discuss on 3 June?",
        ] {
            assert!(matches!(parse(text), Intent::Overview(_)), "{text}");
        }
        for text in ["What did we decide about tea last week?", "what happened?", "When did I start?"] {
            assert!(matches!(parse(text), Intent::Question { .. }), "{text}");
        }
        assert_eq!(parse("What did we use before?"), Intent::Question { former: true });
        assert_eq!(parse("Which oven did we have before the Wachtel?"), Intent::Question { former: true });
        assert_eq!(parse("What oven do we have?"), Intent::Question { former: false });
    }

    #[test]
    fn follow_ups_name_no_topic_of_their_own() {
        for text in [
            "Why did we switch?",
            "and before that?",
            "when was that?",
            "how much was it?",
            "when does he start?",
        ] {
            assert!(is_follow_up(text), "{text}");
        }
        for text in
            ["What am I allergic to?", "Which oven do we have?", "When is the dentist?", "My name is Sam."]
        {
            assert!(!is_follow_up(text), "{text}");
        }
        assert!(asks_when_that_was("when was that?") && !asks_when_that_was("when does he start?"));
    }
}
