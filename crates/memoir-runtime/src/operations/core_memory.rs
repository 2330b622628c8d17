//! Editing core memory: the short blocks of text that are part of every request.

use std::path::{Path, PathBuf};

use memoir_core::{ChangedBy, CoreBlock, CoreChange, CoreEntry, Timestamp};
use memoir_store::{ChangeOutcome, CoreMemory};
use serde::{Deserialize, Serialize};

use crate::{failure::Failure, files::write_private, home::Home};

/// Returns the current state of a block, for [`CoreEditRequest::previous`].
///
/// # Errors
///
/// Fails if the store cannot be read, or has no such block.
pub async fn read(block: CoreBlock, project: &str, store: &dyn CoreMemory) -> Result<CoreEntry, Failure> {
    let entries = store.core_memory(project).await?;
    entries
        .into_iter()
        .find(|entry| entry.block == block)
        .ok_or_else(|| Failure::failed(format!("core memory has no block {block}")))
}

/// Request to replace the text of a block.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CoreEditRequest {
    /// Project that the block belongs to.
    pub project: String,
    /// State of the block when the user started editing it.
    #[serde(rename = "seen")]
    pub previous: CoreEntry,
    /// New text of the block.
    pub text: String,
}

/// Result of an edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CoreEditReport {
    /// Block that was edited.
    pub block: CoreBlock,
    /// Whether the text was accepted.
    #[serde(flatten)]
    pub outcome: CoreEditOutcome,
    /// File in which a rejected text was saved so that it is not lost.
    pub draft: Option<PathBuf>,
}

/// Outcome of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum CoreEditOutcome {
    /// The block was changed.
    Changed,
    /// The new text equals the old one.
    Unchanged,
    /// The text was rejected because it is too long.
    TooLong {
        /// Length of the text in characters.
        length: usize,
        /// Maximum length in characters.
        limit: usize,
    },
    /// The text was rejected because the block has changed since [`CoreEditRequest::previous`] was read.
    Conflict,
}

/// Changes the text of a block. A rejected text is saved in the data directory of `home`.
///
/// # Errors
///
/// Fails if the store cannot be written. A rejected text is a [`CoreEditOutcome`], not an error.
pub async fn edit(
    request: &CoreEditRequest,
    store: &dyn CoreMemory,
    home: &Home,
    now: Timestamp,
) -> Result<CoreEditReport, Failure> {
    let CoreEditRequest { project, previous, text } = request;
    let report = |outcome, draft| CoreEditReport { block: previous.block, outcome, draft };
    if *text == previous.text {
        return Ok(report(CoreEditOutcome::Unchanged, None));
    }
    let (length, limit) = (text.chars().count(), CoreBlock::MAX_CHARS);
    if length > limit {
        return Ok(report(CoreEditOutcome::TooLong { length, limit }, save_draft(text, &home.data())));
    }
    let change =
        CoreChange { previous: previous.clone(), text: text.clone(), author: ChangedBy::User, created: now };
    Ok(match store.change_core_memory(project, &change).await? {
        ChangeOutcome::Applied => report(CoreEditOutcome::Changed, None),
        ChangeOutcome::Conflict => report(CoreEditOutcome::Conflict, save_draft(text, &home.data())),
    })
}

/// Saves a rejected text. Returns the path of the file, or `None` if it could not be written.
fn save_draft(text: &str, directory: &Path) -> Option<PathBuf> {
    let path = directory.join("core-memory.draft.txt");
    match write_private(&path, text) {
        Ok(()) => Some(path),
        Err(error) => {
            tracing::warn!(%error, "could not save the draft of a rejected core memory edit");
            None
        }
    }
}

/// Result of undoing a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CoreUndoReport {
    /// Block after the undo, or `None` if there was nothing to undo.
    pub entry: Option<CoreEntry>,
}

/// Undoes the latest change to any block of a project.
pub async fn undo(project: &str, store: &dyn CoreMemory, now: Timestamp) -> Result<CoreUndoReport, Failure> {
    Ok(CoreUndoReport { entry: store.undo_core_memory(project, now).await? })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;
    use crate::operations::test_support::{NOW, TestStore, store_with};

    async fn set(text: &str, previous: &CoreEntry, store: &TestStore, directory: &Path) -> CoreEditReport {
        let request = CoreEditRequest { project: "/p".into(), previous: previous.clone(), text: text.into() };
        edit(&request, store, &Home::in_directory(directory), NOW).await.unwrap()
    }

    #[tokio::test]
    async fn a_rejected_text_is_saved() {
        let directory = tempfile::tempdir().unwrap();
        let (store, _) = store_with(&[]).await;
        let previous = read(CoreBlock::User, "/p", &store).await.unwrap();
        assert_eq!(set("", &previous, &store, directory.path()).await.outcome, CoreEditOutcome::Unchanged);
        let report = set("Lives in Graz.", &previous, &store, directory.path()).await;
        assert_eq!((report.outcome, report.draft), (CoreEditOutcome::Changed, None));

        let conflict = set("Lives in Linz.", &previous, &store, directory.path()).await;
        assert_eq!(conflict.outcome, CoreEditOutcome::Conflict);
        assert_eq!(std::fs::read_to_string(conflict.draft.unwrap()).unwrap(), "Lives in Linz.");

        let long = "x".repeat(CoreBlock::MAX_CHARS + 1);
        let too_long = set(&long, &previous, &store, directory.path()).await;
        let (length, limit) = (CoreBlock::MAX_CHARS + 1, CoreBlock::MAX_CHARS);
        assert_eq!(too_long.outcome, CoreEditOutcome::TooLong { length, limit });
        assert_eq!(std::fs::read_to_string(too_long.draft.unwrap()).unwrap(), long);

        let unsaved = set(&long, &previous, &store, &directory.path().join("missing")).await;
        assert_eq!(unsaved.draft, None);

        let entry = undo("/p", &store, NOW).await.unwrap().entry.unwrap();
        assert_eq!((entry.block, entry.text.as_str()), (CoreBlock::User, ""));
        assert_eq!(undo("/p", &store, NOW).await.unwrap().entry, None);
    }
}
