//! Removes secrets from text and records which ones were removed.

use std::{borrow::Cow, collections::HashSet, sync::Arc};

use memoir_core::{ConversationTarget, ExchangeDraft, MessageBody, NewConversation};
use memoir_redact::{Finding, redact, redact_except};
use serde_json::Value;

use crate::NewRedaction;

/// Texts that the user does not want redacted.
pub(super) type Allowed = Arc<HashSet<String>>;

/// The secrets removed from a piece of content, and where each one was.
#[derive(Debug, Default)]
pub(super) struct Findings {
    redactions: Vec<NewRedaction>,
    secrets: Vec<String>,
    allowed: Allowed,
}

impl Findings {
    /// Starts a record. `allowed` is never redacted.
    pub(super) fn new(allowed: Allowed) -> Self {
        Self { allowed, ..Self::default() }
    }

    /// Returns `text` without its secrets and records them under `place`.
    pub(super) fn clean<'a>(&mut self, place: &'static str, text: &'a str) -> Cow<'a, str> {
        let allowed = Arc::clone(&self.allowed);
        let redacted = redact_except(text, &|secret| allowed.contains(secret));
        for finding in redacted.findings {
            let secret = text[finding.range.clone()].to_owned();
            self.push(place, finding, secret);
        }
        redacted.text
    }

    /// Returns the records in the order in which the secrets were found.
    pub(super) fn into_redactions(self) -> Vec<NewRedaction> {
        self.redactions
    }

    fn push(&mut self, place: &'static str, Finding { kind, reason, .. }: Finding, secret: String) {
        self.redactions.push(NewRedaction { place, kind, reason });
        self.secrets.push(secret);
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
                // Some secrets can be recognized only together with the name of their field.
                if let Value::String(text) = value
                    && !self.allowed.contains(text)
                    && redact(text).findings.is_empty()
                    && let Some(finding) = redact(&format!("{name}: \"{text}\"")).findings.pop()
                {
                    let secret = std::mem::replace(text, format!("[redacted: {}]", finding.kind));
                    self.push(place, finding, secret);
                }
                self.clean_value(place, value);
            }),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Returns the target with secrets removed from the title of a new conversation.
pub(super) fn clean_target(target: &ConversationTarget, allowed: &Allowed) -> ConversationTarget {
    match target {
        ConversationTarget::New(new) => ConversationTarget::New(clean_conversation(new, allowed)),
        other => other.clone(),
    }
}

/// Returns the conversation with secrets removed from its title.
pub(super) fn clean_conversation(new: &NewConversation, allowed: &Allowed) -> NewConversation {
    let mut new = new.clone();
    // The title repeats the first message, for which the secret is recorded.
    Findings::new(Arc::clone(allowed)).clean_in_place("title", &mut new.title);
    new
}

/// Returns the exchange without its secrets, and those removed from its messages.
pub(super) fn clean_draft(
    draft: &ExchangeDraft,
    allowed: &Allowed,
) -> (ExchangeDraft, Vec<(NewRedaction, String)>) {
    let (mut draft, mut findings) = (draft.clone(), Findings::new(Arc::clone(allowed)));
    // These fields repeat text of the messages. A secret is recorded only once, for the message that contained it.
    let mut duplicates = Findings::new(Arc::clone(allowed));
    duplicates.clean_in_place("prompt", &mut draft.user_message);
    duplicates.clean_in_place("answer", &mut draft.assistant_message);
    if let Some(error) = &mut draft.error {
        duplicates.clean_in_place("error", error);
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
    (draft, findings.redactions.into_iter().zip(findings.secrets).collect())
}
