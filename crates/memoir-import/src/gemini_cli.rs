//! Gemini CLI sessions: `~/.gemini/tmp/<project>/chats/session-<time>-<id>.jsonl`.
//!
//! The first line has metadata. Each other line is a message, `{"$set": …}`, which changes metadata or replaces
//! the list of messages, or `{"$rewindTo": id}`. A message that changes is written again. Older versions write
//! one object, `session-<time>-<id>.json`, with the metadata and all messages.
//!
//! Only the user's prompts and the model's text are imported. The rest is skipped and counted.

mod message;
mod replacement;

use std::mem;

use memoir_core::{DraftMessage, Role, Timestamp};
use serde::Deserialize;

use self::{
    message::{RecordedMessage, SessionEntry},
    replacement::Replacement,
};
use crate::{
    ImportError, ImportedConversation, ImportedHistory, UNKNOWN_MODEL,
    builder::{
        BAD_LINES, BAD_MESSAGES, CONTEXT, HistoryBuilder, MessageClock, PROGRAM, SUB_AGENTS, choose_title,
    },
    drafts,
    json::{self, Lenient},
};

/// The fields that show what a line is.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RecordedLine {
    session_id: Lenient<String>,
    project_hash: Lenient<String>,
    /// Id of a message.
    id: Lenient<String>,
    #[serde(rename = "$set")]
    update: Lenient<SessionMetadata>,
    /// Id of the first message that the user has undone.
    #[serde(rename = "$rewindTo")]
    rewind_to: Lenient<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct SessionMetadata {
    session_id: Lenient<String>,
    start_time: Lenient<String>,
    kind: Lenient<String>,
    /// A title that a model has generated.
    summary: Lenient<String>,
    messages: Lenient<Vec<Lenient<RecordedMessage>>>,
}

/// Reads a Gemini CLI session. `project` is the directory of its project, which is in the file `.project_root`
/// next to the session's directory.
///
/// # Errors
///
/// Fails if the text has another format.
pub fn read_gemini_cli(text: &str, project: Option<&str>) -> Result<ImportedHistory, ImportError> {
    let mut history = HistoryBuilder::default();
    let mut session = RecordedSession::default();
    let text = json::strip_bom(text);
    // The object of an older version may span several lines.
    if serde_json::from_str::<RecordedLine>(text).is_ok() {
        session.add_line(text, &mut history);
    } else {
        for line in json::lines(text) {
            session.add_line(line, &mut history);
        }
    }
    let Some(id) = session.id.take() else {
        return Err(ImportError::WrongFormat("a Gemini CLI session"));
    };
    if session.is_sub_agent {
        let spoken = session.messages.iter().filter(|entry| entry.role.is_some());
        history.skip_many(SUB_AGENTS, spoken.count());
        return Ok(history.finish());
    }
    let is_open = session.is_open();
    let title = session.title.take();
    let SessionDrafts { messages, model } = session.into_drafts(&mut history);
    history.add(ImportedConversation {
        title: choose_title(title.as_deref(), &messages),
        origin: format!("gemini-cli/{id}"),
        name: String::new(),
        scope: project.map(str::trim).filter(|project| !project.is_empty()).unwrap_or("gemini-cli").into(),
        model: model.unwrap_or_else(|| UNKNOWN_MODEL.into()),
        has_times: true,
        is_open,
        messages,
    });
    Ok(history.finish())
}

#[derive(Default)]
struct RecordedSession {
    id: Option<String>,
    title: Option<String>,
    is_sub_agent: bool,
    /// `None` until a time is read.
    clock: Option<MessageClock>,
    /// The messages with which the program would resume.
    messages: Vec<SessionEntry>,
    /// Messages that the program no longer needs, but that the user has not undone.
    compressed: Vec<SessionEntry>,
}

/// The drafts of a session, and the last model that answered.
struct SessionDrafts {
    messages: Vec<DraftMessage>,
    model: Option<String>,
}

impl RecordedSession {
    /// Adds a line, or the object of an older version.
    fn add_line(&mut self, text: &str, history: &mut HistoryBuilder) {
        let Ok(line) = serde_json::from_str::<RecordedLine>(text) else { return history.skip(BAD_LINES) };
        if let Some(id) = line.rewind_to.text() {
            self.rewind(id, history);
        } else if line.id.text().is_some() {
            self.add_message(&Lenient(serde_json::from_str(text).ok()), history);
        } else if let Some(update) = line.update.0 {
            self.set_metadata(&update);
            if let Some(messages) = &update.messages.0 {
                self.replace_messages(messages, history);
            }
        } else if line.session_id.text().is_some() && line.project_hash.text().is_some() {
            let metadata: SessionMetadata = serde_json::from_str(text).unwrap_or_default();
            self.set_metadata(&metadata);
            for message in metadata.messages.0.iter().flatten() {
                self.add_message(message, history);
            }
        } else {
            history.skip(PROGRAM);
        }
    }

