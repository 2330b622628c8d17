//! Claude.ai's data export: `conversations.json`, an array of conversations with their messages in order.
//!
//! A message's words are its text blocks; `text` beside them holds placeholders for everything else. Where messages tell
//! what they follow, and fork, only the branch that was current is read.

use std::collections::{HashMap, HashSet};

use memoir_core::DraftMessage;
use serde::{Deserialize, de::IgnoredAny};

use crate::{
    ImportError, ImportedConversation, ImportedHistory, UNKNOWN_MODEL,
    blocks::{Body, ContentPiece},
    branch,
    builder::{
        BAD_MESSAGES, EMPTY, FILES, HistoryBuilder, LEFT, MessageClock, OTHER, THOUGHTS, TOOLS, choose_title,
        read_array,
    },
    drafts,
    json::Lenient,
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct ClaudeConversation {
    uuid: Lenient<String>,
    name: Lenient<String>,
    model: Lenient<String>,
    created_at: Lenient<String>,
    current_leaf_message_uuid: Lenient<String>,
    chat_messages: Lenient<Vec<Lenient<ClaudeMessage>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ClaudeMessage {
    uuid: Lenient<String>,
    parent_message_uuid: Lenient<String>,
    sender: Lenient<String>,
    text: Lenient<String>,
    content: Lenient<Body>,
    created_at: Lenient<String>,
    /// Only counted.
    attachments: Lenient<Vec<IgnoredAny>>,
    files: Lenient<Vec<IgnoredAny>>,
}

/// Reads an export.
///
/// # Errors
///
/// Fails if the text is something else.
pub fn read_claude(text: &str) -> Result<ImportedHistory, ImportError> {
    const NOT_THIS: ImportError = ImportError::NotThis("the conversations.json of a Claude data export");
    read_array(text, &|conversation: &ClaudeConversation, history| {
        Some(build_conversation(
            conversation,
            conversation.uuid.text()?,
            conversation.chat_messages.0.as_ref()?,
            history,
        ))
    })
    .ok_or(NOT_THIS)
}

fn build_conversation(
    conversation: &ClaudeConversation,
    uuid: &str,
    all: &[Lenient<ClaudeMessage>],
    history: &mut HistoryBuilder,
) -> ImportedConversation {
    let readable: Vec<&ClaudeMessage> = all.iter().filter_map(|message| message.0.as_ref()).collect();
    history.skip_many(BAD_MESSAGES, all.len() - readable.len());
    let current = current_branch(conversation, &readable);
    history.skip_many(LEFT, readable.len() - current.len());
    let times = current.iter().map(|message| message.created_at.moment());
    let mut clock = MessageClock::starting([conversation.created_at.moment()].into_iter().chain(times));
    let mut messages: Vec<DraftMessage> = Vec::new();
    for message in current {
        let created = clock.advance(message.created_at.moment());
        let Some(text) = extract_text(message, history) else { continue };
        match message.sender.text() {
            Some("human") => messages.push(drafts::user(created, text)),
            Some("assistant") => messages.push(drafts::assistant(created, text)),
            _ => history.skip(OTHER),
        }
    }
    ImportedConversation {
        title: choose_title(conversation.name.text(), &messages),
        origin: format!("claude/{uuid}"),
        name: String::new(),
        scope: "claude".into(),
        model: conversation.model.text().unwrap_or(UNKNOWN_MODEL).into(),
        messages,
    }
}

/// The messages up to the one that was current, where two of them follow the same one; all, otherwise.
fn current_branch<'a>(
    conversation: &ClaudeConversation,
    messages: &[&'a ClaudeMessage],
) -> Vec<&'a ClaudeMessage> {
    let mut followed = HashSet::new();
    let forks = !messages
        .iter()
        .filter_map(|message| message.parent_message_uuid.text())
        .all(|id| followed.insert(id));
    let by_id: HashMap<&str, &ClaudeMessage> =
        messages.iter().filter_map(|message| Some((message.uuid.text()?, *message))).collect();
    let current = conversation.current_leaf_message_uuid.text().and_then(|id| by_id.get(id).copied());
    let leaf = current.or(messages.last().copied()).and_then(|message| message.uuid.text());
    match leaf.filter(|_| forks) {
        Some(leaf) => {
            let parent_of =
                |id: &'a str| by_id.get(id)?.parent_message_uuid.text().filter(|id| by_id.contains_key(id));
            branch::to_leaf(leaf, parent_of).into_iter().filter_map(|id| by_id.get(id).copied()).collect()
        }
        None => messages.to_vec(),
    }
}

/// What a message says, if it says something.
fn extract_text(message: &ClaudeMessage, history: &mut HistoryBuilder) -> Option<String> {
    let count = |files: &Lenient<Vec<_>>| files.0.as_ref().map_or(0, Vec::len);
    let files = count(&message.attachments) + count(&message.files);
    history.skip_many(FILES, files);
    let pieces =
        message.content.0.as_ref().map(|body| body.pieces(|kind| kind == "text")).unwrap_or_default();
    let (mut texts, mut left_out) = (Vec::new(), 0);
    for piece in pieces {
        let kind = match piece {
            ContentPiece::Text(text) => {
                texts.push(text);
                continue;
            }
            ContentPiece::Other("thinking" | "redacted_thinking") => THOUGHTS,
            ContentPiece::Other("tool_use" | "tool_result") => TOOLS,
            ContentPiece::Other("image" | "document" | "file") => FILES,
            ContentPiece::Other(_) => OTHER,
        };
        history.skip(kind);
        left_out += 1;
    }
    texts.retain(|text| !text.is_empty());
    // What was left out stands in `text` as a sentence of the program's.
    if texts.is_empty() && left_out == 0 {
        texts.extend(message.text.text().map(str::trim).filter(|text| !text.is_empty()));
    }
    history.skip_many(EMPTY, usize::from(texts.is_empty() && left_out + files == 0));
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    #[test]
    fn messages_that_fork_are_read_up_to_the_current_one() {
        let message = |id: &str, parent: &str, sender: &str| {
            format!(
                r#"{{"uuid": "{id}", "parent_message_uuid": "{parent}", "sender": "{sender}", "text": "{id}"}}"#
            )
        };
        let export = |leaf: &str| {
            let messages = [
                message("a", "0", "human"),
                message("b", "a", "assistant"),
                message("c", "a", "assistant"),
                message("d", "c", "human"),
            ];
            format!(
                r#"[{{"uuid": "1", {leaf} "created_at": "2024-05-01T10:00:00Z", "chat_messages": [{}]}}]"#,
                messages.join(",")
            )
        };
        let read = |leaf: &str| {
            let history = read_claude(&export(leaf)).unwrap();
            let texts: Vec<String> = history.conversations[0]
                .messages
                .iter()
                .map(|message| message.body.text().to_owned())
                .collect();
            (texts.concat(), history.skipped)
        };
        assert_eq!(read(""), ("acd".into(), vec![(LEFT, 1)]));
        assert_eq!(read(r#""current_leaf_message_uuid": "b","#), ("ab".into(), vec![(LEFT, 2)]));
    }

    #[test]
    fn other_files_are_refused() {
        for other in ["", "[]", "[1]", "{}", "[{\"id\": \"1\", \"mapping\": {}}]"] {
            assert!(matches!(read_claude(other), Err(ImportError::NotThis(_))), "{other:?}");
        }
    }
}
