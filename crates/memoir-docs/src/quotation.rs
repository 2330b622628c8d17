//! Posts by quotation, and whether what is quoted was said.

use std::collections::HashMap;

use memoir_core::{TimeZone, telling_words};
use memoir_recall::WindowMessage;

use crate::{
    front_matter::{FrontMatter, slug_of},
    post::{Material, PostDraft},
};

/// How many messages a digest quotes: at least, and at most.
const FEWEST: usize = 3;
const MOST: usize = 12;

/// One in so many is quoted.
const ONE_IN: usize = 5;

/// How much of a message is quoted, in characters.
const LONGEST: usize = 300;

/// Fewer words are anyone's.
const A_QUOTATION: usize = 5;

/// A post made of what was said: the messages that tell the most, in their order.
pub(crate) fn draft(material: &Material, date: String, zone: &TimeZone) -> PostDraft {
    let messages = &material.messages;
    let title = if material.title.is_empty() { format!("Talk of {date}") } else { material.title.clone() };
    let mut body = format!("{}\n", overview(material, zone));
    let mut day = String::new();
    for message in chosen(messages) {
        let minute = message.created.minute_in(zone);
        let (its_day, time) = minute.split_once(' ').unwrap_or((&minute, ""));
        if its_day != day {
            day = its_day.to_owned();
            body.push_str(&format!("\n## {day}\n"));
        }
        let text: Vec<&str> = message.text.split_whitespace().collect();
        let text = text.join(" ");
        let cut: String = text.chars().take(LONGEST).collect();
        let more = if cut.len() < text.len() { "…" } else { "" };
        body.push_str(&format!("\n> {cut}{more}\n>\n> — {}, {time}\n", message.author));
    }
    if !material.related.is_empty() {
        body.push_str("\n## Related Previous Posts\n\n");
        for passage in &material.related {
            let document = &passage.document;
            body.push_str(&format!("- [{}]({}), {}\n", document.title, document.slug, document.date));
        }
    }
    let slug = Some(slug_of(&title)).filter(|slug| !slug.is_empty()).or_else(|| Some("post".into()));
    let front = FrontMatter { title: Some(title), date: Some(date), tags: Vec::new(), slug };
    PostDraft { front, body, unsaid: Vec::new(), is_cut: false }
}

fn overview(material: &Material, zone: &TimeZone) -> String {
    let messages = &material.messages;
    let minute =
        |message: Option<&WindowMessage>| message.map(|m| m.created.minute_in(zone)).unwrap_or_default();
    let between = match material.people.as_slice() {
        [] => String::new(),
        people => format!(" between {}", people.join(", ")),
    };
    format!(
        "What was said{between} from {} to {}: {} messages, of which the most telling are quoted.",
        minute(messages.first()),
        minute(messages.last()),
        messages.len()
    )
}

/// The messages that tell the most, in their order: with the most words that few others have.
fn chosen(messages: &[WindowMessage]) -> Vec<&WindowMessage> {
    let words: Vec<Vec<String>> = messages.iter().map(|message| telling_words(&message.text)).collect();
    let mut having: HashMap<&str, usize> = HashMap::new();
    for word in words.iter().flatten() {
        *having.entry(word).or_default() += 1;
    }
    // What is said twice or more is what the talk is about; what everyone says tells nothing.
    let worth = |words: &Vec<String>| -> f64 {
        let all = messages.len() as f64;
        let of_word = |word: &String| {
            let having = having.get(word.as_str()).copied().unwrap_or(1) as f64;
            (1.0 + having.min(4.0)).ln() * (1.0 + all / having).ln()
        };
        words.iter().take(40).map(of_word).sum::<f64>() / (words.len() as f64 + 6.0).sqrt()
    };
    let most = (messages.len() / ONE_IN).clamp(FEWEST, MOST).min(messages.len());
    let mut order: Vec<usize> = (0..messages.len()).collect();
    order.sort_by(|a, b| worth(&words[*b]).total_cmp(&worth(&words[*a])).then(a.cmp(b)));
    let mut chosen: Vec<usize> = order.into_iter().take(most).collect();
    chosen.sort_unstable();
    chosen.into_iter().map(|place| &messages[place]).collect()
}

/// What a post quotes that neither the talk nor a previous post says.
pub(crate) fn unsaid(body: &str, material: &Material) -> Vec<String> {
    let said: Vec<String> = material
        .messages
        .iter()
        .map(|message| plain(&message.text))
        .chain(material.related.iter().map(|passage| plain(&passage.text)))
        .collect();
    let was_said =
        |quotation: &str| {
            // What was left out is marked; the rest must stand somewhere.
            quotation.split(['…']).flat_map(|part| part.split("...")).map(plain).all(|part| {
                part.split(' ').count() < A_QUOTATION || said.iter().any(|said| said.contains(&part))
            })
        };
    let unsaid = quotations(body).into_iter().filter(|quotation| !was_said(quotation));
    unsaid.map(|quotation| quotation.trim().to_owned()).collect()
}

/// What stands in quotation marks.
fn quotations(body: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for paragraph in body.split("\n\n") {
        for (open, close) in [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»')] {
            let mut rest = paragraph;
            while let Some((_, after)) = rest.split_once(open) {
                let Some((quotation, after)) = after.split_once(close) else { break };
                found.push(quotation);
                rest = after;
            }
        }
    }
    found
}

/// Words alone, so that marks and case make no difference.
fn plain(text: &str) -> String {
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

    fn material(said: &[(&str, &str)]) -> Material {
        let message = |(place, (author, text)): (usize, &(&str, &str))| WindowMessage {
            author: (*author).into(),
            created: Timestamp::from_millis(i64::try_from(place).unwrap_or(0) * 60_000),
            text: (*text).into(),
        };
        Material {
            conversations: vec![ConversationId::new(1)],
            title: "The boiler".into(),
            messages: said.iter().enumerate().map(message).collect(),
            people: vec!["Anna".into(), "Ben".into()],
            related: Vec::new(),
            log: Vec::new(),
        }
    }

    #[test]
    fn a_digest_quotes_who_said_what_and_when() {
        let talk = [
            ("Anna", "ok"),
            ("Ben", "The boiler was serviced by Olaf from Nordheat in March."),
            ("Anna", "haha"),
            ("Ben", "Nordheat wants 240 euros for the boiler service."),
            ("Anna", "fine"),
        ];
        let draft = draft(&material(&talk), "1970-01-01".into(), &TimeZone::UTC);
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
    fn what_nobody_said_is_noticed() {
        let talk = material(&[
            ("Anna", "I never liked the old boiler, it smells of gas."),
            ("Ben", "Then we buy a new one."),
        ]);
        let unsaid = |body: &str| unsaid(body, &talk);
        assert!(unsaid("Anna: \"I never liked the old boiler … it smells of gas.\"").is_empty());
        assert!(unsaid("She called it \"quite new\".").is_empty(), "a few words are anyone's");
        assert_eq!(
            unsaid("“I have always loved that boiler dearly,” says Anna."),
            ["I have always loved that boiler dearly,"]
        );
    }
}