    fn set_metadata(&mut self, metadata: &SessionMetadata) {
        self.advance_clock(metadata.start_time.timestamp());
        self.is_sub_agent |= metadata.kind.text() == Some("subagent");
        self.id = metadata.session_id.text().map(str::to_owned).or(self.id.take());
        self.title = metadata.summary.text().map(str::to_owned).or(self.title.take());
    }

    fn advance_clock(&mut self, time: Option<Timestamp>) -> Timestamp {
        let mut clock = self.clock.unwrap_or_else(|| MessageClock::starting_at_first([time]));
        let now = clock.advance(time);
        if self.clock.is_some() || time.is_some() {
            self.clock = Some(clock);
        }
        now
    }

    /// Adds a message. It replaces an earlier message with the same id.
    fn add_message(&mut self, message: &Lenient<RecordedMessage>, history: &mut HistoryBuilder) {
        let Some(mut entry) = self.read_message(message) else { return history.skip(BAD_MESSAGES) };
        match self.messages.iter().rposition(|earlier| earlier.id == entry.id) {
            Some(index) => {
                entry.created = self.messages[index].created;
                self.messages[index] = entry;
            }
            None => self.messages.push(entry),
        }
    }

    /// Dates and reads a message. Returns `None` if it has no id or could not be read.
    fn read_message(&mut self, message: &Lenient<RecordedMessage>) -> Option<SessionEntry> {
        let message = message.0.as_ref()?;
        let id = message.id.text()?.to_owned();
        let created = self.advance_clock(message.timestamp.timestamp());
        Some(SessionEntry::read(message, id, created))
    }

    /// Removes a message and all later ones. If it is missing, its line may be damaged, so nothing is removed.
    fn rewind(&mut self, id: &str, history: &mut HistoryBuilder) {
        let Some(start) = self.messages.iter().position(|entry| entry.id == id) else {
            return history.skip(PROGRAM);
        };
        for entry in self.messages.drain(start..) {
            entry.discard(history);
        }
    }

    /// Replaces the list of messages, as the program does to undo a cancelled prompt, to compress the
    /// conversation, and to shorten the results of tools. Messages that the user has not undone are kept.
    fn replace_messages(&mut self, messages: &[Lenient<RecordedMessage>], history: &mut HistoryBuilder) {
        let entries: Vec<SessionEntry> =
            messages.iter().filter_map(|message| self.read_message(message)).collect();
        history.skip_many(BAD_MESSAGES, messages.len() - entries.len());
        let replacement = Replacement::new(mem::take(&mut self.messages), entries);
        self.messages = replacement.entries;
        self.compressed.extend(replacement.compressed);
        for entry in replacement.undone {
            entry.discard(history);
        }
    }

    /// Returns whether the model is still working on the last prompt.
    fn is_open(&self) -> bool {
        self.messages.iter().rev().find_map(|entry| entry.awaits_answer).unwrap_or(false)
    }

