//! A session of the Codex CLI: `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`.
//!
//! Each line is an envelope with a payload: what the session is (`session_meta`), which model answers (`turn_context`), what was
//! said and done (`response_item`), and what was shown of it (`event_msg`). The oldest files have no envelopes: first what the
//! session is, then the items themselves, without times.

use memoir_core::{DraftMessage, Role, Timestamp};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    ImportError, Talk, Thread, UNTOLD_MODEL,
    blocks::{Body, Piece},
    gathering::{
        BAD_LINES, BAD_MESSAGES, CONTEXT, Clock, EMPTY, FILES, Gathering, LEFT, OTHER, PROGRAM, SUB_AGENTS,
        SYSTEM, THOUGHTS, TOOLS, title,
    },
    json::{self, Lenient},
    said,
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
struct Line {
    #[serde(rename = "type")]
    kind: Lenient<String>,
    timestamp: Lenient<String>,
    payload: Lenient<Item>,
    record_type: Lenient<String>,
}

/// What an envelope holds, and what stands alone in the oldest files.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Item {
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
enum Entry {
    Session(Item),
    Turn(Item),
    Said(Item),
    Event(Item),
    /// The program's own.
    Other,
}

/// Reads a session.
pub fn codex(text: &str) -> Result<Talk, ImportError> {
    let mut gathering = Gathering::default();
    let mut session = Session::default();
    for line in json::lines(text) {
        match open(line) {
            Some((entry, told)) => session.take(entry, told, &mut gathering),
            None => gathering.skip(BAD_LINES),
        }
    }
    let Some(id) = session.id.take() else {
        return Err(ImportError::NotThis("a session of the Codex CLI"));
    };
    if session.is_sub_agent {
        gathering.skip_many(SUB_AGENTS, session.items.len().max(session.events.len()));
        return Ok(gathering.into_talk());
    }
    // What was said is told as events again; only those, where the items are missing.
    let messages = if session.items.is_empty() { session.events } else { session.items };
    gathering.keep(Thread {
        title: title(None, &messages),
        origin: format!("codex/{id}"),
        name: String::new(),
        scope: session.cwd.unwrap_or_else(|| "codex".into()),
        model: session.model.unwrap_or_else(|| UNTOLD_MODEL.into()),
        messages,
    });
    Ok(gathering.into_talk())
}

/// A line as what it is, and its time. Nothing, if it is none of a session's.
fn open(text: &str) -> Option<(Entry, Option<Timestamp>)> {
    let line: Line = serde_json::from_str(text).ok()?;
    let told = line.timestamp.moment();
    let kind = line.kind.text();
    let entry = match (kind, line.payload.0) {
        (Some("session_meta"), Some(item)) => Entry::Session(item),
        (Some("turn_context"), Some(item)) => Entry::Turn(item),
        (Some("response_item"), Some(item)) => Entry::Said(item),
        (Some("event_msg"), Some(item)) => Entry::Event(item),
        (Some(_), Some(_)) => Entry::Other,
        (None, None) if line.record_type.text().is_some() => Entry::Other,
        (None, None) => {
            let item: Item = serde_json::from_str(text).ok()?;
            item.id.text().and(told)?;
            Entry::Session(item)
        }
        (Some(_), None) => Entry::Said(serde_json::from_str(text).ok()?),
        (None, Some(_)) => return None,
    };
    Some((entry, told))
}

/// What is known of a session so far.
#[derive(Default)]
struct Session {
    id: Option<String>,
    cwd: Option<String>,
    model: Option<String>,
    is_sub_agent: bool,
    clock: Option<Clock>,
    items: Vec<DraftMessage>,
    events: Vec<DraftMessage>,
}

impl Session {
    fn take(&mut self, entry: Entry, told: Option<Timestamp>, gathering: &mut Gathering) {
        let created = self.clock.get_or_insert_with(|| Clock::starting([told])).at(told);
        match entry {
            // A session that goes on from another one repeats its lines, the first included.
            Entry::Session(_) if self.id.is_some() => gathering.skip(PROGRAM),
            Entry::Session(item) => self.begin(&item),
            Entry::Turn(item) => {
                self.cwd = self.cwd.take().or_else(|| item.cwd.text().map(str::to_owned));
                self.model = item.model.text().map(str::to_owned).or_else(|| self.model.take());
            }
            Entry::Said(item) => self.hear(&item, created, gathering),
            Entry::Event(item) => self.see(&item, created, gathering),
            Entry::Other => gathering.skip(PROGRAM),
        }
    }

