//! A message of a session: what the user or the model wrote, and what the program added.

use std::slice;

use memoir_core::{Role, Timestamp};
use serde::{Deserialize, de::IgnoredAny};
use serde_json::Value;

use crate::{
    builder::{ABANDONED, CONTEXT, EMPTY, FILES, HistoryBuilder, OTHER, PROGRAM, SUMMARIES, THOUGHTS, TOOLS},
    json::Lenient,
};

/// Prefixes of text that the program adds with the user's role, each with the kind under which it is skipped.
const NOT_TYPED: [(&str, &str); 10] = [
    ("<session_context>", CONTEXT),
    ("This is the Gemini CLI. We are setting up the context", CONTEXT),
    ("- **Workspace Directories:**", CONTEXT),
    ("Here is the user's editor context", CONTEXT),
    ("Here is a summary of changes in the user's editor context", CONTEXT),
    ("User has manually exited Plan Mode.", CONTEXT),
    ("System: Potential loop detected.", CONTEXT),
    ("System: Please continue.", CONTEXT),
    ("<intent_summary>", SUMMARIES),
    ("I ran the following shell command:\n```", TOOLS),
];

/// The program sends this if the model stops before it has finished.
const CONTINUE: &str = "Please continue.";

/// End of the summary to which the program compresses a conversation. The model's notes may precede the summary.
const SUMMARY_END: &str = "</state_snapshot>";

/// The answer to a summary. The program writes it, not the model.
const SUMMARY_ANSWER: &str = "Got it. Thanks for the additional context!";

/// Lines around the content of the files that a prompt names.
const FILES_START: &str = "--- Content from referenced files ---";
const FILES_END: &str = "--- End of content ---";

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct RecordedMessage {
    pub(super) id: Lenient<String>,
    pub(super) timestamp: Lenient<String>,
    r#type: Lenient<String>,
    /// What was sent to the model, or its answer: a string, or parts of several kinds.
    content: Lenient<Value>,
    /// What the user saw, if it differs from the content.
    display_content: Lenient<Value>,
    model: Lenient<String>,
    thoughts: Lenient<Vec<IgnoredAny>>,
    tool_calls: Lenient<Vec<Lenient<RecordedCall>>>,
}

/// A tool call. It is recorded when it has ended.
#[derive(Default, Deserialize)]
#[serde(default)]
struct RecordedCall {
    status: Lenient<String>,
}

pub(super) struct SessionEntry {
    pub(super) id: String,
    pub(super) created: Timestamp,
    /// `None` for notices of the program.
    pub(super) role: Option<Role>,
    pub(super) model: Option<String>,
    /// Whether the program wrote the message as a summary of earlier ones.
    pub(super) is_summary: bool,
    /// Whether the model has yet to answer after this message. `None` if the message is not part of a turn.
    pub(super) awaits_answer: Option<bool>,
    /// What the user or the model wrote, as the model gets it. Copies of a message have the same text.
    text: String,
    /// What the user saw, if it differs from the text.
    display: Option<String>,
    /// Kinds of the skipped parts.
    skipped: Vec<&'static str>,
}