    /// Creates drafts of all messages that were not undone, and counts what is skipped.
    fn into_drafts(self, history: &mut HistoryBuilder) -> SessionDrafts {
        let is_in_order = self.compressed.is_empty();
        let mut entries = self.compressed;
        entries.extend(self.messages);
        if !is_in_order {
            entries.sort_by_key(|entry| entry.created);
        }
        let mut session = SessionDrafts { messages: Vec::new(), model: None };
        let mut last_prompt: Option<&SessionEntry> = None;
        for entry in &entries {
            entry.count_skipped(history);
            session.model = entry.model.clone().or(session.model.take());
            let Some(role) = entry.role.filter(|_| entry.has_text()) else { continue };
            if role != Role::User {
                session.messages.push(drafts::assistant(entry.created, entry.shown()));
            } else if last_prompt.is_some_and(|prompt| entry.continues(prompt)) {
                history.skip(CONTEXT);
            } else {
                session.messages.push(drafts::user(entry.created, entry.shown()));
                last_prompt = Some(entry);
            }
        }
        session
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;
    use crate::builder::{ABANDONED, SUMMARIES, THOUGHTS, TOOLS};

    const METADATA: &str =
        r#"{"sessionId":"s","projectHash":"0f","startTime":"2026-03-02T09:00:00Z","kind":"main"}"#;

    /// Creates the line of a message that was written some seconds after the start of the session.
    fn message(id: &str, second: u32, kind: &str, fields: &str) -> String {
        format!(r#"{{"id":"{id}","timestamp":"2026-03-02T09:00:{second:02}Z","type":"{kind}",{fields}}}"#)
    }

    fn prompt(id: &str, second: u32, text: &str) -> String {
        message(id, second, "user", &format!(r#""content":[{{"text":"{text}"}}]"#))
    }

    fn answer(id: &str, second: u32, text: &str) -> String {
        message(id, second, "gemini", &format!(r#""content":"{text}""#))
    }

    /// Creates a line that replaces the list of messages.
    fn replace(messages: &[&str]) -> String {
        format!(r#"{{"$set":{{"messages":[{}]}}}}"#, messages.join(","))
    }

    fn read(lines: &[&str]) -> ImportedHistory {
        read_gemini_cli(&format!("{METADATA}\n{}", lines.join("\n")), Some("/home/anna/lamp\n")).unwrap()
    }

    fn texts(history: &ImportedHistory) -> Vec<&str> {
        let messages = history.conversations.iter().flat_map(|conversation| &conversation.messages);
        messages.map(|message| message.body.text()).collect()
    }

    #[test]
    fn messages_are_replaced_and_undone_by_their_ids() {
        let lines = [
            prompt("1", 1, "one"),
            answer("2", 2, ""),
            answer("2", 2, "first"),
            prompt("3", 3, "two"),
            answer("4", 4, "second"),
            r#"{"$rewindTo":"3"}"#.to_owned(),
            r#"{"$rewindTo":"missing"}"#.to_owned(),
            r#"{"$set":{"summary":"Numbers"}}"#.to_owned(),
            r#"{"id":"5","timestamp":"#.to_owned(),
            prompt("6", 6, "three"),
        ];
        let history = read(&lines.each_ref().map(String::as_str));
        assert_eq!(texts(&history), ["one", "first", "three"]);
        assert_eq!(history.skipped, [(BAD_LINES, 1), (PROGRAM, 1), (ABANDONED, 2)]);
        let conversation = &history.conversations[0];
        assert_eq!(
            [&conversation.title, &conversation.origin, &conversation.scope, &conversation.model],
            ["Numbers", "gemini-cli/s", "/home/anna/lamp", UNKNOWN_MODEL]
        );
    }

    #[test]
    fn cancelled_prompts_are_skipped() {
        let (one, first) = (prompt("1", 1, "one"), answer("2", 2, "first"));
        let (yes, again) = (prompt("3", 3, "yes"), prompt("4", 4, "yes"));
        let history = read(&[&one, &first, &yes, &again, &replace(&[&one, &first, &yes])]);
        assert_eq!(texts(&history), ["one", "first", "yes"]);
        assert_eq!(history.skipped, [(ABANDONED, 1)]);
        assert!(read(&[&one, &replace(&[])]).conversations.is_empty());
    }

    #[test]
    fn copies_under_new_ids_are_not_repeated() {
        let (one, first, two) = (prompt("1", 1, "one"), answer("2", 2, "first"), prompt("3", 3, "two"));
        let (one_copy, first_copy) = (prompt("4", 9, "one"), answer("5", 9, "first"));
        let replacement = replace(&[&one_copy, &first_copy]);
        let copied = [&one, &first, &two, &one_copy, &first_copy, &replacement];
        let mut lines = copied.map(String::as_str).to_vec();
        let history = read(&lines);
        assert_eq!(texts(&history), ["one", "first"]);
        assert_eq!(history.skipped, [(ABANDONED, 1)]);
        assert_eq!(history.conversations[0].messages[1].created.to_string(), "2026-03-02T09:00:02.000Z");
        lines.push(&replacement);
        assert_eq!(read(&lines), history);
    }

    #[test]
    fn compressed_messages_are_kept() {
        let (one, first, two) = (prompt("1", 1, "one"), answer("2", 2, "first"), prompt("3", 3, "two"));
        let summary = prompt("4", 5, "<scratchpad></scratchpad><state_snapshot>1</state_snapshot>");
        let summary_answer = answer("5", 5, "Got it. Thanks for the additional context!");
        let all = read(&[&one, &first, &two, &replace(&[&summary, &summary_answer])]);
        assert_eq!(texts(&all), ["one", "first", "two"]);
        assert_eq!(all.skipped, [(CONTEXT, 1), (SUMMARIES, 1)]);
        let (two_copy, second) = (prompt("6", 5, "two"), answer("7", 6, "second"));
        let replacement = replace(&[&summary, &summary_answer, &two_copy]);
        let rest = read(&[&one, &first, &two, &replacement, &second]);
        assert_eq!(texts(&rest), ["one", "first", "two", "second"]);
        let undone = read(&[&one, &first, &two, &replacement, &second, r#"{"$rewindTo":"6"}"#]);
        assert_eq!(texts(&undone), ["one", "first"]);
    }

    #[test]
    fn messages_that_make_the_model_continue_are_skipped() {
        let command = |id: &str, text: &str| {
            message(id, 1, "user", &format!(r#""content":"{text}","displayContent":[{{"text":"/review"}}]"#))
        };
        let history = read(&[
            &command("1", "Review all files."),
            &command("2", "The tests fail."),
            &command("3", "Please continue."),
            &command("4", "Review all files."),
        ]);
        assert_eq!(texts(&history), ["/review", "/review"]);
        assert_eq!(history.skipped, [(CONTEXT, 2)]);
    }

    #[test]
    fn a_session_is_open_until_the_model_has_answered() {
        let call = |status: &str| {
            let calls = format!(r#""content":"I look.","toolCalls":[{{"status":"{status}"}}]"#);
            message("2", 2, "gemini", &calls)
        };
        let (question, reply, thought) = (prompt("1", 1, "one"), answer("3", 3, "first"), answer("2", 2, ""));
        let (call, cancelled_call) = (call("success"), call("cancelled"));
        let result = message("3", 3, "user", r#""content":[{"functionResponse":{"id":"1"}}]"#);
        let notice = message("4", 4, "info", r#""content":"Update available""#);
        let is_open = |lines: &[&str]| read(lines).conversations[0].is_open;
        assert!(is_open(&[&question]));
        assert!(is_open(&[&question, &notice]));
        assert!(is_open(&[&question, &thought]));
        assert!(is_open(&[&question, &call]));
        assert!(is_open(&[&question, &call, &result]));
        assert!(!is_open(&[&question, &cancelled_call]));
        assert!(!is_open(&[&question, &reply]));
        assert!(!is_open(&[&question, &reply, &notice]));
    }

    #[test]
    fn sessions_of_older_versions_are_read() {
        let text = r#"{
            "sessionId": "old",
            "projectHash": "0f",
            "startTime": "2025-10-18T14:57:00.000Z",
            "messages": [
                {"id": "1", "type": "user", "content": "List the lamps"},
                {"id": "2", "timestamp": "2025-10-18T14:57:30.000Z", "type": "gemini", "content": "I look.",
                 "thoughts": [{"subject": "Hm"}], "toolCalls": [{"status": "success", "result": [{"a": 1}]}],
                 "model": "gemini-2.5-pro"},
                {"id": "3", "type": "gemini", "content": [{"text": "Two "}, {"text": "lamps."}], "tokens": null},
                {"id": "4", "type": "error", "content": "Quota exceeded"}, 7, {"type": "user"}
            ]
        }"#;
        let history = read_gemini_cli(text, None).unwrap();
        assert_eq!(texts(&history), ["List the lamps", "I look.", "Two lamps."]);
        assert_eq!(history.skipped, [(PROGRAM, 1), (BAD_MESSAGES, 2), (THOUGHTS, 1), (TOOLS, 1)]);
        let conversation = &history.conversations[0];
        assert_eq!(
            [&conversation.origin, &conversation.scope, &conversation.model],
            ["gemini-cli/old", "gemini-cli", "gemini-2.5-pro"]
        );
        let times = conversation.messages.iter().map(|message| message.created.to_string());
        assert_eq!(
            times.collect::<Vec<_>>(),
            ["2025-10-18T14:57:00.000Z", "2025-10-18T14:57:30.000Z", "2025-10-18T14:57:30.000Z"]
        );
    }

    #[test]
    fn sub_agent_sessions_are_skipped() {
        let metadata = METADATA.replace("main", "subagent");
        let text =
            format!("{metadata}\n{}\n{}", prompt("1", 1, "Search"), message("2", 2, "info", r#""a":1"#));
        let history = read_gemini_cli(&text, None).unwrap();
        assert_eq!((history.conversations.len(), history.skipped), (0, vec![(SUB_AGENTS, 1)]));
    }

    #[test]
    fn other_formats_are_rejected() {
        for other in [
            "",
            "[]",
            "{}",
            "no JSON",
            "{\"sessionId\": \"1\", \"timeline\": []}",
            "{\"type\": \"user\", \"uuid\": \"1\", \"sessionId\": \"1\", \"message\": {}}",
            "{\"id\": \"1\", \"timestamp\": \"2025-05-07T17:24:21Z\"}",
        ] {
            assert!(matches!(read_gemini_cli(other, None), Err(ImportError::WrongFormat(_))), "{other:?}");
        }
    }
}
