//! Format of an evaluation file: conversations with sessions and turns, and questions with the turns that answer them.

use std::path::Path;

use memoir_core::{
    DraftMessage, ExchangeDraft, ExchangeStatus, MessageBody, Provenance, RecalledPassages, Timestamp,
    Visibility, count_tokens,
};
use serde::{Deserialize, de::DeserializeOwned};

use crate::failure::Failure;

#[derive(Deserialize)]
pub(super) struct EvalConversation {
    pub(super) conversation_id: String,
    pub(super) sessions: Vec<EvalSession>,
    pub(super) questions: Vec<EvalQuestion>,
}

#[derive(Deserialize)]
pub(super) struct EvalSession {
    pub(super) session_id: String,
    date: String,
    pub(super) turns: Vec<Turn>,
}

#[derive(Deserialize)]
pub(super) struct Turn {
    #[serde(default)]
    pub(super) id: String,
    #[serde(alias = "role")]
    pub(super) speaker: String,
    text: String,
}

#[derive(Deserialize)]
pub(super) struct EvalQuestion {
    pub(super) id: String,
    pub(super) question: String,
    pub(super) category: String,
    pub(super) evidence: Vec<String>,
}

/// A history of conversations, documents and core memory, with prompts and what their answers must contain.
#[derive(Deserialize)]
pub(super) struct AnswerHistory {
    /// Name of the part of the data that it belongs to: `tune` or `test`.
    pub(super) half: String,
    /// Time of the prompts.
    pub(super) now: String,
    #[serde(default)]
    pub(super) core_memory: CoreMemoryText,
    pub(super) conversations: Vec<AnswerConversation>,
    #[serde(default)]
    pub(super) documents: Vec<AnswerDocument>,
    pub(super) cases: Vec<AnswerCase>,
}

#[derive(Default, Deserialize)]
pub(super) struct CoreMemoryText {
    pub(super) user: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct AnswerConversation {
    pub(super) title: String,
    pub(super) started: String,
    pub(super) messages: Vec<Turn>,
}

#[derive(Deserialize)]
pub(super) struct AnswerDocument {
    pub(super) name: String,
    pub(super) date: String,
    pub(super) text: String,
}

/// A prompt and what its answer must contain, compared without regard to case.
#[derive(Default, Deserialize)]
pub(super) struct AnswerCase {
    pub(super) id: String,
    pub(super) category: String,
    /// Prompts of the same conversation before this one.
    #[serde(default)]
    pub(super) after: Vec<String>,
    pub(super) ask: String,
    /// The first line must contain one of these.
    #[serde(default)]
    pub(super) first: Vec<String>,
    /// The first line must contain none of these.
    #[serde(default)]
    pub(super) first_lacks: Vec<String>,
    /// The answer must contain all of these.
    #[serde(default)]
    pub(super) contains: Vec<String>,
    /// The answer must contain none of these.
    #[serde(default)]
    pub(super) lacks: Vec<String>,
    /// Whether nothing in the history answers the prompt.
    #[serde(default)]
    pub(super) absent: bool,
}

pub(super) fn read(path: &Path) -> Result<Vec<EvalConversation>, Failure> {
    read_json(path, "The file must be a JSON array of conversations with sessions and questions.")
}

pub(super) fn read_histories(path: &Path) -> Result<Vec<AnswerHistory>, Failure> {
    read_json(path, "The file must be a JSON array of histories with conversations and cases.")
}

fn read_json<T: DeserializeOwned>(path: &Path, hint: &str) -> Result<T, Failure> {
    let read_failure =
        |reason: String| Failure::failed(format!("could not read {}: {reason}", path.display())).hint(hint);
    let text = std::fs::read_to_string(path).map_err(|error| read_failure(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| read_failure(error.to_string()))
}

/// Parses a time in RFC 3339.
pub(super) fn parse_time(text: &str) -> Result<Timestamp, Failure> {
    let time: jiff::Timestamp = text.parse().map_err(|error| {
        Failure::failed(format!("\"{text}\" is not a time: {error}"))
            .hint("Write it like `2026-03-02T10:15:00Z`.")
    })?;
    Ok(Timestamp::from_millis(time.as_millisecond()))
}

impl EvalConversation {
    /// Returns the time of the last session, or the Unix epoch if there are no sessions.
    pub(super) fn end_time(&self) -> Result<Timestamp, Failure> {
        let times = self.sessions.iter().map(EvalSession::time).collect::<Result<Vec<_>, _>>()?;
        Ok(times.into_iter().max().unwrap_or(Timestamp::from_millis(0)))
    }
}

impl EvalSession {
    /// Parses the date of the session, either like `1:56 pm on 8 May, 2023` in UTC or as RFC 3339.
    pub(super) fn time(&self) -> Result<Timestamp, Failure> {
        let written_out = jiff::civil::DateTime::strptime("%I:%M %p on %d %B, %Y", &self.date)
            .and_then(|date| date.to_zoned(jiff::tz::TimeZone::UTC))
            .map(|zoned| zoned.timestamp());
        let time = written_out.or_else(|_| self.date.parse::<jiff::Timestamp>()).map_err(|error| {
            Failure::failed(format!("\"{}\" is not a date: {error}", self.date))
                .hint("Write it like `1:56 pm on 8 May, 2023`.")
        })?;
        Ok(Timestamp::from_millis(time.as_millisecond()))
    }
}

/// Creates an exchange from one or two turns. `user` is the speaker whose turns become user messages.
pub(super) fn to_exchange(turns: &[Turn], start: Timestamp, number: usize, user: &str) -> ExchangeDraft {
    let offset = i64::try_from(number).unwrap_or(0) * 60_000;
    let created = Timestamp::from_millis(start.as_millis() + offset);
    let message = |turn: &Turn| {
        let text = turn.text.clone();
        let body = if turn.speaker == user {
            MessageBody::User { text }
        } else {
            MessageBody::Assistant { text, tool_calls: Vec::new() }
        };
        // "user" and "assistant" are roles rather than names.
        let has_name = !matches!(turn.speaker.to_lowercase().as_str(), "user" | "assistant");
        DraftMessage {
            author: has_name.then(|| turn.speaker.clone()),
            tokens: count_tokens(&turn.text) as u64,
            body,
            visibility: Visibility::Shown,
            provenance: Provenance::Original,
            by_others: false,
            created,
        }
    };
    ExchangeDraft {
        status: ExchangeStatus::Completed,
        started: created,
        completed: created,
        user_message: turns.first().map(|turn| turn.text.clone()).unwrap_or_default(),
        assistant_message: turns.get(1).map(|turn| turn.text.clone()).unwrap_or_default(),
        model: "imported".into(),
        messages: turns.iter().map(message).collect(),
        calls: Vec::new(),
        recalled: RecalledPassages::default(),
        tool_call_count: 0,
        error: None,
        source: None,
    }
}
