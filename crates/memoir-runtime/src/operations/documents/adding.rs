//! Adding files as documents, and reindexing documents.

use std::path::PathBuf;

use memoir_docs::{AddCounts, AddOutcome, FileSelection, Library, LibraryError, select_files};
use memoir_recall::Recall;
use serde::{Deserialize, Serialize};

use super::{DocumentNames, find_all};
use crate::{
    failure::Failure,
    operations::{Progress, ProgressUnit},
};

/// Request to add files as documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddDocuments {
    /// Files to add, and directories whose text files are added.
    pub paths: Vec<PathBuf>,
}

/// Result of adding files.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct AddReport {
    /// Number of files selected by the request.
    pub examined: u64,
    /// Files that were read, in order.
    pub files: Vec<DocumentFile>,
    /// Number of files by outcome, and number of new chunks.
    pub counts: AddCounts,
    /// Files that could not be read.
    pub skipped: Vec<SkippedFile>,
}

impl AddReport {
    /// Returns an error if a file was skipped, so that scripts notice.
    ///
    /// # Errors
    ///
    /// Fails if [`skipped`](Self::skipped) is not empty.
    pub fn check_complete(&self) -> Result<(), Failure> {
        match self.skipped.len() {
            0 => Ok(()),
            _ if self.files.is_empty() => Err(Failure::failed("no documents were added")
                .hint("Specify text, HTML or PDF files, or directories that contain some.")),
            1 => Err(Failure::failed("1 file was skipped")
                .hint("Fix it and add it again. Files that were already added are not processed twice.")),
            count => Err(Failure::failed(format!("{count} files were skipped"))
                .hint("Fix them and add them again. Files that were already added are not processed twice.")),
        }
    }
}

/// A file that was read as a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DocumentFile {
    /// Path as specified in the request.
    pub path: PathBuf,
    /// Whether the document is new, changed, unchanged, moved or a duplicate.
    pub outcome: AddOutcome,
    /// Name of the document.
    pub slug: String,
    /// Number of new chunks.
    pub chunks: u64,
    /// What the file contains and the document does not, such as images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
}

/// A file that was skipped because it could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SkippedFile {
    /// Path of the skipped file.
    pub path: PathBuf,
    /// Why the file could not be read.
    pub reason: String,
}

impl SkippedFile {
    /// Converts an error about a single file. Any other error is returned as a failure.
    fn from_error(error: LibraryError) -> Result<Self, Failure> {
        match error {
            LibraryError::File { path, reason } => Ok(Self { path, reason: reason.to_string() }),
            error => Err(error.into()),
        }
    }
}

/// Adds files, and the text files in directories. Files that cannot be read are skipped.
pub async fn add(
    request: &AddDocuments,
    recall: &Recall,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<AddReport, Failure> {
    let FileSelection { paths, errors } = select_files(&request.paths);
    let mut report = AddReport::default();
    for error in errors {
        report.skipped.push(SkippedFile::from_error(error)?);
    }
    report.examined = paths.len() as u64;
    let total = Some(report.examined);
    progress(Progress { unit: ProgressUnit::Files, done: 0, total });
    for (path, done) in paths.into_iter().zip(1..) {
        match (Library { recall }).add(&path).await {
            Ok(document) => {
                report.counts.record(&document);
                report.files.push(DocumentFile {
                    path,
                    outcome: document.outcome,
                    slug: document.slug,
                    chunks: document.chunks,
                    lost: document.lost,
                });
            }
            Err(error) => report.skipped.push(SkippedFile::from_error(error)?),
        }
        progress(Progress { unit: ProgressUnit::Files, done, total });
    }
    Ok(report)
}

/// Result of reindexing documents.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ReindexReport {
    /// Number of documents that were reindexed.
    pub reindexed: u64,
    /// Reindexed documents whose file no longer exists. Their stored text was used.
    pub missing: Vec<MissingFile>,
    /// Files that could not be read.
    pub skipped: Vec<SkippedFile>,
}

impl ReindexReport {
    /// Returns an error if a file was skipped, so that scripts notice.
    ///
    /// # Errors
    ///
    /// Fails if [`skipped`](Self::skipped) is not empty.
    pub fn check_complete(&self) -> Result<(), Failure> {
        match self.skipped.is_empty() {
            true => Ok(()),
            false => Err(Failure::failed("some documents could not be reindexed")
                .hint("They keep their previous content.")),
        }
    }
}

/// A document whose file no longer exists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct MissingFile {
    /// Name of the document.
    pub slug: String,
    /// Former path of the file.
    pub source: String,
}

/// Re-reads documents, splits them into chunks with the current settings and deletes their embeddings. Reindexes every
/// document if the request names none.
///
/// # Errors
///
/// Fails if a document does not exist, or if the store cannot be written.
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
            Err(error) => report.skipped.push(SkippedFile::from_error(error)?),
        }
        progress(Progress { unit: ProgressUnit::Documents, done, total });
    }
    Ok(report)
}
