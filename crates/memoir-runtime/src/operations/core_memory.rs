//! Core memory: the short texts that are in every request.

use std::path::{Path, PathBuf};

use memoir_core::{ChangedBy, CoreBlock, CoreChange, CoreEntry, Timestamp};
use memoir_store::{Change, CoreMemory};
use serde::{Deserialize, Serialize};

use crate::{failure::Failure, files::write_private, home::Home};

/// Returns a block as it is now, as [`CoreEditRequest::seen`] expects it.
///
/// # Errors
///
/// Fails if the store does.
pub async fn read(block: CoreBlock, project: &str, store: &dyn CoreMemory) -> Result<CoreEntry, Failure> {
    let entries = store.core_memory(project).await?;
    entries
        .into_iter()
        .find(|entry| entry.block == block)
        .ok_or_else(|| Failure::failed(format!("core memory has no block {block}")))
}

/// A new text for a block.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CoreEditRequest {
    /// The project that the block belongs to.
    pub project: String,
    /// The block as it was when the user began to edit it.
    pub seen: CoreEntry,
    /// Its new text.
    pub text: String,
}

/// The result of an edit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CoreEditReport {
    /// The block.
    pub block: CoreBlock,
    /// What was done.
    #[serde(flatten)]
    pub outcome: CoreEditOutcome,
    /// Where a text that was refused is saved, so that it is not lost.
    pub draft: Option<PathBuf>,
}

/// What was done with a new text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum CoreEditOutcome {
    /// It is the text of the block now.
    Changed,
    /// It is what the block said already.
    Unchanged,
    /// It was refused because it is too long.
    TooLong {
        /// Its length in characters.
        length: usize,
        /// Maximum length in characters.
        limit: usize,
    },
    /// It was refused because the block changed since [`CoreEditRequest::seen`] was read.
    Conflict,
}

/// Changes the text of a block. A text that is refused is saved in the data directory of `home`.
///
/// # Errors
///
/// Fails if the store does. A text that is refused is a [`CoreEditOutcome`], not an error.
pub async fn edit(
    request: &CoreEditRequest,
    store: &dyn CoreMemory,
    home: &Home,
    now: Timestamp,
) -> Result<CoreEditReport, Failure> {
    let CoreEditRequest { project, seen, text } = request;
    let report = |outcome, draft| CoreEditReport { block: seen.block, outcome, draft };
    if *text == seen.text {
        return Ok(report(CoreEditOutcome::Unchanged, None));
    }
    let (length, limit) = (text.chars().count(), CoreBlock::LONGEST);
    if length > limit {
        return Ok(report(CoreEditOutcome::TooLong { length, limit }, save_draft(text, &home.data())));
    }
    let change = CoreChange { seen: seen.clone(), text: text.clone(), by: ChangedBy::User, at: now };
    Ok(match store.change_core_memory(project, &change).await? {
        Change::Made => report(CoreEditOutcome::Changed, None),
        Change::Overtaken => report(CoreEditOutcome::Conflict, save_draft(text, &home.data())),
    })
}

/// Saves a text that was refused. Returns where, unless that failed too.
fn save_draft(text: &str, folder: &Path) -> Option<PathBuf> {
    let path = folder.join("core-memory.draft.txt");
    match write_private(&path, text) {
        Ok(()) => Some(path),
        Err(error) => {
            tracing::warn!(%error, "a refused edit of core memory could not be saved");
            None
        }
    }
}

/// The result of taking back a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CoreUndoReport {
    /// The block as it is now; `None` if there was no change to take back.
    pub entry: Option<CoreEntry>,
}

/// Takes back the latest change of any block of a project.
///
/// # Errors
///
/// Fails if the store does.
pub async fn undo(project: &str, store: &dyn CoreMemory, now: Timestamp) -> Result<CoreUndoReport, Failure> {
    Ok(CoreUndoReport { entry: store.undo_core_memory(project, now).await? })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;
    use crate::operations::test_support::{NOW, TestStore, store_with};

    async fn set(text: &str, seen: &CoreEntry, store: &TestStore, folder: &Path) -> CoreEditReport {
        let request = CoreEditRequest { project: "/p".into(), seen: seen.clone(), text: text.into() };
        edit(&request, store, &Home::in_one(folder), NOW).await.unwrap()
    }

    #[tokio::test]
    async fn a_refused_text_is_saved() {
        let folder = tempfile::tempdir().unwrap();
        let (store, _) = store_with(&[]).await;
        let seen = read(CoreBlock::User, "/p", &store).await.unwrap();
        assert_eq!(set("", &seen, &store, folder.path()).await.outcome, CoreEditOutcome::Unchanged);
        let changed = set("Lives in Graz.", &seen, &store, folder.path()).await;
        assert_eq!((changed.outcome, changed.draft), (CoreEditOutcome::Changed, None));

        let conflict = set("Lives in Linz.", &seen, &store, folder.path()).await;
        assert_eq!(conflict.outcome, CoreEditOutcome::Conflict);
        assert_eq!(std::fs::read_to_string(conflict.draft.unwrap()).unwrap(), "Lives in Linz.");

        let long = "x".repeat(CoreBlock::LONGEST + 1);
        let refused = set(&long, &seen, &store, folder.path()).await;
        let (length, limit) = (CoreBlock::LONGEST + 1, CoreBlock::LONGEST);
        assert_eq!(refused.outcome, CoreEditOutcome::TooLong { length, limit });
        assert_eq!(std::fs::read_to_string(refused.draft.unwrap()).unwrap(), long);

        let nowhere = set(&long, &seen, &store, &folder.path().join("missing")).await;
        assert_eq!(nowhere.draft, None);

        let undone = undo("/p", &store, NOW).await.unwrap().entry.unwrap();
        assert_eq!((undone.block, undone.text.as_str()), (CoreBlock::User, ""));
        assert_eq!(undo("/p", &store, NOW).await.unwrap().entry, None);
    }
}
