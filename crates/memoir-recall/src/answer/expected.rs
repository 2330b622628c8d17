//! The kind of answer that a question expects, such as a number or a person.

use memoir_core::content_words;

use crate::dates::{is_month, is_weekday};

/// The kind of answer that a question expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    Time,
    Quantity,
    Person,
    Surname,
    Phone,
    Email,
    Color,
    Reason,
    /// Anything may answer it.
    Any,
}

const WHEN: [&str; 9] = [
    "birthday",
    "when",
    "when's",
    "what time",
    "which day",
    "what day",
    "which days",
    "what date",
    "which date",
];

const HOW_MUCH: [&str; 10] = [
    "how much",
    "how many",
    "how long",
    "how often",
    "how far",
    "how old",
    "how big",
    "how cold",
    "how warm",
    "how hot",
];

const QUANTITIES: [&str; 34] = [
    "cost",
    "costs",
    "price",
    "rate",
    "limit",
    "size",
    "amount",
    "budget",
    "salary",
    "rent",
    "fee",
    "percentage",
    "weight",
    "height",
    "distance",
    "temperature",
    "hydration",
    "frequency",
    "timeout",
    "lag",
    "code",
    "pin",
    "number",
    "pay",
    "charge",
    "interest",
    "version",
    "length",
    "width",
    "volume",
    "deposit",
    "score",
    "tyre",
    "dose",
];

const CALENDAR: [&str; 8] =
    ["morning", "evening", "noon", "midnight", "tomorrow", "spring", "summer", "winter"];

const NUMBERS: [&str; 24] = [
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "twenty", "thirty", "forty", "fifty", "hundred", "thousand", "half", "quarter", "dozen", "once", "twice",
    "daily",
];

const PEOPLE: [&str; 30] = [
    "mum",
    "mom",
    "mother",
    "dad",
    "father",
    "brother",
    "sister",
    "aunt",
    "uncle",
    "cousin",
    "grandma",
    "grandpa",
    "oma",
    "opa",
    "neighbor",
    "neighbour",
    "boss",
    "friend",
    "wife",
    "husband",
    "partner",
    "son",
    "daughter",
    "colleague",
    "teacher",
    "doctor",
    "landlord",
    "i",
    "we",
    "my",
];

const COLORS: [&str; 22] = [
    "red",
    "blue",
    "green",
    "yellow",
    "black",
    "white",
    "grey",
    "gray",
    "brown",
    "orange",
    "purple",
    "pink",
    "beige",
    "turquoise",
    "silver",
    "gold",
    "cream",
    "navy",
    "teal",
    "violet",
    "terracotta",
    "ochre",
];

const REASONS: [&str; 15] = [
    "because",
    "since",
    "so that",
    "due to",
    "reason",
    "too ",
    "kept ",
    "after ",
    "couldn't",
    "cost",
    "which is why",
    "therefore",
    "wanted",
    "no longer",
    "why:",
];

impl Expected {
    pub(crate) fn parse(question: &str) -> Self {
        let text = format!(
            " {} ",
            question.to_lowercase().replace(|c: char| !c.is_alphanumeric() && c != '\'', " ")
        );
        let has = |phrase: &str| text.contains(&format!(" {phrase} "));
        let asks_what = has("what") || has("what's") || has("whats") || has("which");
        if has("surname") || has("last name") || has("family name") {
            Self::Surname
        } else if has("phone number") || has("telephone number") || has("number plate") {
            Self::Phone
        } else if has("email") || has("e mail") {
            Self::Email
        } else if asks_what && (has("color") || has("colour")) {
            Self::Color
        } else if WHEN.iter().any(|phrase| has(phrase)) {
            Self::Time
        } else if HOW_MUCH.iter().any(|phrase| has(phrase))
            || (asks_what && content_words(question).iter().any(|word| QUANTITIES.contains(&word.as_str())))
        {
            Self::Quantity
        } else if has("who") || has("whose") || has("who's") {
            Self::Person
        } else if has("why") {
            Self::Reason
        } else {
            Self::Any
        }
    }

    /// Returns whether a unit contains an answer of this kind. `question` are the words of the question in lower case.
    pub(crate) fn is_in(self, unit: &str, question: &[String]) -> bool {
        let words = || unit.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        let has_digit = unit.contains(|c: char| c.is_ascii_digit());
        let has_any = |list: &[&str]| {
            words().any(|word| {
                let word = word.to_lowercase();
                list.contains(&word.as_str()) || list.contains(&word.trim_end_matches('s'))
            })
        };
        let has_date = words().map(str::to_lowercase).any(|word| is_weekday(&word) || is_month(&word));
        match self {
            Self::Any => true,
            Self::Time => has_digit || has_any(&CALENDAR) || has_date || has_any(&NUMBERS),
            Self::Quantity => has_digit || has_any(&NUMBERS),
            Self::Person => {
                has_any(&PEOPLE)
                    || words().any(|word| {
                        word.starts_with(char::is_uppercase) && !question.contains(&word.to_lowercase())
                    })
            }
            Self::Surname => has_full_name(unit, question),
            Self::Phone => unit.chars().filter(char::is_ascii_digit).count() >= 6,
            Self::Email => unit.contains('@'),
            Self::Color => has_any(&COLORS),
            Self::Reason => {
                let text = unit.to_lowercase();
                REASONS.iter().any(|reason| text.contains(reason))
            }
        }
    }

    /// Returns whether a unit without an answer of this kind cannot answer the question.
    pub(crate) fn is_required(self) -> bool {
        !matches!(self, Self::Any | Self::Reason | Self::Person)
    }
}

/// Returns whether a name of the question is followed by another capitalized word.
fn has_full_name(unit: &str, question: &[String]) -> bool {
    let words: Vec<&str> =
        unit.split_whitespace().map(|word| word.trim_matches(|c: char| !c.is_alphanumeric())).collect();
    words.windows(2).any(|pair| {
        question.contains(&pair[0].to_lowercase())
            && pair[1].starts_with(char::is_uppercase)
            && pair[1].len() > 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_question_word_tells_the_kind_of_answer() {
        let question = "What is Tomo's surname?";
        let words = content_words(question);
        assert_eq!(Expected::parse(question), Expected::Surname);
        assert!(!Expected::Surname.is_in("Tomo came by with cake.", &words));
        assert!(Expected::Surname.is_in("I met Tomo Ishikawa.", &words));
        assert_eq!(Expected::parse("how much did it cost?"), Expected::Quantity);
        assert_eq!(Expected::parse("When is the handover?"), Expected::Time);
        assert!(Expected::Time.is_in("It is on Wednesdays now.", &[]));
        assert!(!Expected::Quantity.is_in("It was cheap.", &[]));
        assert_eq!(Expected::parse("Which oven do we have?"), Expected::Any);
    }
}
