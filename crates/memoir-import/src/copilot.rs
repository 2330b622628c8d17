//! Copilot CLI's sessions: an event log (`events.jsonl`, or `<id>.jsonl` in older versions) with an optional
//! `workspace.yaml` next to it, or one JSON object with a timeline in the oldest versions.

use std::collections::HashMap;

use memoir_core::{DraftMessage, Timestamp};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    ImportError, ImportedConversation, ImportedHistory, UNKNOWN_MODEL,
    builder::{
        ABANDONED, BAD_LINES, CONTEXT, EMPTY, FILES, HistoryBuilder, MessageClock, PROGRAM, SUB_AGENTS,
        SYSTEM, THOUGHTS, TOOLS, choose_title,
    },
    drafts,
    json::{self, Lenient},
    yaml,
};

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Event {
    r#type: Lenient<String>,
    data: Lenient<Value>,
    id: Lenient<String>,
    timestamp: Lenient<String>,
    agent_id: Lenient<String>,
}

impl Event {
    fn text(&self, field: &str) -> Option<&str> {
        text_field(self.data.0.as_ref()?, field)
    }

    fn has(&self, field: &str) -> bool {
        self.data.0.as_ref().and_then(|data| data.get(field)).is_some_and(|value| !value.is_null())
    }

    fn is_from_sub_agent(&self) -> bool {
        self.agent_id.text().is_some() || self.has("parentToolCallId")
    }
}

fn text_field<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field)?.as_str().filter(|text| !text.trim().is_empty())
}

#[derive(Default)]
struct Session {
    id: Option<String>,
    title: Option<String>,
    directory: Option<String>,
    model: Option<String>,
    messages: Vec<DraftMessage>,
    /// Number of messages before each event, to which a rewind returns.
    positions: HashMap<String, usize>,
    /// Id of the answer that the last message belongs to. Long answers are split over several events.
    last_answer: Option<String>,
}

/// Reads a Copilot CLI session. `workspace` is the text of the `workspace.yaml` next to it, which has the title.
///
/// # Errors
///
/// Fails if the text has another format.
pub fn read_copilot(text: &str, workspace: Option<&str>) -> Result<ImportedHistory, ImportError> {
    let mut history = HistoryBuilder::default();
    let mut session = Session::default();
    let old_session = serde_json::from_str::<Value>(json::strip_bom(text)).ok();
    match old_session.filter(|value| value.get("timeline").is_some() || value.get("chatMessages").is_some()) {
        Some(old_session) => session.add_old_session(&old_session, &mut history),
        None => session.add_log(text, &mut history),
    }
    let workspace = workspace.and_then(yaml::to_json).unwrap_or_default();
    let title = text_field(&workspace, "name").or_else(|| text_field(&workspace, "summary"));
    let directory = text_field(&workspace, "cwd").map(str::to_owned);
    let Some(id) = session.id else { return Err(ImportError::WrongFormat("a Copilot CLI session")) };
    history.add(ImportedConversation {
        title: choose_title(session.title.as_deref().or(title), &session.messages),
        origin: format!("copilot/{id}"),
        name: String::new(),
        scope: session.directory.or(directory).unwrap_or_else(|| "copilot".into()),
        model: session.model.unwrap_or_else(|| UNKNOWN_MODEL.into()),
        has_times: true,
        is_open: false,
        messages: session.messages,
    });
    Ok(history.finish())
}

impl Session {
    fn add_log(&mut self, text: &str, history: &mut HistoryBuilder) {
        let lines: Vec<Option<Event>> =
            json::lines(text).map(|line| serde_json::from_str(line).ok()).collect();
        let mut clock = MessageClock::starting_at_first(
            lines.iter().map(|event| event.as_ref().and_then(|event| event.timestamp.timestamp())),
        );
        for event in &lines {
            let Some(event) = event else {
                history.skip(BAD_LINES);
                continue;
            };
            let created = clock.advance(event.timestamp.timestamp());
            if let Some(id) = event.id.text() {
                self.positions.insert(id.to_owned(), self.messages.len());
            }
            self.add_event(event, created, history);
        }
    }

