//! Codex CLI sessions: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`.
//!
//! Each line is an envelope with a payload: session metadata (`session_meta`), the model (`turn_context`),
//! messages and tool calls (`response_item`), or events shown to the user (`event_msg`). The oldest files
//! have no envelopes: the metadata comes first, then the items, without times.

use memoir_core::{DraftMessage, Role, Timestamp};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    ImportError, ImportedConversation, ImportedHistory, UNKNOWN_MODEL,
    blocks::{Body, ContentPiece},
    builder::{
        ABANDONED, BAD_LINES, BAD_MESSAGES, CONTEXT, EMPTY, FILES, HistoryBuilder, MessageClock, OTHER,
        PROGRAM, SUB_AGENTS, SYSTEM, THOUGHTS, TOOLS, choose_title,
    },
    drafts,
    json::{self, Lenient},
};

/// Prefixes of text that the program adds with the user's role.
const NOT_TYPED: [&str; 10] = [
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<INSTRUCTIONS>",
    "<skill>",
    "<user_shell_command>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<codex_internal_context",
    "<hook_prompt",
];

#[derive(Default, Deserialize)]
#[serde(default)]
struct RolloutLine {
    #[serde(rename = "type")]
    kind: Lenient<String>,
    timestamp: Lenient<String>,
    payload: Lenient<RolloutItem>,
    record_type: Lenient<String>,
}

/// The payload of an envelope, or a whole line in the oldest files.
#[derive(Default, Deserialize)]
#[serde(default)]
struct RolloutItem {
    #[serde(rename = "type")]
    kind: Lenient<String>,
    role: Lenient<String>,
    content: Lenient<Body>,
    id: Lenient<String>,
    timestamp: Lenient<String>,
    cwd: Lenient<String>,
    model: Lenient<String>,
    source: Lenient<Value>,
    /// Text of an event.
    message: Lenient<String>,
    num_turns: Lenient<usize>,
}

enum RolloutEntry {
    Session(RolloutItem),
    Turn(RolloutItem),
    Response(RolloutItem),
    Event(RolloutItem),
    /// A record that only Codex itself needs.
    Other,
}

/// Reads a Codex CLI session.
///
/// # Errors
///
/// Fails if the text has another format.
pub fn read_codex(text: &str) -> Result<ImportedHistory, ImportError> {
    let mut history = HistoryBuilder::default();
    let mut session = RolloutSession::default();
    for line in json::lines(text) {
        match parse_line(line) {
            Some((entry, time)) => session.add(entry, time, &mut history),
            None => history.skip(BAD_LINES),
        }
    }
    let Some(id) = session.id.take() else {
        return Err(ImportError::WrongFormat("a Codex CLI session"));
    };
    if session.is_sub_agent {
        history.skip_many(SUB_AGENTS, session.items.len().max(session.events.len()));
        return Ok(history.finish());
    }
    // Events repeat the messages of the items, so they are used only if there are no items.
    let messages = if session.items.is_empty() { session.events } else { session.items };
    history.add(ImportedConversation {
        title: choose_title(None, &messages),
        origin: format!("codex/{id}"),
        name: String::new(),
        scope: session.cwd.unwrap_or_else(|| "codex".into()),
        model: session.model.unwrap_or_else(|| UNKNOWN_MODEL.into()),
        has_times: true,
        is_open: session.is_open,
        messages,
    });
    Ok(history.finish())
}

/// Parses a line and its time. Returns `None` if the line does not belong to a session.
fn parse_line(text: &str) -> Option<(RolloutEntry, Option<Timestamp>)> {
    let line: RolloutLine = serde_json::from_str(text).ok()?;
    let time = line.timestamp.timestamp();
    let kind = line.kind.text();
    let entry = match (kind, line.payload.0) {
        (Some("session_meta"), Some(item)) => RolloutEntry::Session(item),
        (Some("turn_context"), Some(item)) => RolloutEntry::Turn(item),
        (Some("response_item"), Some(item)) => RolloutEntry::Response(item),
        (Some("event_msg"), Some(item)) => RolloutEntry::Event(item),
        (Some(_), Some(_)) => RolloutEntry::Other,
        (None, None) if line.record_type.text().is_some() => RolloutEntry::Other,
        (None, None) => {
            let item: RolloutItem = serde_json::from_str(text).ok()?;
            item.id.text().and(time)?;
            RolloutEntry::Session(item)
        }
        (Some(_), None) => RolloutEntry::Response(serde_json::from_str(text).ok()?),
        (None, Some(_)) => return None,
    };
    Some((entry, time))
}

