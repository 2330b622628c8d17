//! Failures as people and scripts see them: one sentence, what to do next, an exit code.

use std::{io, process::ExitCode};

use anstream::eprintln;
use memoir_agent::TurnError;
use memoir_models::ModelError;
use memoir_store::StoreError;
use serde_json::{Value, json};

/// What kind of failure it is, which is what the exit code tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It did not work.
    Failed,
    /// It was asked wrongly.
    Usage,
    /// The user interrupted it.
    Interrupted,
    /// Whoever read our output went away; there is nobody left to tell.
    ReaderGone,
}

/// A failure at the edge.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) kind: Kind,
    pub(crate) message: String,
    pub(crate) hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: None,
        }
    }

    /// Says what to do next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    fn exit_code(&self) -> u8 {
        match self.kind {
            Kind::Failed => 1,
            Kind::Usage => 2,
            Kind::Interrupted => 130,
            Kind::ReaderGone => 0,
        }
    }

    /// The sentence with what to do next.
    pub(crate) fn sentence(&self) -> String {
        let mut sentence = self.message.clone();
        if !sentence.ends_with(['.', '!', '?', '…']) {
            sentence.push('.');
        }
        if let Some(hint) = &self.hint {
            sentence.push(' ');
            sentence.push_str(hint);
        }
        sentence
    }

    /// The same for scripts.
    pub(crate) fn to_json(&self) -> Value {
        let kind = match self.kind {
            Kind::Failed | Kind::ReaderGone => "failed",
            Kind::Usage => "usage",
            Kind::Interrupted => "interrupted",
        };
        json!({"type": "error", "error": {"kind": kind, "message": self.message, "hint": self.hint}})
    }

    /// Tells the user and gives the exit code.
    pub(crate) fn report(&self) -> ExitCode {
        if self.kind != Kind::ReaderGone {
            eprintln!("memoir: {}", self.sentence());
        }
        ExitCode::from(self.exit_code())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let kind = if error.kind() == io::ErrorKind::BrokenPipe {
            Kind::ReaderGone
        } else {
            Kind::Failed
        };
        Self::new(kind, error.to_string())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let failure = Self::new(Kind::Failed, error.to_string());
        match error {
            StoreError::NotWritable { .. } => {
                failure.hint("Give write permission there, or set MEMOIR_HOME to a directory you own.")
            }
            StoreError::Foreign { .. } => {
                failure.hint("It was left untouched; move it away, or set MEMOIR_HOME to another directory.")
            }
            StoreError::Newer { .. } => failure
                .hint("It was left untouched; upgrade Memoir, or set MEMOIR_HOME to another directory."),
            StoreError::DiskFull => failure.hint("Nothing was lost; free some space and try again."),
            StoreError::Busy => failure.hint("Try again in a moment."),
            StoreError::Damaged { .. } => {
                failure.hint("Restore a backup, or move the file away to start afresh.")
            }
            _ => failure,
        }
    }
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        let failure = Self::new(Kind::Failed, error.to_string());
        match error {
            ModelError::Unreachable { .. } => {
                failure.hint("Check the address and that the server runs, or use --model memoir/recall.")
            }
            ModelError::Authentication { .. } => failure.hint("Check the API key of this provider."),
            ModelError::NotFound { .. } => failure.hint("Check the model's name and the base URL."),
            ModelError::BadRequest { .. } => failure.hint("Start anew with /new, or try another model."),
            ModelError::RateLimited { .. } | ModelError::Server { .. } => {
                failure.hint("Try again in a while.")
            }
            ModelError::Truncated
            | ModelError::IdleTimeout { .. }
            | ModelError::Garbled(_)
            | ModelError::Empty => failure.hint("Nothing was stored; send the prompt again."),
            _ => failure,
        }
    }
}

impl From<TurnError> for Failure {
    fn from(error: TurnError) -> Self {
        match error {
            TurnError::Cancelled => Self::new(Kind::Interrupted, "Cancelled; nothing was stored"),
            TurnError::Model(error) => error.into(),
            TurnError::Store(error) => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_ends_once_and_the_hint_follows() {
        let failure = Failure::new(Kind::Usage, "the prompt is empty").hint("Write something.");
        assert_eq!(failure.sentence(), "the prompt is empty. Write something.");
        assert_eq!(Failure::new(Kind::Failed, "Really?").sentence(), "Really?");
    }

    #[test]
    fn exit_codes_are_those_of_the_manual() {
        let codes =
            [Kind::Failed, Kind::Usage, Kind::Interrupted].map(|kind| Failure::new(kind, "").exit_code());
        assert_eq!(codes, [1, 2, 130]);
    }
}
