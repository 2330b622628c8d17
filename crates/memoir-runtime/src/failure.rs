//! Failures as front ends report them: one sentence, what to do next, and a kind that decides the exit code or status.

use std::io;

use memoir_agent::TurnError;
use memoir_docs::{LibraryError, WriterError};
use memoir_models::ModelError;
use memoir_recall::RecallError;
use memoir_store::StoreError;
use serde_json::{Value, json};

use crate::printable::printable;

/// What kind of failure it is, which is what the exit code tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// It did not work.
    Failed,
    /// It was asked wrongly.
    Usage,
    /// It came to no answer, and that has been told in the result.
    Stopped,
    /// The user interrupted it.
    Interrupted,
    /// Whoever read our output went away; there is nobody left to tell.
    ReaderGone,
}

/// A failure at the edge.
#[derive(Debug)]
pub struct Failure {
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// What went wrong, as a sentence or the beginning of one.
    pub message: String,
    hint: Option<String>,
    between: &'static str,
    /// An answer that came all the same, and must not be lost.
    pub answer: Option<String>,
}

impl Failure {
    /// A failure without advice.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, between: " ", answer: None }
    }

    /// A failure of what was asked for: it did not work.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Failed, message)
    }

    /// A failure of how it was asked for.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Usage, message)
    }

    /// Says what to do next.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// What to do next, if that is said.
    pub fn advice(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Says what to do next, in a line of its own.
    pub fn hint_on_its_own_line(mut self, hint: impl Into<String>) -> Self {
        self.between = "\n";
        self.hint(hint)
    }

    /// Returns the exit code of a command that failed like this.
    pub fn exit_code(&self) -> u8 {
        match self.kind {
            FailureKind::Failed | FailureKind::Stopped => 1,
            FailureKind::Usage => 2,
            FailureKind::Interrupted => 130,
            FailureKind::ReaderGone => 0,
        }
    }

    /// The sentence with what to do next.
    pub fn sentence(&self) -> String {
        let mut sentence = self.message.clone();
        if !sentence.ends_with(['.', '!', '?', '…']) {
            sentence.push('.');
        }
        if let Some(hint) = &self.hint {
            sentence.push_str(self.between);
            sentence.push_str(hint);
        }
        // It may repeat what a server sent.
        printable(&sentence).into_owned()
    }

    /// The same for scripts.
    pub fn to_json(&self) -> Value {
        let kind = match self.kind {
            FailureKind::Failed | FailureKind::Stopped | FailureKind::ReaderGone => "failed",
            FailureKind::Usage => "usage",
            FailureKind::Interrupted => "interrupted",
        };
        let mut json =
            json!({"type": "error", "error": {"kind": kind, "message": self.message, "hint": self.hint}});
        if let Some(answer) = &self.answer {
            json["text"] = json!(answer);
        }
        json
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let kind = if error.kind() == io::ErrorKind::BrokenPipe {
            FailureKind::ReaderGone
        } else {
            FailureKind::Failed
        };
        Self::new(kind, error.to_string())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let failure = Self::failed(error.to_string());
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
            StoreError::DiskFailed { .. } => failure.hint(
                "What was kept before is safe; see whether the disk is full or cannot be written to, then try again.",
            ),
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
        let failure = Self::failed(error.to_string());
        match error {
            ModelError::Unreachable { .. } => {
                failure.hint("Check the address and that the server runs, or use the model memoir/recall.")
            }
            ModelError::Authentication { .. } => failure.hint("Check the API key of this provider."),
            ModelError::Forbidden { .. } => failure.hint("Check what the key may do, or try another model."),
            ModelError::NotFound { .. } => failure.hint("Check the model's name and the base URL."),
            ModelError::ContextTooLong { .. } => {
                failure.hint("Send less, begin a new conversation, or use another model; the config can say what this one takes: [[model]] context = N.")
            }
            ModelError::Unavailable(_) => failure.hint("memoir models set auto --for embedder goes back to the compiled-in model."),
            ModelError::QuotaExhausted { .. } => {
                failure.hint("Check your plan and billing with the provider, or use another.")
            }
            ModelError::ContentFilter => failure.hint("Say it differently, or try another model."),
            ModelError::BadRequest { .. } => failure.hint("Begin a new conversation, or try another model."),
            ModelError::RateLimited { retry_after: Some(wait), .. } => {
                failure.hint(format!("Try again in {} s.", wait.as_secs().max(1)))
            }
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

impl From<RecallError> for Failure {
    fn from(error: RecallError) -> Self {
        match error {
            RecallError::Store(error) => error.into(),
            RecallError::Embedding(error) => error.into(),
            RecallError::Stage(_) => Self::failed(error.to_string()),
        }
    }
}

impl From<TurnError> for Failure {
    fn from(error: TurnError) -> Self {
        match error {
            TurnError::Cancelled => Self::new(FailureKind::Interrupted, "Cancelled; nothing was stored"),
            TurnError::Model(error) => error.into(),
            TurnError::Store(error) => error.into(),
            TurnError::NotKept { answer, source } => {
                let mut failure = Self::from(source);
                failure.message = format!("the answer could not be kept: {}", failure.message);
                Self { answer: Some(answer), ..failure }
            }
            TurnError::Conflict { conversation, answer } => {
                let what =
                    if answer.is_some() { "the answer could not be stored" } else { "nothing was sent" };
                let message = format!("{what}: another session has added to conversation {conversation}");
                let hint = format!(
                    "Resume it (`/resume {conversation}`, or `memoir -r {conversation}`) to see what the other session added, then send the prompt again."
                );
                Self { answer, ..Self::failed(message).hint(hint) }
            }
        }
    }
}

impl From<LibraryError> for Failure {
    fn from(error: LibraryError) -> Self {
        match error {
            LibraryError::Store(error) => error.into(),
            LibraryError::Recall(error) => error.into(),
            LibraryError::File { .. } => Self::failed(error.to_string()),
        }
    }
}

impl From<WriterError> for Failure {
    fn from(error: WriterError) -> Self {
        let said = error.to_string();
        match error {
            WriterError::Model(error) => error.into(),
            WriterError::Store(error) => error.into(),
            WriterError::NothingSaid => Self::failed(said)
                .hint("memoir search finds a conversation; memoir write --conversation ID takes it."),
            WriterError::TooMuch => Self::failed(said).hint("Take less of it with --since and --until."),
            WriterError::NoPost => Self::failed(said).hint("Try again, or take another model."),
            WriterError::NotSaved { .. } => {
                Self::failed(said).hint("Nothing was kept; make room and write it again.")
            }
            WriterError::NotFiled { path, .. } => {
                Self::failed(said).hint(format!("memoir docs add {} files it.", path.display()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_ends_once_and_the_hint_follows() {
        let failure = Failure::usage("the prompt is empty").hint("Write something.");
        assert_eq!(failure.sentence(), "the prompt is empty. Write something.");
        assert_eq!(Failure::failed("Really?").sentence(), "Really?");
    }

    #[test]
    fn exit_codes_are_those_of_the_manual() {
        let codes = [FailureKind::Failed, FailureKind::Usage, FailureKind::Interrupted]
            .map(|kind| Failure::new(kind, "").exit_code());
        assert_eq!(codes, [1, 2, 130]);
    }
}
