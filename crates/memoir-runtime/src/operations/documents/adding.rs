//! Adding files, and reading documents again.

use std::path::PathBuf;

use memoir_docs::{AddCounts, AddOutcome, FileSelection, Library, LibraryError, select_files};
use memoir_recall::Recall;
use serde::{Deserialize, Serialize};

use super::{DocumentNames, find_all};
use crate::{
    failure::Failure,
    operations::{Progress, ProgressUnit},
};

/// Files and directories to add.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddDocuments {
    /// Files, and directories whose text files are added.
    pub paths: Vec<PathBuf>,
}

/// What became of added files.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct AddReport {
    /// Number of files that the request means.
    pub examined: u64,
    /// Every file that was read, in order.
    pub files: Vec<DocumentFile>,
    /// Number of files with each outcome, and of new chunks.
    pub counts: AddCounts,
    /// Files that could not be read.
    pub skipped: Vec<SkippedFile>,
}

impl AddReport {
    /// Fails if a file was left out, so that a script notices.
    ///
    /// # Errors
    ///
    /// Fails with the number of files that were left out.
    pub fn check_complete(&self) -> Result<(), Failure> {
        match self.skipped.len() {
            0 => Ok(()),
            _ if self.files.is_empty() => Err(Failure::failed("nothing was added")
                .hint("Give files of text (UTF-8), or folders that hold .md or .txt files.")),
            1 => Err(Failure::failed("one was left out")
                .hint("Mend it and add it again: the others are not read twice.")),
            count => Err(Failure::failed(format!("{count} were left out"))
                .hint("Mend them and add them again: the others are not read twice.")),
        }
    }
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DocumentFile {
    /// Path of the file, as it was given.
    pub path: PathBuf,
    /// What became of it.
    pub outcome: AddOutcome,
    /// Name of its document.
    pub slug: String,
    /// Number of new chunks.
    pub chunks: u64,
}

/// A file that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedFile {
    /// Path of the file.
    pub path: PathBuf,
    /// Why it could not be read.
    pub reason: String,
}

impl SkippedFile {
    /// Returns the file that an error is about. Any other error stops the operation.
    fn new(error: LibraryError) -> Result<Self, Failure> {
        match error {
            LibraryError::File { path, reason } => Ok(Self { path, reason: reason.to_string() }),
            error => Err(error.into()),
        }
    }
}

/// Adds files, and the text files in directories. A file that cannot be read does not keep the others out.
///
/// # Errors
///
/// Fails if the memory cannot be written.
pub async fn add(
    request: &AddDocuments,
    recall: &Recall,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<AddReport, Failure> {
    let FileSelection { found, faults } = select_files(&request.paths);
    let mut report = AddReport::default();
    for fault in faults {
        report.skipped.push(SkippedFile::new(fault)?);
    }
    report.examined = found.len() as u64;
    let total = Some(report.examined);
    progress(Progress { unit: ProgressUnit::Files, done: 0, total });
    for (path, done) in found.into_iter().zip(1..) {
        match (Library { recall }).add(&path).await {
            Ok(added) => {
                report.counts.record(&added);
                report.files.push(DocumentFile {
                    path,
                    outcome: added.outcome,
                    slug: added.slug,
                    chunks: added.chunks,
                });
            }
            Err(error) => report.skipped.push(SkippedFile::new(error)?),
        }
        progress(Progress { unit: ProgressUnit::Files, done, total });
    }
    Ok(report)
}

/// What became of documents that were read again.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ReindexReport {
    /// Number of documents that were cut into chunks again.
    pub reindexed: u64,
    /// Those of them whose file no longer exists: their stored text was used.
    pub missing: Vec<MissingFile>,
    /// Files that could not be read.
    pub skipped: Vec<SkippedFile>,
}

impl ReindexReport {
    /// Fails if a document could not be read again, so that a script notices.
    ///
    /// # Errors
    ///
    /// Fails if a document could not be read.
    pub fn check_complete(&self) -> Result<(), Failure> {
        match self.skipped.is_empty() {
            true => Ok(()),
            false => Err(Failure::failed("not everything was read anew")
                .hint("What could not be read is remembered as it was.")),
        }
    }
}

/// A document whose file no longer exists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MissingFile {
    /// Name of the document.
    pub slug: String,
    /// Path where the file was.
    pub source: String,
}

/// Reads documents again, or all if none is named: cuts them with the present settings and drops their embeddings.
///
/// # Errors
///
/// Fails if a document does not exist, or if the memory cannot be written.
pub async fn reindex(
    request: &DocumentNames,
    recall: &Recall,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<ReindexReport, Failure> {
    let documents = match request.names.as_slice() {
        [] => recall.store.documents().await?,
        names => find_all(names, recall.store.as_ref()).await?,
    };
    let mut report = ReindexReport::default();
    let total = Some(documents.len() as u64);
    progress(Progress { unit: ProgressUnit::Documents, done: 0, total });
    for (document, done) in documents.into_iter().zip(1..) {
        match (Library { recall }).reindex(&document).await {
            Ok(has_file) => {
                report.reindexed += 1;
                if !has_file {
                    report.missing.push(MissingFile { slug: document.slug, source: document.source });
                }
            }
            Err(error) => report.skipped.push(SkippedFile::new(error)?),
        }
        progress(Progress { unit: ProgressUnit::Documents, done, total });
    }
    Ok(report)
}
