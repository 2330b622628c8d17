//! Writes posts from quotations alone, and finds quotations that do not occur in the source material.

use std::collections::HashMap;

use memoir_core::{TimeZone, content_words};
use memoir_recall::WindowMessage;

use crate::{
    front_matter::{FrontMatter, slugify},
    post::{PostDraft, PostMaterial},
};

/// Minimum number of messages to quote.
const MIN_QUOTED: usize = 3;

/// Maximum number of messages to quote.
const MAX_QUOTED: usize = 12;

/// Number of messages per quotation.
const MESSAGES_PER_QUOTE: usize = 5;

/// Maximum length of a quoted message in characters.
const MAX_QUOTE_CHARS: usize = 300;

/// Minimum number of words of a quotation that is checked. Shorter phrases occur by chance.
const MIN_CHECKED_WORDS: usize = 5;

/// Writes a post that quotes the most informative messages, oldest first.
pub(crate) fn draft(material: &PostMaterial, date: String, zone: &TimeZone) -> PostDraft {
    let messages = &material.messages;
    let title =
        if material.title.is_empty() { format!("Conversation of {date}") } else { material.title.clone() };
    let mut body = format!("{}\n", overview(material, zone));
    let mut day = String::new();
    for message in select_messages(messages) {
        let minute = message.created.format_minute(zone);
        let (message_day, time) = minute.split_once(' ').unwrap_or((&minute, ""));
        if message_day != day {
            day = message_day.to_owned();
            body.push_str(&format!("\n## {day}\n"));
        }
        let text: Vec<&str> = message.text.split_whitespace().collect();
        let text = text.join(" ");
        let quote: String = text.chars().take(MAX_QUOTE_CHARS).collect();
        let ellipsis = if quote.len() < text.len() { "…" } else { "" };
        body.push_str(&format!("\n> {quote}{ellipsis}\n>\n> — {}, {time}\n", message.author));
    }
    if !material.related.is_empty() {
        body.push_str("\n## Related Previous Posts\n\n");
        for passage in &material.related {
            let document = &passage.document;
            body.push_str(&format!("- [{}]({}), {}\n", document.title, document.slug, document.date));
        }
    }
    let slug = Some(slugify(&title)).filter(|slug| !slug.is_empty()).or_else(|| Some("post".into()));
    let front = FrontMatter { title: Some(title), date: Some(date), tags: Vec::new(), slug };
    PostDraft { front, body, invented_quotations: Vec::new(), is_truncated: false }
}

fn overview(material: &PostMaterial, zone: &TimeZone) -> String {
    let messages = &material.messages;
    let minute =
        |message: Option<&WindowMessage>| message.map(|m| m.created.format_minute(zone)).unwrap_or_default();
    let between = match material.people.as_slice() {
        [] => String::new(),
        people => format!(" between {}", people.join(", ")),
    };
    let count = match messages.len() {
        1 => "1 message, quoted below".to_owned(),
        count => format!("{count} messages; the most informative are quoted below"),
    };
    format!(
        "Conversation{between} from {} to {}: {count}.",
        minute(messages.first()),
        minute(messages.last())
    )
}

/// Selects the most informative messages, oldest first.
fn select_messages(messages: &[WindowMessage]) -> Vec<&WindowMessage> {
    let words: Vec<Vec<String>> = messages.iter().map(|message| content_words(&message.text)).collect();
    let mut frequencies: HashMap<&str, usize> = HashMap::new();
    for word in words.iter().flatten() {
        *frequencies.entry(word).or_default() += 1;
    }
    // A word that occurs in a few messages is a topic of the conversation; a word that occurs in most says little.
    let score = |words: &Vec<String>| -> f64 {
        let message_count = messages.len() as f64;
        let word_score = |word: &String| {
            let frequency = frequencies.get(word.as_str()).copied().unwrap_or(1) as f64;
            (1.0 + frequency.min(4.0)).ln() * (1.0 + message_count / frequency).ln()
        };
        words.iter().take(40).map(word_score).sum::<f64>() / (words.len() as f64 + 6.0).sqrt()
    };
    let limit = (messages.len() / MESSAGES_PER_QUOTE).clamp(MIN_QUOTED, MAX_QUOTED).min(messages.len());
    let mut order: Vec<usize> = (0..messages.len()).collect();
    order.sort_by(|a, b| score(&words[*b]).total_cmp(&score(&words[*a])).then(a.cmp(b)));
    let mut selection: Vec<usize> = order.into_iter().take(limit).collect();
    selection.sort_unstable();
    selection.into_iter().map(|index| &messages[index]).collect()
}

