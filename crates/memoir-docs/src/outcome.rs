//! Outcomes of adding files, and their counts.

use serde::Serialize;

/// Outcome of adding a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AddOutcome {
    /// The file is new.
    Added,
    /// The file was added earlier and has changed since.
    Changed,
    /// The file was added earlier and has not changed.
    Unchanged,
    /// Another document has the same contents.
    #[serde(rename = "same_as")]
    Duplicate,
    /// The file was added earlier under another path, where it no longer exists.
    Moved,
}

impl AddOutcome {
    /// Returns the name of the outcome.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
            Self::Duplicate => "same_as",
            Self::Moved => "moved",
        }
    }
}

/// Result of adding one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedFile {
    /// Outcome of adding the file.
    pub outcome: AddOutcome,
    /// Slug of the document.
    pub slug: String,
    /// Number of chunks that were not stored before.
    pub chunks: u64,
    /// What the file contains and the document does not, such as images.
    pub lost: Option<String>,
}

/// Number of files with each outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct AddCounts {
    /// Files that were not added before.
    pub added: u64,
    /// Files that have changed.
    pub changed: u64,
    /// Files that have not changed.
    pub unchanged: u64,
    /// Files with the same contents as another document.
    pub same: u64,
    /// Files that were moved since they were added.
    pub moved: u64,
    /// New chunks of all files.
    pub chunks: u64,
}

impl AddCounts {
    /// Adds a file to the counts.
    pub fn record(&mut self, file: &AddedFile) {
        let count = match file.outcome {
            AddOutcome::Added => &mut self.added,
            AddOutcome::Changed => &mut self.changed,
            AddOutcome::Unchanged => &mut self.unchanged,
            AddOutcome::Duplicate => &mut self.same,
            AddOutcome::Moved => &mut self.moved,
        };
        *count += 1;
        self.chunks += file.chunks;
    }

    /// Returns the total number of files.
    pub const fn files(&self) -> u64 {
        self.added + self.changed + self.unchanged + self.same + self.moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_outcome_has_its_own_count() {
        let mut counts = AddCounts::default();
        let outcomes = [
            AddOutcome::Added,
            AddOutcome::Added,
            AddOutcome::Changed,
            AddOutcome::Unchanged,
            AddOutcome::Duplicate,
            AddOutcome::Moved,
        ];
        for outcome in outcomes {
            counts.record(&AddedFile { outcome, slug: "a".into(), chunks: 2, lost: None });
        }
        let expected = AddCounts { added: 2, changed: 1, unchanged: 1, same: 1, moved: 1, chunks: 12 };
        assert_eq!((counts, counts.files()), (expected, 6));
    }
}