#[derive(Default)]
struct RolloutSession {
    id: Option<String>,
    cwd: Option<String>,
    model: Option<String>,
    is_sub_agent: bool,
    /// Whether a turn has started and not ended.
    is_open: bool,
    clock: Option<MessageClock>,
    items: Vec<DraftMessage>,
    events: Vec<DraftMessage>,
}

impl RolloutSession {
    fn add(&mut self, entry: RolloutEntry, time: Option<Timestamp>, history: &mut HistoryBuilder) {
        let created = self.clock.get_or_insert_with(|| MessageClock::starting_at_first([time])).advance(time);
        match entry {
            // A session that resumes another one repeats all its lines, including the metadata.
            RolloutEntry::Session(_) if self.id.is_some() => history.skip(PROGRAM),
            RolloutEntry::Session(item) => self.set_metadata(&item),
            RolloutEntry::Turn(item) => {
                self.cwd = self.cwd.take().or_else(|| item.cwd.text().map(str::to_owned));
                self.model = item.model.text().map(str::to_owned).or_else(|| self.model.take());
            }
            RolloutEntry::Response(item) => self.add_item(&item, created, history),
            RolloutEntry::Event(item) => self.add_event(&item, created, history),
            RolloutEntry::Other => history.skip(PROGRAM),
        }
    }

    fn set_metadata(&mut self, item: &RolloutItem) {
        self.id = item.id.text().map(str::to_owned);
        self.cwd = item.cwd.text().map(str::to_owned);
        self.is_sub_agent = item.source.0.as_ref().is_some_and(|source| source.get("subagent").is_some());
        if let (Some(clock), Some(started)) = (&mut self.clock, item.timestamp.timestamp()) {
            clock.advance(Some(started));
        }
    }

    fn add_item(&mut self, item: &RolloutItem, created: Timestamp, history: &mut HistoryBuilder) {
        let role = match (item.kind.text(), item.role.text()) {
            (Some("message"), Some("user")) => Role::User,
            (Some("message"), Some("assistant")) => Role::Assistant,
            (Some("message"), Some("developer" | "system")) => return history.skip(SYSTEM),
            (Some("message"), _) => return history.skip(OTHER),
            (Some("reasoning"), _) => return history.skip(THOUGHTS),
            (Some(kind), _) if kind.ends_with("_call") || kind.ends_with("_output") => {
                return history.skip(TOOLS);
            }
            _ => return history.skip(PROGRAM),
        };
        let Some(text) = self.extract_text(item, role, history) else { return };
        self.items.push(if role == Role::User {
            drafts::user(created, text)
        } else {
            drafts::assistant(created, text)
        });
    }

    /// Returns the text that the user or the model wrote, or `None` if there is none.
    fn extract_text(
        &mut self,
        item: &RolloutItem,
        role: Role,
        history: &mut HistoryBuilder,
    ) -> Option<String> {
        let Some(body) = &item.content.0 else {
            history.skip(BAD_MESSAGES);
            return None;
        };
        let mut texts = Vec::new();
        for piece in body.pieces(|kind| matches!(kind, "input_text" | "output_text" | "text")) {
            match piece {
                ContentPiece::Text("") => history.skip(EMPTY),
                ContentPiece::Text(text) if role == Role::User && is_context(text) => {
                    self.cwd = self.cwd.take().or_else(|| find_cwd(text));
                    history.skip(CONTEXT);
                }
                ContentPiece::Text(text) => texts.push(text),
                ContentPiece::Other("input_image" | "input_audio" | "input_file") => history.skip(FILES),
                ContentPiece::Other(_) => history.skip(OTHER),
            }
        }
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }

