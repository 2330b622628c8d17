//! The one point that text passes on its way into the database: secrets are taken out of it.

use std::borrow::Cow;

use memoir_core::{ConversationTarget, DocumentId, ExchangeDraft, ExchangeId, MessageBody, Timestamp};
use memoir_redact::{Finding, redact};
use serde_json::Value;
use sqlx::SqliteConnection;

use super::error::store_error;
use crate::Result;

/// What was taken out, and where it stood.
#[derive(Debug, Default)]
pub(super) struct Findings(Vec<(&'static str, Finding)>);

/// Where text comes from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Source {
    /// A line that was typed.
    Line,
    Exchange(ExchangeId),
    Document(DocumentId),
}

impl Findings {
    /// A text as it may be kept.
    pub(super) fn clean<'a>(&mut self, place: &'static str, text: &'a str) -> Cow<'a, str> {
        let redacted = redact(text);
        self.0.extend(redacted.findings.into_iter().map(|finding| (place, finding)));
        redacted.text
    }

    fn clean_in_place(&mut self, place: &'static str, text: &mut String) {
        if let Cow::Owned(clean) = self.clean(place, text) {
            *text = clean;
        }
    }

    fn clean_value(&mut self, place: &'static str, value: &mut Value) {
        match value {
            Value::String(text) => self.clean_in_place(place, text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.clean_value(place, value)),
            Value::Object(values) => values.iter_mut().for_each(|(name, value)| {
                // Some are told by the name that they stand under.
                if let Value::String(text) = value
                    && redact(text).findings.is_empty()
                    && let Some(finding) = redact(&format!("{name}: \"{text}\"")).findings.pop()
                {
                    *text = format!("[redacted: {}]", finding.kind);
                    self.0.push((place, finding));
                }
                self.clean_value(place, value);
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Notes what was found.
    pub(super) async fn note(
        self,
        connection: &mut SqliteConnection,
        source: Source,
        now: Timestamp,
    ) -> Result<()> {
        let (exchange, document) = match source {
            Source::Line => (None, None),
            Source::Exchange(id) => (Some(id.get()), None),
            Source::Document(id) => (None, Some(id.get())),
        };
        for (place, finding) in self.0 {
            sqlx::query(
                "INSERT INTO redactions (exchange_id, document_id, place, kind, reason, created)
                 VALUES (?, ?, ?, ?, ?, ?)",
            )
            .bind(exchange)
            .bind(document)
            .bind(place)
            .bind(finding.kind)
            .bind(finding.reason)
            .bind(now.as_millis())
            .execute(&mut *connection)
            .await
            .map_err(store_error)?;
        }
        Ok(())
    }
}

/// An exchange as it may be kept.
pub(super) fn exchange(
    target: &ConversationTarget,
    draft: &ExchangeDraft,
) -> (ConversationTarget, ExchangeDraft, Findings) {
    let (mut target, mut draft, mut findings) = (target.clone(), draft.clone(), Findings::default());
    // The same words stand in several places; they are told of once, where they were said.
    let mut unsaid = Findings::default();
    if let ConversationTarget::New(new) = &mut target {
        unsaid.clean_in_place("title", &mut new.title);
    }
    unsaid.clean_in_place("prompt", &mut draft.user_message);
    unsaid.clean_in_place("answer", &mut draft.assistant_message);
    if let Some(error) = &mut draft.error {
        unsaid.clean_in_place("error", error);
    }
    for message in &mut draft.messages {
        match &mut message.body {
            MessageBody::User { text } => findings.clean_in_place("prompt", text),
            MessageBody::Assistant { text, tool_calls } => {
                findings.clean_in_place("answer", text);
                for call in tool_calls {
                    findings.clean_value("tool call", &mut call.arguments);
                }
            }
            MessageBody::Tool { text, .. } => findings.clean_in_place("tool result", text),
        }
    }
    (target, draft, findings)
}
