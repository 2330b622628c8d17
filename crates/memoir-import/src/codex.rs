//! A session of the Codex CLI: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`.
//!
//! Each line is an envelope with a payload: what the session is (`session_meta`), which model answers (`turn_context`), what was
//! said and done (`response_item`), and what was shown of it (`event_msg`). The oldest files have no envelopes: first what the
//! session is, then the items themselves, without times.

use memoir_core::{DraftMessage, Role, Timestamp};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    ImportError, ImportedConversation, ImportedHistory, UNKNOWN_MODEL,
    blocks::{Body, ContentPiece},
    builder::{
        BAD_LINES, BAD_MESSAGES, CONTEXT, EMPTY, FILES, HistoryBuilder, LEFT, MessageClock, OTHER, PROGRAM,
        SUB_AGENTS, SYSTEM, THOUGHTS, TOOLS, choose_title,
    },
    drafts,
    json::{self, Lenient},
};

/// How what the program says in the user's name begins.
const NOT_TYPED: [&str; 9] = [
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<INSTRUCTIONS>",
    "<skill>",
    "<user_shell_command>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<codex_internal_context",
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

/// What an envelope holds, and what stands alone in the oldest files.
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
    /// What an event tells.
    message: Lenient<String>,
    num_turns: Lenient<usize>,
}

/// A line, opened.
enum RolloutEntry {
    Session(RolloutItem),
    Turn(RolloutItem),
    Said(RolloutItem),
    Event(RolloutItem),
    /// The program's own.
    Other,
}

/// Reads a session.
///
/// # Errors
///
/// Fails if the text is something else.
pub fn read_codex(text: &str) -> Result<ImportedHistory, ImportError> {
    let mut history = HistoryBuilder::default();
    let mut session = RolloutSession::default();
    for line in json::lines(text) {
        match parse_line(line) {
            Some((entry, time)) => session.take(entry, time, &mut history),
            None => history.skip(BAD_LINES),
        }
    }
    let Some(id) = session.id.take() else {
        return Err(ImportError::NotThis("a session of the Codex CLI"));
    };
    if session.is_sub_agent {
        history.skip_many(SUB_AGENTS, session.items.len().max(session.events.len()));
        return Ok(history.finish());
    }
    // What was said is time as events again; only those, where the items are missing.
    let messages = if session.items.is_empty() { session.events } else { session.items };
    history.keep(ImportedConversation {
        title: choose_title(None, &messages),
        origin: format!("codex/{id}"),
        name: String::new(),
        scope: session.cwd.unwrap_or_else(|| "codex".into()),
        model: session.model.unwrap_or_else(|| UNKNOWN_MODEL.into()),
        messages,
    });
    Ok(history.finish())
}

/// A line as what it is, and its time. Nothing, if it is none of a session's.
fn parse_line(text: &str) -> Option<(RolloutEntry, Option<Timestamp>)> {
    let line: RolloutLine = serde_json::from_str(text).ok()?;
    let time = line.timestamp.moment();
    let kind = line.kind.text();
    let entry = match (kind, line.payload.0) {
        (Some("session_meta"), Some(item)) => RolloutEntry::Session(item),
        (Some("turn_context"), Some(item)) => RolloutEntry::Turn(item),
        (Some("response_item"), Some(item)) => RolloutEntry::Said(item),
        (Some("event_msg"), Some(item)) => RolloutEntry::Event(item),
        (Some(_), Some(_)) => RolloutEntry::Other,
        (None, None) if line.record_type.text().is_some() => RolloutEntry::Other,
        (None, None) => {
            let item: RolloutItem = serde_json::from_str(text).ok()?;
            item.id.text().and(time)?;
            RolloutEntry::Session(item)
        }
        (Some(_), None) => RolloutEntry::Said(serde_json::from_str(text).ok()?),
        (None, Some(_)) => return None,
    };
    Some((entry, time))
}

/// What is known of a session so far.
#[derive(Default)]
struct RolloutSession {
    id: Option<String>,
    cwd: Option<String>,
    model: Option<String>,
    is_sub_agent: bool,
    clock: Option<MessageClock>,
    items: Vec<DraftMessage>,
    events: Vec<DraftMessage>,
}

