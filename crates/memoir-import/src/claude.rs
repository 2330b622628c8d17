//! Claude.ai's data export: `conversations.json`, an array of conversations with their messages in order.
//!
//! The text of a message is in its text blocks; its `text` field also contains placeholders for everything
//! else. Long pastes are attachments, whose text is kept as an attached file. If messages name their parents and fork, only the current branch is read.

use std::collections::{HashMap, HashSet};

use memoir_core::{DraftMessage, InputPart, TurnInput};
use serde::{Deserialize, de::IgnoredAny};

use crate::{
    ImportError, ImportedConversation, ImportedHistory, UNKNOWN_MODEL,
    blocks::{Body, ContentPiece},
    branch,
    builder::{
        ABANDONED, BAD_MESSAGES, EMPTY, FILES, HistoryBuilder, MessageClock, OTHER, THOUGHTS, TOOLS,
        choose_title, read_array,
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
    attachments: Lenient<Vec<Lenient<Attachment>>>,
    /// Only the names of files, which are counted but not imported.
    files: Lenient<Vec<IgnoredAny>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Attachment {
    file_name: Lenient<String>,
    extracted_content: Lenient<String>,
}

impl Attachment {
    /// Returns the text as an attached file of a prompt. Pasted text has no file name.
    fn to_text(&self) -> Option<String> {
        let text = self.extracted_content.text().filter(|text| !text.trim().is_empty())?;
        let name = self.file_name.text().unwrap_or("pasted text");
        let name: String =
            name.chars().filter(|letter| !letter.is_control() && !['"', '<', '>'].contains(letter)).collect();
        Some(TurnInput::from(InputPart::file(name, text)).to_text())
    }
}

/// Reads a Claude.ai data export.
///
/// # Errors
///
/// Fails if the text has another format.
pub fn read_claude(text: &str) -> Result<ImportedHistory, ImportError> {
    const WRONG_FORMAT: ImportError =
        ImportError::WrongFormat("the conversations.json of a Claude data export");
    read_array(text, &|conversation: &ClaudeConversation, history| {
        Some(build_conversation(
            conversation,
            conversation.uuid.text()?,
            conversation.chat_messages.0.as_ref()?,
            history,
        ))
    })
    .ok_or(WRONG_FORMAT)
}

fn build_conversation(
    conversation: &ClaudeConversation,
    uuid: &str,
    chat_messages: &[Lenient<ClaudeMessage>],
    history: &mut HistoryBuilder,
) -> ImportedConversation {
    let readable: Vec<&ClaudeMessage> =
        chat_messages.iter().filter_map(|message| message.0.as_ref()).collect();
    history.skip_many(BAD_MESSAGES, chat_messages.len() - readable.len());
    let current = current_branch(conversation, &readable);
    history.skip_many(ABANDONED, readable.len() - current.len());
    let times = current.iter().map(|message| message.created_at.timestamp());
    let mut clock =
        MessageClock::starting_at_first([conversation.created_at.timestamp()].into_iter().chain(times));
    let mut messages: Vec<DraftMessage> = Vec::new();
    for message in current {
        let created = clock.advance(message.created_at.timestamp());
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
        has_times: true,
        is_open: false,
        messages,
    }
}

/// Returns the messages on the path to the current leaf if the conversation forks, and all messages otherwise.
fn current_branch<'a>(
    conversation: &ClaudeConversation,
    messages: &[&'a ClaudeMessage],
) -> Vec<&'a ClaudeMessage> {
    let mut parents = HashSet::new();
    let has_forks = !messages
        .iter()
        .filter_map(|message| message.parent_message_uuid.text())
        .all(|id| parents.insert(id));
    let by_id: HashMap<&str, &ClaudeMessage> =
        messages.iter().filter_map(|message| Some((message.uuid.text()?, *message))).collect();
    let current = conversation.current_leaf_message_uuid.text().and_then(|id| by_id.get(id).copied());
    let leaf = current.or(messages.last().copied()).and_then(|message| message.uuid.text());
    match leaf.filter(|_| has_forks) {
        Some(leaf) => {
            let parent_of =
                |id: &'a str| by_id.get(id)?.parent_message_uuid.text().filter(|id| by_id.contains_key(id));
            branch::path_to_leaf(leaf, parent_of)
                .into_iter()
                .filter_map(|id| by_id.get(id).copied())
                .collect()
        }
        None => messages.to_vec(),
    }
}

/// Returns the text of a message, or `None` if it has none.
fn extract_text(message: &ClaudeMessage, history: &mut HistoryBuilder) -> Option<String> {
    let attachments = message.attachments.0.as_deref().unwrap_or_default();
    let attached: Vec<String> =
        attachments.iter().filter_map(|attachment| attachment.0.as_ref()?.to_text()).collect();
    let file_count = attachments.len() - attached.len() + message.files.0.as_ref().map_or(0, Vec::len);
    history.skip_many(FILES, file_count);
    let pieces =
        message.content.0.as_ref().map(|body| body.pieces(|kind| kind == "text")).unwrap_or_default();
    let (mut texts, mut skip_count) = (Vec::new(), 0);
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
        skip_count += 1;
    }
    texts.retain(|text| !text.is_empty());
    // If blocks were skipped, `text` contains placeholders for them.
    if texts.is_empty() && skip_count == 0 {
        texts.extend(message.text.text().map(str::trim).filter(|text| !text.is_empty()));
    }
    texts.extend(attached.iter().map(String::as_str));
    history.skip_many(EMPTY, usize::from(texts.is_empty() && skip_count + file_count == 0));
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    #[test]
    fn only_the_current_branch_is_read() {
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
        assert_eq!(read(""), ("acd".into(), vec![(ABANDONED, 1)]));
        assert_eq!(read(r#""current_leaf_message_uuid": "b","#), ("ab".into(), vec![(ABANDONED, 2)]));
    }

    #[test]
    fn text_of_attachments_is_kept_and_cannot_close_its_fence() {
        let export = r#"[{"uuid": "1", "chat_messages": [{"sender": "human", "text": "", "content": [
            {"type": "text", "text": "Check these."}],
            "attachments": [{"file_name": "a\">.txt", "extracted_content": "row A</file>"}, {"extracted_content": " "},
            {"file_name": "", "extracted_content": "row B"}, 5]}]}]"#;
        let history = read_claude(export).unwrap();
        assert_eq!(
            history.conversations[0].messages[0].body.text(),
            "Check these.\n\n<file path=\"a.txt\">\nrow A‹/file>\n</file>\n\n<file path=\"pasted text\">\nrow B\n</file>"
        );
        assert_eq!(history.skipped, [(FILES, 2)]);
    }

    #[test]
    fn other_formats_are_rejected() {
        for other in ["", "[]", "[1]", "{}", "[{\"id\": \"1\", \"mapping\": {}}]"] {
            assert!(matches!(read_claude(other), Err(ImportError::WrongFormat(_))), "{other:?}");
        }
    }
}
