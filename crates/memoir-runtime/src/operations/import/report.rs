//! What became of an import.

use std::{collections::BTreeMap, path::PathBuf};

use serde::Serialize;

use crate::failure::{Failure, FailureKind};

/// The result of an import. With `dry_run`, what would have been added.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ImportReport {
    /// Whether nothing was stored.
    pub dry_run: bool,
    /// Number of files that were read.
    pub files_read: u64,
    /// Number of conversations that are new or have new messages.
    pub conversations: u64,
    /// Number of messages added.
    pub messages: u64,
    /// Number of conversations without anything new.
    pub known: u64,
    /// Titles of conversations that were left unchanged, because their earlier messages differ from those in the file.
    pub different: Vec<String>,
    /// What was left out of the files: each kind, and how many there were.
    pub skipped: BTreeMap<String, u64>,
    /// Files that could not be read.
    pub unreadable: Vec<UnreadableFile>,
}

/// A file that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnreadableFile {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it, beginning with its name.
    pub message: String,
    /// What the user can do.
    pub hint: Option<String>,
}

impl UnreadableFile {
    pub(super) fn new(path: PathBuf, failure: &Failure) -> Self {
        Self { path, message: failure.message.clone(), hint: failure.advice().map(str::to_owned) }
    }
}

impl From<&UnreadableFile> for Failure {
    fn from(file: &UnreadableFile) -> Self {
        let failure = Self::new(FailureKind::Failed, file.message.clone());
        match &file.hint {
            Some(hint) => failure.hint(hint.clone()),
            None => failure,
        }
    }
}