    fn add_event(&mut self, item: &RolloutItem, created: Timestamp, history: &mut HistoryBuilder) {
        let text = item.message.text().map(str::trim).filter(|text| !text.is_empty());
        match item.kind.text() {
            Some("task_started" | "turn_started") => self.is_open = true,
            Some("task_complete" | "turn_complete" | "turn_aborted") => self.is_open = false,
            _ => {}
        }
        match (item.kind.text(), text) {
            (Some("user_message"), Some(text)) if is_context(text) => {}
            (Some("user_message"), Some(text)) => self.events.push(drafts::user(created, text)),
            (Some("agent_message"), Some(text)) => self.events.push(drafts::assistant(created, text)),
            (Some("thread_rolled_back"), _) => {
                let turns = item.num_turns.0.unwrap_or(0);
                remove_last_turns(&mut self.events, turns);
                history.skip_many(ABANDONED, remove_last_turns(&mut self.items, turns));
            }
            _ => history.skip(PROGRAM),
        }
    }
}

/// Removes the last `turns` prompts and everything after them. Returns the number of messages removed.
fn remove_last_turns(messages: &mut Vec<DraftMessage>, turns: usize) -> usize {
    let prompts = messages.iter().enumerate().rev().filter(|(_, message)| message.body.role() == Role::User);
    let end = prompts.take(turns).last().map_or(messages.len(), |(index, _)| index);
    messages.drain(end..).count()
}

fn is_context(text: &str) -> bool {
    NOT_TYPED.iter().any(|prefix| text.starts_with(prefix))
}

/// Returns the working directory named in the context that the program sent to the model.
fn find_cwd(context: &str) -> Option<String> {
    let (directory, _) = context.split_once("<cwd>")?.1.split_once("</cwd>")?;
    Some(directory.trim().to_owned()).filter(|directory| !directory.is_empty())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    const META: &str =
        r#"{"timestamp":"2025-11-02T10:00:00Z","type":"session_meta","payload":{"id":"1","cwd":"/x"}}"#;

    fn texts(history: &ImportedHistory) -> Vec<&str> {
        history
            .conversations
            .iter()
            .flat_map(|conversation| &conversation.messages)
            .map(|message| message.body.text())
            .collect()
    }

    #[test]
    fn events_are_read_if_items_are_missing() {
        let events = r#"{"timestamp":"2025-11-02T10:00:01Z","type":"event_msg","payload":{"type":"user_message","message":"hi"}}
            {"timestamp":"2025-11-02T10:00:02Z","type":"event_msg","payload":{"type":"agent_message","message":"hello"}}
            {"type":"event_msg","payload":{"type":"user_message","message":"no"}}
            {"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}"#;
        let history = read_codex(&format!("{META}\n{events}")).unwrap();
        assert_eq!(texts(&history), ["hi", "hello"]);
    }

    #[test]
    fn sub_agent_sessions_are_skipped() {
        let meta =
            r#"{"type":"session_meta","payload":{"id":"2","source":{"subagent":{"thread_spawn":{}}}}}"#;
        let message =
            r#"{"type":"response_item","payload":{"type":"message","role":"user","content":"Look."}}"#;
        let history = read_codex(&format!("{meta}\n{message}\n{META}")).unwrap();
        assert_eq!((history.conversations.len(), history.skipped), (0, vec![(PROGRAM, 1), (SUB_AGENTS, 1)]));
    }

    #[test]
    fn other_formats_are_rejected() {
        for other in [
            "",
            "{}",
            "[]",
            "Hello",
            "{\"type\":\"user\",\"uuid\":\"1\",\"message\":{}}",
            "{\"kind\":\"memoir\"}",
        ] {
            assert!(matches!(read_codex(other), Err(ImportError::WrongFormat(_))), "{other:?}");
        }
    }
}
