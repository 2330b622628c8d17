//! Generates histories to import, in Memoir's own format.

use serde_json::json;

use super::{
    PromptAndAnswer,
    promises::{IMPORT_PREFIX, unique_word},
};

/// Number of conversations in the long history, which fills two message segments and one vector segment of the index.
const CONVERSATIONS: u64 = 30;
/// Number of exchanges in each conversation of the long history.
const EXCHANGES: u64 = 50;

/// Number of conversations in the growing history.
const GROWING_CONVERSATIONS: u64 = 3;

/// Prefix of all prompts in the growing history.
pub(super) const GROWING_PREFIX: &str = "Imported question";

/// Returns an export in which every exchange has a unique word.
pub(super) fn long_export() -> String {
    let mut lines = header_line();
    for conversation in 0..CONVERSATIONS {
        lines.push_str(&conversation_line(conversation, "before", "2025-01-05T08:00:00Z"));
        for exchange in 0..EXCHANGES {
            let created = format!("2025-01-{:02}T08:{exchange:02}:00Z", 1 + conversation);
            let text = long_exchange(conversation * EXCHANGES + exchange);
            lines.push_str(&exchange_line(&created, conversation, &text));
        }
    }
    lines
}

/// Returns the exchanges of [`long_export`].
pub(super) fn long_exchanges() -> impl Iterator<Item = PromptAndAnswer> {
    (0..CONVERSATIONS * EXCHANGES).map(long_exchange)
}

/// Returns an exchange whose prompt is long enough to be embedded. The answer is not, to save time.
fn long_exchange(number: u64) -> PromptAndAnswer {
    let word = unique_word(IMPORT_PREFIX, number);
    PromptAndAnswer {
        prompt: format!("Please put {word} on the list of things that we have"),
        answer: "It is there.".into(),
    }
}

/// Returns an export whose conversations have `exchanges` exchanges each.
pub(super) fn growing_export(exchanges: u64) -> String {
    let mut lines = header_line();
    for conversation in 0..GROWING_CONVERSATIONS {
        lines.push_str(&conversation_line(conversation, "torture", "2026-01-05T08:00:00Z"));
        for exchange in 0..exchanges {
            let created = format!("2026-01-05T{:02}:{:02}:00Z", 8 + exchange / 60 % 12, exchange % 60);
            lines.push_str(&exchange_line(&created, conversation, &growing_exchange(conversation, exchange)));
        }
    }
    lines
}

/// Returns the exchanges of [`growing_export`].
pub(super) fn growing_exchanges(exchanges: u64) -> impl Iterator<Item = PromptAndAnswer> {
    (0..GROWING_CONVERSATIONS).flat_map(move |conversation| {
        (0..exchanges).map(move |exchange| growing_exchange(conversation, exchange))
    })
}

fn growing_exchange(conversation: u64, exchange: u64) -> PromptAndAnswer {
    PromptAndAnswer {
        prompt: format!("{GROWING_PREFIX} {exchange} of conversation {conversation}"),
        answer: format!("Imported answer {exchange}, with some words"),
    }
}

fn header_line() -> String {
    "{\"kind\":\"memoir\",\"format\":1}\n".into()
}

fn conversation_line(id: u64, scope: &str, created: &str) -> String {
    let line = json!({"kind": "conversation", "id": id, "origin": format!("{scope}/{id}"), "title": "From elsewhere",
        "scope": scope, "created": created});
    format!("{line}\n")
}

fn exchange_line(created: &str, conversation: u64, text: &PromptAndAnswer) -> String {
    let line = json!({"kind": "exchange", "conversation": conversation, "model": "imported", "messages": [
        {"role": "user", "text": text.prompt, "created": created},
        {"role": "assistant", "text": text.answer, "created": created}]});
    format!("{line}\n")
}
