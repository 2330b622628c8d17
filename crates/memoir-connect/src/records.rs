//! What Memoir has changed, and how to go back.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{
    content::{HostContent, KeyPath, Prune},
    plan::FileChange,
    undo::{TextEdit, edits_back, undo},
};

/// The files that connecting has changed. The caller saves them as JSON in Memoir's data directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Records {
    /// The changed files.
    pub files: BTreeMap<PathBuf, FileRecord>,
    /// The directories that were created. They are deleted once they are empty.
    pub directories: BTreeSet<PathBuf>,
}

/// How to restore a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRecord {
    /// Whether the file existed before.
    pub existed: bool,
    /// SHA-256 of the content after connecting, in hexadecimal digits.
    pub hash: String,
    /// The edits that restore the previous content.
    pub edits: Vec<TextEdit>,
    /// The keys of the objects and arrays that were created.
    pub created: Vec<KeyPath>,
}

impl FileRecord {
    /// Returns whether the file still has the content that connecting has written.
    pub(crate) fn matches(&self, text: &str) -> bool {
        self.hash == hash(text)
    }

    /// Returns the content before connecting: exactly if the file is unchanged, else by removing Memoir's keys.
    /// Returns `None` if the file did not exist and nothing of the user is in it.
    pub(crate) fn restore(
        &self,
        content: &HostContent,
        text: &str,
    ) -> Result<Option<String>, crate::error::EditError> {
        let exact = if self.matches(text) { undo(&self.edits, text) } else { None };
        let restored = match exact {
            Some(restored) => restored,
            None => content.remove_from(text, Prune::Created(&self.created))?,
        };
        Ok((self.existed || !content.is_blank(&restored)).then_some(restored))
    }
}

impl Records {
    /// Records a change. If the file was connected before, going back skips the content in between.
    pub(crate) fn add(&mut self, change: &FileChange, content: &HostContent) {
        let Some(after) = &change.after else { return };
        let before = change.before.as_deref();
        let mut created = content.missing_containers(before);
        let mut existed = before.is_some();
        let mut base = before.unwrap_or_default().to_owned();
        if let Some(old) = self.files.get(&change.path)
            && let Some(before) = before
        {
            existed = old.existed;
            // A file that cannot be restored is recorded as it is.
            if let Ok(restored) = old.restore(content, before) {
                base = restored.unwrap_or_default();
            }
            created.extend(
                old.created.iter().filter(|path| !created.contains(path)).cloned().collect::<Vec<_>>(),
            );
        }
        let record = FileRecord { existed, hash: hash(after), edits: edits_back(&base, after), created };
        self.files.insert(change.path.clone(), record);
    }

    /// Returns whether a file was changed by connecting.
    pub fn contains(&self, path: &Path) -> bool {
        self.files.contains_key(path)
    }
}

/// Returns the SHA-256 of a text in hexadecimal digits.
fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}