impl SessionEntry {
    pub(super) fn read(message: &RecordedMessage, id: String, created: Timestamp) -> Self {
        let mut entry = Self {
            id,
            created,
            role: None,
            model: message.model.text().map(str::to_owned),
            is_summary: false,
            awaits_answer: None,
            text: String::new(),
            display: None,
            skipped: Vec::new(),
        };
        match message.r#type.text() {
            Some("user") => entry.read_prompt(message),
            Some("gemini") => entry.read_answer(message),
            Some("info" | "warning" | "error") => entry.skipped.push(PROGRAM),
            _ => entry.skipped.push(OTHER),
        }
        entry
    }

    fn read_prompt(&mut self, message: &RecordedMessage) {
        self.role = Some(Role::User);
        let content = message.content.0.as_ref();
        if parts(content).iter().any(|part| has_field(part, "functionResponse")) {
            self.awaits_answer = Some(true);
            return self.skipped.push(TOOLS);
        }
        let text = join_text(content, &mut self.skipped);
        let text = remove_context(&text, &mut self.skipped);
        if text.is_empty() {
            self.count_if_empty();
        } else if let Some(kind) = find_program_text(&text) {
            self.is_summary = kind == SUMMARIES;
            self.skipped.push(kind);
        } else {
            // The display repeats parts of the content, which are counted once.
            let display = join_text(message.display_content.0.as_ref(), &mut Vec::new());
            let display = remove_context(&display, &mut Vec::new());
            self.display = Some(display).filter(|display| !display.is_empty());
            self.text = text;
            self.awaits_answer = Some(true);
        }
    }

    fn read_answer(&mut self, message: &RecordedMessage) {
        self.role = Some(Role::Assistant);
        let calls = message.tool_calls.0.as_deref().unwrap_or_default();
        self.skipped.extend(message.thoughts.0.iter().flatten().map(|_| THOUGHTS));
        self.skipped.extend(calls.iter().map(|_| TOOLS));
        let text = join_text(message.content.0.as_ref(), &mut self.skipped);
        let text = text.trim();
        if text == SUMMARY_ANSWER {
            return self.skipped.push(CONTEXT);
        }
        // The model gets the results of its calls, unless the user has cancelled them.
        let is_stopped = !calls.is_empty() && calls.iter().all(is_cancelled);
        self.awaits_answer = Some(!is_stopped && (text.is_empty() || !calls.is_empty()));
        self.text = text.to_owned();
        if text.is_empty() {
            self.count_if_empty();
        }
    }

    /// Counts a message without text as empty, unless a part of it was skipped.
    fn count_if_empty(&mut self) {
        if self.skipped.is_empty() {
            self.skipped.push(EMPTY);
        }
    }

    /// Returns whether the user or the model wrote text.
    pub(super) fn has_text(&self) -> bool {
        !self.text.is_empty()
    }

    /// Returns the text to import: what the user saw.
    pub(super) fn shown(&self) -> &str {
        self.display.as_deref().unwrap_or(&self.text)
    }

    /// Returns whether one of the messages may be a copy of the other.
    pub(super) fn has_same_text(&self, other: &Self) -> bool {
        self.role == other.role && self.text == other.text
    }

    /// Returns whether the program or a hook wrote the message to make the model continue after `prompt`. Such a
    /// message has the display of the prompt, but another text.
    pub(super) fn continues(&self, prompt: &Self) -> bool {
        let has_same_display = self.display.as_deref() == Some(prompt.shown());
        has_same_display && self.text != prompt.text && !self.text.contains(self.shown())
    }

    pub(super) fn count_skipped(&self, history: &mut HistoryBuilder) {
        for kind in &self.skipped {
            history.skip(kind);
        }
    }

    /// Counts a message that the user has undone.
    pub(super) fn discard(&self, history: &mut HistoryBuilder) {
        if self.has_text() {
            history.skip(ABANDONED);
        } else {
            self.count_skipped(history);
        }
    }
}

fn is_cancelled(call: &Lenient<RecordedCall>) -> bool {
    call.0.as_ref().and_then(|call| call.status.text()) == Some("cancelled")
}

/// Returns the kind under which a prompt is skipped if the program wrote it.
fn find_program_text(prompt: &str) -> Option<&'static str> {
    if prompt.contains(SUMMARY_END) {
        return Some(SUMMARIES);
    }
    let prefix = NOT_TYPED.iter().find(|(prefix, _)| prompt.starts_with(prefix));
    prefix.map(|(_, kind)| *kind).or((prompt == CONTINUE).then_some(CONTEXT))
}

/// Returns the parts of a message's content, which may be a single part.
fn parts(content: Option<&Value>) -> &[Value] {
    match content {
        None | Some(Value::Null) => &[],
        Some(Value::Array(parts)) => parts,
        Some(part) => slice::from_ref(part),
    }
}

fn has_field(part: &Value, field: &str) -> bool {
    part.get(field).is_some_and(|value| !matches!(value, Value::Null | Value::Bool(false)))
}

/// Joins the text parts of a message's content, and adds the kinds of its other parts to `skipped`.
fn join_text(content: Option<&Value>, skipped: &mut Vec<&'static str>) -> String {
    const CODE: [&str; 4] = ["functionCall", "functionResponse", "executableCode", "codeExecutionResult"];
    let mut text = String::new();
    for part in parts(content) {
        let has_any = |fields: &[&str]| fields.iter().any(|field| has_field(part, field));
        if has_field(part, "thought") {
            skipped.push(THOUGHTS);
        } else if let Some(part) = part.as_str().or_else(|| part.get("text")?.as_str()) {
            text.push_str(part);
        } else if has_any(&CODE) {
            skipped.push(TOOLS);
        } else if has_any(&["inlineData", "fileData"]) {
            skipped.push(FILES);
        } else {
            skipped.push(OTHER);
        }
    }
    text
}