    fn add_event(&mut self, event: &Event, created: Timestamp, history: &mut HistoryBuilder) {
        match event.r#type.text().unwrap_or_default() {
            "session.start" | "session.resume" | "session.context_changed" => self.add_context(event),
            "session.model_change" => self.model = event.text("newModel").map(str::to_owned),
            "session.title_changed" => self.title = event.text("title").map(str::to_owned),
            "session.import_legacy" => {
                if let Some(old_session) = event.data.0.as_ref().and_then(|data| data.get("legacySession")) {
                    self.add_old_session(old_session, history);
                }
            }
            "session.snapshot_rewind" => self.rewind(event, history),
            "user.message" => self.add_prompt(event, created, history),
            "assistant.message" => self.add_answer(event, created, history),
            "assistant.reasoning" => history.skip(THOUGHTS),
            "tool.execution_complete" => history.skip(TOOLS),
            "system.message" => history.skip(SYSTEM),
            _ => history.skip(PROGRAM),
        }
    }

    fn add_context(&mut self, event: &Event) {
        let Some(data) = &event.data.0 else { return };
        let context = data.get("context").unwrap_or(data);
        if let Some(id) = text_field(data, "sessionId") {
            self.id.get_or_insert_with(|| id.to_owned());
        }
        if let Some(directory) = text_field(context, "cwd") {
            self.directory = Some(directory.to_owned());
        }
        if let Some(model) = text_field(data, "selectedModel") {
            self.model = Some(model.to_owned());
        }
    }

    /// Removes the messages from an event on, which the user has undone.
    fn rewind(&mut self, event: &Event, history: &mut HistoryBuilder) {
        let position = event.text("upToEventId").and_then(|id| self.positions.get(id));
        if let Some(position) = position {
            history.skip_many(ABANDONED, self.messages.len().saturating_sub(*position));
            self.messages.truncate(*position);
        }
    }

    fn add_prompt(&mut self, event: &Event, created: Timestamp, history: &mut HistoryBuilder) {
        if event.is_from_sub_agent() {
            return history.skip(SUB_AGENTS);
        }
        let is_continuation = event.data.0.as_ref().and_then(|data| data.get("isAutopilotContinuation"))
            == Some(&Value::Bool(true));
        if event.has("source") || is_continuation {
            return history.skip(CONTEXT);
        }
        let attachments = event.data.0.as_ref().and_then(|data| data.get("attachments")?.as_array());
        history.skip_many(FILES, attachments.map_or(0, Vec::len));
        match event.text("content") {
            Some(text) => self.messages.push(drafts::user(created, text.trim())),
            None => history.skip(EMPTY),
        }
        self.last_answer = None;
    }

    fn add_answer(&mut self, event: &Event, created: Timestamp, history: &mut HistoryBuilder) {
        if event.is_from_sub_agent() {
            return history.skip(SUB_AGENTS);
        }
        history.skip_many(THOUGHTS, usize::from(event.text("reasoningText").is_some()));
        let requests = event.data.0.as_ref().and_then(|data| data.get("toolRequests")?.as_array());
        let request_count = requests.map_or(0, Vec::len);
        history.skip_many(TOOLS, request_count);
        if let Some(model) = event.text("model") {
            self.model = Some(model.to_owned());
        }
        let Some(text) = event.text("content") else {
            return history.skip_many(EMPTY, usize::from(request_count == 0));
        };
        let id = event.text("messageId").map(str::to_owned);
        let is_next_part = id.is_some() && id == self.last_answer && event.has("chunkIndex");
        self.last_answer = id;
        match self.messages.pop() {
            Some(last) if is_next_part => {
                let text = format!("{}{text}", last.body.text());
                self.messages.push(drafts::assistant(last.created, text));
            }
            last => {
                self.messages.extend(last);
                self.messages.push(drafts::assistant(created, text));
            }
        }
    }

    /// Adds a session of the oldest versions. Its timeline has times and the prompts as they were typed; the
    /// messages sent to the model are used only if there is no timeline.
    fn add_old_session(&mut self, session: &Value, history: &mut HistoryBuilder) {
        if let Some(id) = text_field(session, "sessionId") {
            self.id.get_or_insert_with(|| id.to_owned());
        }
        self.model = text_field(session, "selectedModel").map(str::to_owned).or(self.model.take());
        let entries =
            |field: &str| session.get(field).and_then(Value::as_array).filter(|entries| !entries.is_empty());
        let time = |entry: &Value| text_field(entry, "timestamp").and_then(Timestamp::parse);
        let start = text_field(session, "startTime").and_then(Timestamp::parse);
        let timeline = entries("timeline").or_else(|| entries("chatMessages")).map_or(&[][..], Vec::as_slice);
        let mut clock = MessageClock::starting_at_first(timeline.iter().map(time).chain([start]));
        for entry in timeline {
            let created = clock.advance(time(entry));
            let kind = text_field(entry, "type").or_else(|| text_field(entry, "role")).unwrap_or_default();
            let text = text_field(entry, "text").or_else(|| text_field(entry, "content")).map(str::trim);
            match (kind, text) {
                ("user", Some(text)) => self.messages.push(drafts::user(created, strip_time(text))),
                ("copilot" | "assistant", Some(text)) => self.messages.push(drafts::assistant(created, text)),
                ("user" | "copilot" | "assistant", None) => history.skip(EMPTY),
                ("tool_call_completed" | "tool_call_requested" | "tool" | "function", _) => {
                    history.skip(TOOLS)
                }
                ("system" | "developer", _) => history.skip(SYSTEM),
                _ => history.skip(PROGRAM),
            }
        }
    }
}

