//! Talk that is brought in, in the program's own format.

use serde_json::json;

use super::{
    Said,
    promises::{BROUGHT_IN, word},
};

/// A long history: so many conversations of so many exchanges, each with two messages and a vector. Two segments of
/// messages and one of vectors are packed of it.
const CONVERSATIONS: u64 = 30;
const EXCHANGES: u64 = 50;

/// A history that grows has so many conversations.
const TALKS: u64 = 3;

/// What everything that is asked in the history that grows begins with.
pub(super) const IMPORTED: &str = "Imported question";

/// The file of a history in which every exchange has its word.
pub(super) fn long() -> String {
    let mut lines = header();
    for conversation in 0..CONVERSATIONS {
        lines.push_str(&talk(conversation, "before", "2025-01-05T08:00:00Z"));
        for exchange in 0..EXCHANGES {
            let moment = format!("2025-01-{:02}T08:{exchange:02}:00Z", 1 + conversation);
            lines.push_str(&said_at(&moment, conversation, &stock(conversation * EXCHANGES + exchange)));
        }
    }
    lines
}

/// Everything that is said in it.
pub(super) fn in_long() -> impl Iterator<Item = Said> {
    (0..CONVERSATIONS * EXCHANGES).map(stock)
}

/// Long enough to be given a vector; the answers are not, for the sake of time.
fn stock(number: u64) -> Said {
    let word = word(BROUGHT_IN, number);
    Said {
        asked: format!("Please put {word} on the list of things that we have"),
        answered: "It is there.".into(),
    }
}

/// The file of a history whose conversations have so many exchanges.
pub(super) fn growing(exchanges: u64) -> String {
    let mut lines = header();
    for conversation in 0..TALKS {
        lines.push_str(&talk(conversation, "torture", "2026-01-05T08:00:00Z"));
        for exchange in 0..exchanges {
            let moment = format!("2026-01-05T{:02}:{:02}:00Z", 8 + exchange / 60 % 12, exchange % 60);
            lines.push_str(&said_at(&moment, conversation, &imported(conversation, exchange)));
        }
    }
    lines
}

/// Everything that is said in it.
pub(super) fn in_growing(exchanges: u64) -> impl Iterator<Item = Said> {
    (0..TALKS).flat_map(move |talk| (0..exchanges).map(move |exchange| imported(talk, exchange)))
}

fn imported(conversation: u64, exchange: u64) -> Said {
    Said {
        asked: format!("{IMPORTED} {exchange} of talk {conversation}"),
        answered: format!("Imported answer {exchange}, with some words"),
    }
}

fn header() -> String {
    "{\"kind\":\"memoir\",\"format\":1}\n".into()
}

fn talk(id: u64, scope: &str, created: &str) -> String {
    let line = json!({"kind": "conversation", "id": id, "origin": format!("{scope}/{id}"), "title": "From elsewhere",
        "scope": scope, "created": created});
    format!("{line}\n")
}

fn said_at(moment: &str, conversation: u64, said: &Said) -> String {
    let line = json!({"kind": "exchange", "conversation": conversation, "model": "imported", "messages": [
        {"role": "user", "text": said.asked, "created": moment},
        {"role": "assistant", "text": said.answered, "created": moment}]});
    format!("{line}\n")
}