    fn begin(&mut self, item: &Item) {
        self.id = item.id.text().map(str::to_owned);
        self.cwd = item.cwd.text().map(str::to_owned);
        self.is_sub_agent = item.source.0.as_ref().is_some_and(|source| source.get("subagent").is_some());
        if let (Some(clock), Some(began)) = (&mut self.clock, item.timestamp.moment()) {
            clock.at(Some(began));
        }
    }

    /// An item of the talk.
    fn hear(&mut self, item: &Item, created: Timestamp, gathering: &mut Gathering) {
        let role = match (item.kind.text(), item.role.text()) {
            (Some("message"), Some("user")) => Role::User,
            (Some("message"), Some("assistant")) => Role::Assistant,
            (Some("message"), Some("developer" | "system")) => return gathering.skip(SYSTEM),
            (Some("message"), _) => return gathering.skip(OTHER),
            (Some("reasoning"), _) => return gathering.skip(THOUGHTS),
            (Some(kind), _) if kind.ends_with("_call") || kind.ends_with("_output") => {
                return gathering.skip(TOOLS);
            }
            _ => return gathering.skip(PROGRAM),
        };
        let Some(text) = self.words(item, role, gathering) else { return };
        self.items.push(if role == Role::User {
            said::user(created, text)
        } else {
            said::assistant(created, text)
        });
    }

    /// What an item says, if someone says something.
    fn words(&mut self, item: &Item, role: Role, gathering: &mut Gathering) -> Option<String> {
        let Some(body) = &item.content.0 else {
            gathering.skip(BAD_MESSAGES);
            return None;
        };
        let mut texts = Vec::new();
        for piece in body.pieces(|kind| matches!(kind, "input_text" | "output_text" | "text")) {
            match piece {
                Piece::Text("") => gathering.skip(EMPTY),
                Piece::Text(text) if role == Role::User && is_context(text) => {
                    self.cwd = self.cwd.take().or_else(|| folder_in(text));
                    gathering.skip(CONTEXT);
                }
                Piece::Text(text) => texts.push(text),
                Piece::Other("input_image" | "input_audio" | "input_file") => gathering.skip(FILES),
                Piece::Other(_) => gathering.skip(OTHER),
            }
        }
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }

    /// Something that was shown.
    fn see(&mut self, item: &Item, created: Timestamp, gathering: &mut Gathering) {
        let text = item.message.text().map(str::trim).filter(|text| !text.is_empty());
        match (item.kind.text(), text) {
            (Some("user_message"), Some(text)) if is_context(text) => {}
            (Some("user_message"), Some(text)) => self.events.push(said::user(created, text)),
            (Some("agent_message"), Some(text)) => self.events.push(said::assistant(created, text)),
            (Some("thread_rolled_back"), _) => {
                let turns = item.num_turns.0.unwrap_or(0);
                take_back(&mut self.events, turns);
                gathering.skip_many(LEFT, take_back(&mut self.items, turns));
            }
            _ => gathering.skip(PROGRAM),
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

/// The working directory that the program told the model.
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

    fn texts(talk: &Talk) -> Vec<&str> {
        talk.threads.iter().flat_map(|thread| &thread.messages).map(|message| message.body.text()).collect()
    }

    #[test]
    fn events_are_read_where_items_are_missing() {
        let events = r#"{"timestamp":"2025-11-02T10:00:01Z","type":"event_msg","payload":{"type":"user_message","message":"hi"}}
            {"timestamp":"2025-11-02T10:00:02Z","type":"event_msg","payload":{"type":"agent_message","message":"hello"}}
            {"type":"event_msg","payload":{"type":"user_message","message":"no"}}
            {"type":"event_msg","payload":{"type":"thread_rolled_back","num_turns":1}}"#;
        let talk = codex(&format!("{META}\n{events}")).unwrap();
        assert_eq!(texts(&talk), ["hi", "hello"]);
    }

    #[test]
    fn the_sessions_of_sub_agents_are_left_out() {
        let meta =
            r#"{"type":"session_meta","payload":{"id":"2","source":{"subagent":{"thread_spawn":{}}}}}"#;
        let said = r#"{"type":"response_item","payload":{"type":"message","role":"user","content":"Look."}}"#;
        let talk = codex(&format!("{meta}\n{said}\n{META}")).unwrap();
        assert_eq!((talk.threads.len(), talk.skipped), (0, vec![(PROGRAM, 1), (SUB_AGENTS, 1)]));
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
            assert!(matches!(codex(other), Err(ImportError::NotThis(_))), "{other:?}");
        }
    }
}