/// Returns the quotations in a post that occur neither in the messages nor in the related documents.
pub(crate) fn invented_quotations(body: &str, material: &PostMaterial) -> Vec<String> {
    let sources: Vec<String> = material
        .messages
        .iter()
        .map(|message| normalize(&message.text))
        .chain(material.related.iter().map(|passage| normalize(&passage.text)))
        .collect();
    let is_genuine = |quotation: &str| {
        // An ellipsis marks an omission, so each part may occur in a different place.
        quotation.split(['…']).flat_map(|part| part.split("...")).map(normalize).all(|part| {
            part.split(' ').count() < MIN_CHECKED_WORDS || sources.iter().any(|source| source.contains(&part))
        })
    };
    let invented = quotations(body).into_iter().filter(|quotation| !is_genuine(quotation));
    invented.map(|quotation| quotation.trim().to_owned()).collect()
}

/// Returns the texts between quotation marks.
fn quotations(body: &str) -> Vec<&str> {
    let mut quotations = Vec::new();
    for paragraph in body.split("\n\n") {
        for (open, close) in [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»')] {
            let mut rest = paragraph;
            while let Some((_, after)) = rest.split_once(open) {
                let Some((quotation, after)) = after.split_once(close) else { break };
                quotations.push(quotation);
                rest = after;
            }
        }
    }
    quotations
}

/// Reduces a text to its words in lowercase, so that punctuation and case are ignored in comparisons.
fn normalize(text: &str) -> String {
    let words: Vec<String> = text
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use memoir_core::{ConversationId, Timestamp};

    use super::*;

    fn material(messages: &[(&str, &str)]) -> PostMaterial {
        let message = |(index, (author, text)): (usize, &(&str, &str))| WindowMessage {
            author: (*author).into(),
            created: Timestamp::from_millis(i64::try_from(index).unwrap_or(0) * 60_000),
            text: (*text).into(),
        };
        PostMaterial {
            conversations: vec![ConversationId::new(1)],
            title: "The boiler".into(),
            messages: messages.iter().enumerate().map(message).collect(),
            people: vec!["Anna".into(), "Ben".into()],
            related: Vec::new(),
            log: Vec::new(),
        }
    }

    #[test]
    fn quotations_name_author_and_time() {
        let messages = [
            ("Anna", "ok"),
            ("Ben", "The boiler was serviced by Olaf from Nordheat in March."),
            ("Anna", "haha"),
            ("Ben", "Nordheat wants 240 euros for the boiler service."),
            ("Anna", "fine"),
        ];
        let draft = draft(&material(&messages), "1970-01-01".into(), &TimeZone::UTC);
        let text = draft.text();
        assert!(
            text.starts_with("---\ntitle: \"The boiler\"\ndate: \"1970-01-01\"\nslug: \"the-boiler\"\n"),
            "{text}"
        );
        assert!(
            text.contains("> Nordheat wants 240 euros for the boiler service.\n>\n> — Ben, 00:03\n"),
            "{text}"
        );
        assert!(text.contains("between Anna, Ben from 1970-01-01 00:00"), "{text}");
    }

    #[test]
    fn invented_quotations_are_detected() {
        let material = material(&[
            ("Anna", "I never liked the old boiler, it smells of gas."),
            ("Ben", "Then we buy a new one."),
        ]);
        let invented = |body: &str| invented_quotations(body, &material);
        assert!(invented("Anna: \"I never liked the old boiler … it smells of gas.\"").is_empty());
        assert!(invented("She called it \"quite new\".").is_empty(), "short phrases are not checked");
        assert_eq!(
            invented("“I have always loved that boiler dearly,” says Anna."),
            ["I have always loved that boiler dearly,"]
        );
    }
}
