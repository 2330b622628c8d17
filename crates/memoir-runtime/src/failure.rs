//! The error type that front ends report: a message, a hint, and a kind that determines the exit code.

use std::io;

use memoir_agent::{MAX_PROMPT_BYTES, TurnError};
use memoir_core::printable;
use memoir_docs::{LibraryError, WriterError};
use memoir_models::ModelError;
use memoir_recall::RecallError;
use memoir_store::StoreError;
use serde_json::{Value, json};

/// The kind of a failure, which determines the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// A valid request could not be carried out.
    Failed,
    /// The request was invalid, such as a name that does not exist.
    Usage,
    /// The request names something that does not exist, or that the program may not see.
    Missing,
    /// The turn ended without an answer, and the result already reports why.
    Stopped,
    /// The user interrupted the operation.
    Interrupted,
    /// The reader of the output closed the pipe, so nothing can be reported.
    BrokenPipe,
}

/// An error as a front end reports it.
#[derive(Debug)]
pub struct Failure {
    /// Determines the exit code.
    pub kind: FailureKind,
    /// The cause, as a sentence or the start of one. The final period is optional.
    pub message: String,
    hint: Option<String>,
    /// Text between the message and the hint.
    separator: &'static str,
    /// An answer that was received despite the failure and should still be shown.
    pub answer: Option<String>,
}

impl Failure {
    /// Creates a failure without a hint.
    pub fn new(kind: FailureKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, separator: " ", answer: None }
    }

    /// Creates a failure of kind [`FailureKind::Failed`].
    pub fn failed(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Failed, message)
    }

    /// Creates a failure of kind [`FailureKind::Usage`].
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(FailureKind::Usage, message)
    }

    /// Sets the hint: what the user can do about the failure.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns the hint, if there is one.
    pub fn hint_text(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Sets a hint that starts on a new line.
    pub fn hint_on_new_line(mut self, hint: impl Into<String>) -> Self {
        self.separator = "\n";
        self.hint(hint)
    }

    /// Returns the exit code for this failure.
    pub fn exit_code(&self) -> u8 {
        match self.kind {
            FailureKind::Failed | FailureKind::Stopped => 1,
            FailureKind::Usage | FailureKind::Missing => 2,
            FailureKind::Interrupted => 130,
            FailureKind::BrokenPipe => 0,
        }
    }

    /// Returns the message, with a final period, followed by the hint.
    pub fn sentence(&self) -> String {
        let mut sentence = self.message.clone();
        if !sentence.ends_with(['.', '!', '?', '…']) {
            sentence.push('.');
        }
        if let Some(hint) = &self.hint {
            sentence.push_str(self.separator);
            sentence.push_str(hint);
        }
        // The message may quote a server's response.
        printable(&sentence).into_owned()
    }

    /// Returns the failure as JSON, for scripts.
    pub fn to_json(&self) -> Value {
        let kind = match self.kind {
            FailureKind::Failed | FailureKind::Stopped | FailureKind::BrokenPipe => "failed",
            FailureKind::Usage | FailureKind::Missing => "usage",
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
            FailureKind::BrokenPipe
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
                failure.hint("Make it writable, or set `MEMOIR_HOME` to a directory you own.")
            }
            StoreError::Foreign { .. } => failure
                .hint("The file was not changed. Move it elsewhere, or set `MEMOIR_HOME` to another directory."),
            StoreError::Newer { .. } => failure
                .hint("The file was not changed. Update Memoir, or set `MEMOIR_HOME` to another directory."),
            StoreError::DiskFull => failure.hint("Nothing was lost. Free some space and try again."),
            StoreError::DiskFailed { .. } => failure.hint(
                "Data that was already stored is safe. Check that the disk is writable and not full, then try again.",
            ),
            StoreError::Busy => failure.hint("Try again in a moment."),
            StoreError::Damaged { .. } => {
                failure.hint("Nothing is written to it any more. Salvage what is readable with `memoir repair`, or restore a backup with `memoir restore`.")
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
                failure.hint("Check the address and that the server is running, or use the model `memoir/recall`.")
            }
            ModelError::Authentication { .. } | ModelError::InvalidKey => failure.hint("Check the API key of this provider."),
            ModelError::Forbidden { .. } => failure.hint("Check the permissions of the API key, or try another model."),
            ModelError::NotFound { .. } => failure.hint("Check the model name and the base URL."),
            ModelError::Redirected { .. } => failure.hint(
                "Memoir follows no redirects, so that keys and prompts reach only the server that you chose. Set the base URL to the final address.",
            ),
            ModelError::ContextTooLong { .. } => {
                failure.hint("Shorten the prompt, start a new conversation, or use another model. If Memoir assumes the wrong context size, set `context` under `[[model]]` in the config.")
            }
            ModelError::Unavailable(_) => failure.hint(format!(
                "Run `memoir models set {} --for embedder` to use the built-in model.",
                memoir_embed::NAME
            )),
            ModelError::QuotaExhausted { .. } => {
                failure.hint("Check your plan and billing with the provider, or use another model.")
            }
            ModelError::ContentFilter => failure.hint("Rephrase the prompt, or try another model."),
            ModelError::BadRequest { .. } => {
                failure.hint("Check the model name, start a new conversation, or try another model.")
            }
            ModelError::RateLimited { retry_after: Some(wait), .. } => {
                failure.hint(format!("Try again in {} s.", wait.as_secs().max(1)))
            }
            ModelError::RateLimited { .. } | ModelError::Server { .. } | ModelError::Loading => {
                failure.hint("Try again later.")
            }
            ModelError::Truncated
            | ModelError::IdleTimeout { .. }
            | ModelError::InvalidResponse(_)
            | ModelError::Empty => failure.hint("Nothing was stored. Send the prompt again."),
            _ => failure,
        }
    }
}