/// Removes the time that Copilot CLI puts in front of a prompt.
fn strip_time(text: &str) -> &str {
    let rest =
        text.strip_prefix("<current_datetime>").and_then(|rest| rest.split_once("</current_datetime>"));
    match rest {
        Some((_, prompt)) if !prompt.trim().is_empty() => prompt.trim(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    fn event(kind: &str, id: &str, data: &str) -> String {
        format!(r#"{{"type": "{kind}", "id": "{id}", "timestamp": "2025-11-20T18:00:00Z", "data": {data}}}"#)
    }

    fn texts(history: &ImportedHistory) -> Vec<&str> {
        history.conversations[0].messages.iter().map(|message| message.body.text()).collect()
    }

    #[test]
    fn undone_messages_are_skipped_and_parts_of_an_answer_are_joined() {
        let log = [
            event("session.start", "0", r#"{"sessionId": "s"}"#),
            event("user.message", "1", r#"{"content": "one"}"#),
            event("assistant.message", "2", r#"{"messageId": "m", "content": "fir", "chunkIndex": 0}"#),
            event("assistant.message", "3", r#"{"messageId": "m", "content": "st", "chunkIndex": 1}"#),
            event("user.message", "4", r#"{"content": "two"}"#),
            event("assistant.message", "5", r#"{"content": "second"}"#),
            event("session.snapshot_rewind", "6", r#"{"upToEventId": "4"}"#),
            event("user.message", "7", r#"{"content": "remember this", "source": "system"}"#),
            event("user.message", "8", r#"{"content": "three"}"#),
        ];
        let history = read_copilot(&log.join("\n"), Some("name: Numbers\ncwd: /home/me\n")).unwrap();
        assert_eq!(texts(&history), ["one", "first", "three"]);
        assert_eq!(history.skipped, [(CONTEXT, 1), (ABANDONED, 2)]);
        let conversation = &history.conversations[0];
        assert_eq!((conversation.title.as_str(), conversation.scope.as_str()), ("Numbers", "/home/me"));
    }

    #[test]
    fn messages_to_the_model_replace_a_missing_timeline() {
        let text = r#"{"sessionId": "s", "startTime": "2025-10-02T07:15:00Z", "chatMessages": [
            {"role": "system", "content": "x"},
            {"role": "user", "content": "<current_datetime>2025</current_datetime>\n\nList the seeds"},
            {"role": "assistant", "content": null, "tool_calls": []},
            {"role": "assistant", "content": "Beans."}]}"#;
        let history = read_copilot(text, None).unwrap();
        assert_eq!(texts(&history), ["List the seeds", "Beans."]);
        assert_eq!(history.skipped, [(EMPTY, 1), (SYSTEM, 1)]);
    }

    #[test]
    fn other_formats_are_rejected() {
        for other in ["", "[]", "{}", "{\"type\": \"user\", \"sessionId\": \"1\"}", "no JSON"] {
            assert!(matches!(read_copilot(other, None), Err(ImportError::WrongFormat(_))), "{other:?}");
        }
    }
}
