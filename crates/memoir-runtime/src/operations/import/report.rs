//! Report of an import.

use std::{collections::BTreeMap, path::PathBuf};

use serde::Serialize;

use crate::failure::{Failure, FailureKind};

/// Result of an import. In a dry run, the counts describe what would have been added.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ImportReport {
    /// Whether this was a dry run, in which nothing is stored.
    pub dry_run: bool,
    /// Number of files that were read.
    pub files_read: u64,
    /// Number of conversations that were added or extended.
    pub conversations: u64,
    /// Number of messages that were added.
    pub messages: u64,
    /// Number of conversations that were imported before and have no new messages.
    #[serde(rename = "known")]
    pub unchanged: u64,
    /// Titles of conversations that were skipped because their stored messages differ from those in the file.
    pub different: Vec<String>,
    /// Number of skipped items in the files, by kind.
    pub skipped: BTreeMap<String, u64>,
    /// Files that could not be read or parsed.
    pub unreadable: Vec<UnreadableFile>,
}

/// A file that could not be read or parsed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnreadableFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Error message, including the path of the file.
    pub message: String,
    /// What the user can do about the error, if anything.
    pub hint: Option<String>,
}

impl UnreadableFile {
    pub(super) fn new(path: PathBuf, failure: &Failure) -> Self {
        Self { path, message: failure.message.clone(), hint: failure.hint_text().map(str::to_owned) }
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