impl RolloutSession {
    fn take(&mut self, entry: RolloutEntry, time: Option<Timestamp>, history: &mut HistoryBuilder) {
        let created = self.clock.get_or_insert_with(|| MessageClock::starting([time])).advance(time);
        match entry {
            // A session that goes on from another one repeats its lines, the first included.
            RolloutEntry::Session(_) if self.id.is_some() => history.skip(PROGRAM),
            RolloutEntry::Session(item) => self.begin(&item),
            RolloutEntry::Turn(item) => {
                self.cwd = self.cwd.take().or_else(|| item.cwd.text().map(str::to_owned));
                self.model = item.model.text().map(str::to_owned).or_else(|| self.model.take());
            }
            RolloutEntry::Said(item) => self.add_item(&item, created, history),
            RolloutEntry::Event(item) => self.add_event(&item, created, history),
            RolloutEntry::Other => history.skip(PROGRAM),
        }
    }

    fn begin(&mut self, item: &RolloutItem) {
        self.id = item.id.text().map(str::to_owned);
        self.cwd = item.cwd.text().map(str::to_owned);
        self.is_sub_agent = item.source.0.as_ref().is_some_and(|source| source.get("subagent").is_some());
        if let (Some(clock), Some(began)) = (&mut self.clock, item.timestamp.moment()) {
            clock.advance(Some(began));
        }
    }

    /// An item of the history.
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

    /// What an item says, if someone says something.
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
                    self.cwd = self.cwd.take().or_else(|| folder_in(text));
                    history.skip(CONTEXT);
                }
                ContentPiece::Text(text) => texts.push(text),
                ContentPiece::Other("input_image" | "input_audio" | "input_file") => history.skip(FILES),
                ContentPiece::Other(_) => history.skip(OTHER),
            }
        }
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }

    /// Something that was shown.
    fn add_event(&mut self, item: &RolloutItem, created: Timestamp, history: &mut HistoryBuilder) {
        let text = item.message.text().map(str::trim).filter(|text| !text.is_empty());
        match (item.kind.text(), text) {
            (Some("user_message"), Some(text)) if is_context(text) => {}
            (Some("user_message"), Some(text)) => self.events.push(drafts::user(created, text)),
            (Some("agent_message"), Some(text)) => self.events.push(drafts::assistant(created, text)),
            (Some("thread_rolled_back"), _) => {
                let turns = item.num_turns.0.unwrap_or(0);
                take_back(&mut self.events, turns);
                history.skip_many(LEFT, take_back(&mut self.items, turns));
            }
            _ => history.skip(PROGRAM),
        }
    }
}

/// Takes back the last prompts with all that followed them. Says how many messages that were.
fn take_back(messages: &mut Vec<DraftMessage>, turns: usize) -> usize {
    let prompts = messages.iter().enumerate().rev().filter(|(_, message)| message.body.role() == Role::User);
    let end = prompts.take(turns).last().map_or(messages.len(), |(place, _)| place);
    messages.drain(end..).count()
}

fn is_context(text: &str) -> bool {
    NOT_TYPED.iter().any(|beginning| text.starts_with(beginning))
}

/// The working directory that the program time the model.
fn folder_in(context: &str) -> Option<String> {
    let (folder, _) = context.split_once("<cwd>")?.1.split_once("</cwd>")?;
    Some(folder.trim().to_owned()).filter(|folder| !folder.is_empty())
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
    fn events_are_read_where_items_are_missing() {
        let events = r#"{"timestamp":"2025-11-02T10:00:01Z","type":"event_msg","payload":{"type":"user_message","message":"hi"}}
            {"timestamp":"2025-11-02T10:00:02Z","type":"event_msg","payload":{"type":"agent_message","message":"hello"}}
            {"type":"event_msg","payload":{"type":"user_message","message":"no"}}
            {"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}"#;
        let history = read_codex(&format!("{META}\n{events}")).unwrap();
        assert_eq!(texts(&history), ["hi", "hello"]);
    }

    #[test]
    fn the_sessions_of_sub_agents_are_left_out() {
        let meta =
            r#"{"type":"session_meta","payload":{"id":"2","source":{"subagent":{"thread_spawn":{}}}}}"#;
        let message =
            r#"{"type":"response_item","payload":{"type":"message","role":"user","content":"Look."}}"#;
        let history = read_codex(&format!("{meta}\n{message}\n{META}")).unwrap();
        assert_eq!((history.conversations.len(), history.skipped), (0, vec![(PROGRAM, 1), (SUB_AGENTS, 1)]));
    }

    #[test]
    fn other_files_are_refused() {
        for other in [
            "",
            "{}",
            "[]",
            "Hello",
            "{\"type\":\"user\",\"uuid\":\"1\",\"message\":{}}",
            "{\"kind\":\"memoir\"}",
        ] {
            assert!(matches!(read_codex(other), Err(ImportError::NotThis(_))), "{other:?}");
        }
    }
}