/// Removes what hooks and the program have added to a prompt, and counts each block in `skipped`. Memoir's own
/// hook adds memories, which must not be stored again.
fn remove_context(prompt: &str, skipped: &mut Vec<&'static str>) -> String {
    let (mut text, mut rest) = (String::new(), prompt);
    while let Some((before, block)) = rest.split_once("<hook_context>") {
        skipped.push(CONTEXT);
        text.push_str(before);
        // The program escapes angle brackets inside a block.
        rest = block.split_once("</hook_context>").map_or("", |(_, after)| after);
    }
    text.push_str(rest);
    if let Some(start) = text.find(FILES_START) {
        skipped.push(CONTEXT);
        let end = text[start..].rfind(FILES_END).map_or(text.len(), |end| start + end + FILES_END.len());
        text.replace_range(start..end, "");
    }
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    fn read(fields: &str) -> SessionEntry {
        let message = serde_json::from_str(&format!("{{{fields}}}")).unwrap();
        SessionEntry::read(&message, String::new(), Timestamp::from_millis(0))
    }

    fn read_prompt(content: &str) -> SessionEntry {
        read(&format!(r#""type": "user", "content": {content}"#))
    }

    #[test]
    fn context_is_removed_from_prompts() {
        for (content, text, skipped) in [
            (r#""<hook_context>a &lt;b&gt;</hook_context>\n\nWhy?""#, "Why?", &[CONTEXT][..]),
            (
                r#"["Why?", {"text": "<hook_context>a</hook_context>"}, {"text": "<hook_context>b</hook_context>"}]"#,
                "Why?",
                &[CONTEXT, CONTEXT],
            ),
            (r#"{"text": "<hook_context>a</hook_context>"}"#, "", &[CONTEXT]),
            (r#""Why?<hook_context>cut off""#, "Why?", &[CONTEXT]),
            (r#""<session_context>\nFiles\n</session_context>""#, "", &[CONTEXT]),
            (r#""I ran the following shell command:\n```sh\nls\n```""#, "", &[TOOLS]),
            (
                r#"["See @a", "\n--- Content from referenced files ---", "\nA", "\n--- End of content ---"]"#,
                "See @a",
                &[CONTEXT],
            ),
            (r#"[{"text": "Why?"}, {"inlineData": {"mimeType": "image/png"}}]"#, "Why?", &[FILES]),
            (r#"[{"text": "More"}, {"functionResponse": {"id": "1"}}]"#, "", &[TOOLS]),
            (r#""""#, "", &[EMPTY]),
            ("null", "", &[EMPTY]),
            ("[7]", "", &[OTHER]),
        ] {
            let entry = read_prompt(content);
            assert_eq!((entry.text.as_str(), entry.skipped.as_slice()), (text, skipped), "{content}");
        }
    }

    #[test]
    fn prompts_are_imported_as_they_were_typed() {
        let display = r#"[{"text": "<hook_context>a</hook_context>\n\n/explain lamps"}]"#;
        let entry = read(&format!(
            r#""type": "user", "content": "<hook_context>a</hook_context>\n\nExplain.", "displayContent": {display}"#
        ));
        assert_eq!((entry.text.as_str(), entry.shown()), ("Explain.", "/explain lamps"));
        assert_eq!(entry.skipped, [CONTEXT]);
    }

    #[test]
    fn thoughts_are_not_part_of_an_answer() {
        let parts = r#"[{"text": "Hm.", "thought": true}, {"text": "Fog ", "thought": false}, {"text": "at noon."},
            {"functionCall": {"name": "look"}}]"#;
        let entry =
            read(&format!(r#""type": "gemini", "content": {parts}, "thoughts": [{{"subject": "Fog"}}]"#));
        assert_eq!(entry.text, "Fog at noon.");
        assert_eq!(entry.skipped, [THOUGHTS, THOUGHTS, TOOLS]);
    }
}
