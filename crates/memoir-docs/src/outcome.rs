//! What became of files that were added, and how many of each.

use serde::Serialize;

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AddOutcome {
    /// It is new.
    Added,
    /// It was there, and has changed.
    Changed,
    /// It was there, and has not changed.
    Unchanged,
    /// Another file has the same contents.
    SameAs,
    /// A known file was moved here.
    Moved,
}

/// A file that was added, or found to be there already.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddedFile {
    /// What became of it.
    pub outcome: AddOutcome,
    /// The short name of its document.
    pub slug: String,
    /// Number of new chunks.
    pub chunks: u64,
}

/// Counts of what became of many files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct AddCounts {
    /// New files.
    pub added: u64,
    /// Files that have changed.
    pub changed: u64,
    /// Files that have not changed.
    pub unchanged: u64,
    /// Files with the same contents as another one.
    pub same: u64,
    /// Known files that were moved.
    pub moved: u64,
    /// New chunks in all of them.
    pub chunks: u64,
}

impl AddCounts {
    /// Counts one more file.
    pub fn record(&mut self, file: &AddedFile) {
        let count = match file.outcome {
            AddOutcome::Added => &mut self.added,
            AddOutcome::Changed => &mut self.changed,
            AddOutcome::Unchanged => &mut self.unchanged,
            AddOutcome::SameAs => &mut self.same,
            AddOutcome::Moved => &mut self.moved,
        };
        *count += 1;
        self.chunks += file.chunks;
    }

    /// Returns the number of files that were counted.
    pub const fn files(&self) -> u64 {
        self.added + self.changed + self.unchanged + self.same + self.moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_outcome_is_counted_by_itself() {
        let mut counts = AddCounts::default();
        let outcomes = [
            AddOutcome::Added,
            AddOutcome::Added,
            AddOutcome::Changed,
            AddOutcome::Unchanged,
            AddOutcome::SameAs,
            AddOutcome::Moved,
        ];
        for outcome in outcomes {
            counts.record(&AddedFile { outcome, slug: "a".into(), chunks: 2 });
        }
        let expected = AddCounts { added: 2, changed: 1, unchanged: 1, same: 1, moved: 1, chunks: 12 };
        assert_eq!((counts, counts.files()), (expected, 6));
    }
}