impl From<RecallError> for Failure {
    fn from(error: RecallError) -> Self {
        match error {
            RecallError::Store(error) => error.into(),
            RecallError::Model(error) => error.into(),
            RecallError::Stage(_) => Self::failed(error.to_string()),
        }
    }
}

impl From<TurnError> for Failure {
    fn from(error: TurnError) -> Self {
        match error {
            TurnError::Cancelled => Self::new(FailureKind::Interrupted, "Cancelled; nothing was stored"),
            TurnError::PromptTooLong => {
                let megabytes = MAX_PROMPT_BYTES / 1_000_000;
                Self::usage(format!("the prompt is longer than {megabytes} MB, so it was not sent"))
                    .hint("Store long texts with `memoir docs add FILE`, then ask about them.")
            }
            TurnError::Model(error) => error.into(),
            TurnError::Store(error) => error.into(),
            TurnError::NotStored { answer, source } => {
                let mut failure = Self::from(source);
                failure.message = format!("the answer could not be stored: {}", failure.message);
                Self { answer: Some(answer), ..failure }
            }
            TurnError::Conflict { conversation, answer } => {
                let effect =
                    if answer.is_some() { "the answer could not be stored" } else { "nothing was sent" };
                let message = format!("{effect}: another session has added to conversation {conversation}");
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
        let message = error.to_string();
        match error {
            WriterError::Model(error) => error.into(),
            WriterError::Store(error) => error.into(),
            WriterError::NoMessages => Self::failed(message)
                .hint("Find a conversation with `memoir search`, then run `memoir write --conversation ID`."),
            WriterError::TooLong => {
                Self::failed(message).hint("Choose a shorter period with `--since` and `--until`.")
            }
            WriterError::NoPost => Self::failed(message).hint("Try again, or use another model."),
            WriterError::NotSaved { .. } => Self::failed(message)
                .hint("Nothing was saved. Check that the directory is writable and the disk is not full."),
            WriterError::NotStored { path, .. } => Self::failed(message)
                .hint(format!("Run `memoir docs add {}` to add it as a document.", path.display())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_follows_one_final_punctuation_mark() {
        let failure = Failure::usage("the prompt is empty").hint("Write something.");
        assert_eq!(failure.sentence(), "the prompt is empty. Write something.");
        assert_eq!(Failure::failed("Really?").sentence(), "Really?");
    }

    #[test]
    fn exit_codes_match_the_manual() {
        let codes = [FailureKind::Failed, FailureKind::Usage, FailureKind::Interrupted]
            .map(|kind| Failure::new(kind, "").exit_code());
        assert_eq!(codes, [1, 2, 130]);
    }
}
