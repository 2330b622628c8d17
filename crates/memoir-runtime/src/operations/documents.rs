//! Documents: adding, listing, showing, removing and rereading them.
//!
//! Adding and rereading leave chunks without embeddings. A front end then calls [`embed`], or leaves that to the
//! background workers.

use std::path::{Path, PathBuf};

use memoir_core::{Chunk, Document, SubjectKind};
use memoir_docs::{AddCounts, AddOutcome, FileSelection, Library, LibraryError, select_files};
use memoir_recall::Recall;
use memoir_store::Documents;
use memoir_workers::{WorkerContext, embed_documents};
use serde::{Deserialize, Serialize};

use super::{Progress, ProgressUnit, workers::WorkerStop};
use crate::failure::Failure;

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
    /// Says how many files were left out.
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

/// Every document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct DocumentList {
    /// The documents, in the order of the store.
    pub documents: Vec<Document>,
}

/// Lists every document.
///
/// # Errors
///
/// Fails if the memory cannot be read.
pub async fn list(store: &dyn Documents) -> Result<DocumentList, Failure> {
    Ok(DocumentList { documents: store.documents().await? })
}

/// A document with its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DocumentDetails {
    /// The document.
    pub document: Document,
    /// Its chunks, in order. They overlap.
    pub chunks: Vec<Chunk>,
    /// Its text.
    pub text: String,
}

/// Shows the document with a name or a number.
///
/// # Errors
///
/// Fails if there is no such document.
pub async fn show(name: &str, recall: &Recall) -> Result<DocumentDetails, Failure> {
    let document = find(name, recall.store.as_ref()).await?;
    let chunks = recall.store.chunks_of(document.id).await?;
    let text = Library { recall }.text(&document).await?;
    Ok(DocumentDetails { document, chunks, text })
}

/// Documents to remove or to read again.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DocumentNames {
    /// Their names or numbers.
    pub names: Vec<String>,
}

/// The documents that were removed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct RemoveReport {
    /// The documents, in the order in which they were named.
    pub removed: Vec<RemovedDocument>,
}

/// A document that was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RemovedDocument {
    /// Name of the document.
    pub slug: String,
    /// Number of chunks that it had.
    pub chunks: u64,
    /// Whether its file was deleted. Only posts that Memoir wrote are.
    pub is_file_deleted: bool,
}

/// Removes documents with everything derived from them. Files outside of `posts` are left alone. A name that does not
/// exist removes nothing.
///
/// # Errors
///
/// Fails if a document does not exist, or if the file of a post cannot be deleted.
pub async fn remove(request: &DocumentNames, recall: &Recall, posts: &Path) -> Result<RemoveReport, Failure> {
    let mut report = RemoveReport::default();
    for document in find_all(&request.names, recall.store.as_ref()).await? {
        let is_file_deleted = Library { recall }.remove(&document, posts).await?;
        report.removed.push(RemovedDocument {
            slug: document.slug,
            chunks: document.chunks,
            is_file_deleted,
        });
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
    /// Says that not every document was read.
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

/// Returns the number of chunks that have no embedding yet.
///
/// # Errors
///
/// Fails if the memory cannot be read.
pub async fn count_unembedded(recall: &Recall) -> Result<u64, Failure> {
    Ok(recall.store.unembedded_count(SubjectKind::Chunk, &recall.embeddable()).await?)
}

/// What came of embedding chunks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct EmbedReport {
    /// Number of chunks that were embedded.
    pub done: u64,
    /// Number of chunks that failed.
    pub failed: u64,
    /// The last error.
    pub last_error: Option<String>,
    /// Why chunks are left, if it is not because of a failure of their own.
    pub stopped: Option<WorkerStop>,
}

/// Embeds all chunks that have no embedding yet.
///
/// # Errors
///
/// Fails if the memory cannot be written.
pub async fn embed(
    context: &WorkerContext,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<EmbedReport, Failure> {
    let mut done = 0;
    let total = Some(count_unembedded(&context.recall).await?);
    progress(Progress { unit: ProgressUnit::Chunks, done, total });
    let mut listen = |step: &memoir_workers::WorkerProgress| {
        if let memoir_workers::WorkerProgress::Worked { done: chunks, .. } = step {
            done += chunks.len() as u64;
            progress(Progress { unit: ProgressUnit::Chunks, done, total });
        }
    };
    let report = embed_documents(context, &mut listen).await?;
    Ok(EmbedReport {
        done: report.done,
        failed: report.failed,
        last_error: report.last_error,
        stopped: report.stopped.map(WorkerStop::from),
    })
}

async fn find_all(names: &[String], store: &dyn Documents) -> Result<Vec<Document>, Failure> {
    let mut documents = Vec::new();
    for name in names {
        documents.push(find(name, store).await?);
    }
    Ok(documents)
}

/// Returns the document with a name or a number.
///
/// # Errors
///
/// Fails if there is no such document.
pub async fn find(name: &str, store: &dyn Documents) -> Result<Document, Failure> {
    store.document(name).await?.ok_or_else(|| {
        Failure::usage(format!("there is no document \"{name}\"")).hint("memoir docs list shows all of them.")
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use std::sync::Arc;

    use memoir_core::{SystemClock, TimeZone};
    use memoir_embed::LocalEmbedder;

    use super::*;
    use crate::operations::database;

    async fn recall() -> Recall {
        let store = database::open_empty().await.unwrap();
        Recall::new(store, Arc::new(LocalEmbedder), Arc::new(SystemClock), TimeZone::UTC)
    }

    #[tokio::test]
    async fn files_are_counted_by_outcome_and_a_missing_one_is_skipped() {
        let (folder, recall) = (tempfile::TempDir::new().unwrap(), recall().await);
        let [first, copy, missing] = ["a.md", "copy.md", "missing.md"].map(|name| folder.path().join(name));
        std::fs::write(&first, "# Tea\n\nGreen tea is steeped at 80 degrees.").unwrap();
        let request = AddDocuments { paths: vec![first.clone(), missing.clone()] };
        let mut steps = Vec::new();
        let report = add(&request, &recall, &mut |progress| steps.push(progress.done)).await.unwrap();
        assert_eq!(report.counts, AddCounts { added: 1, chunks: 1, ..AddCounts::default() });
        assert_eq!(report.skipped, [SkippedFile { path: missing, reason: "there is no such file".into() }]);
        assert_eq!(steps, [0, 1]);
        std::fs::copy(&first, &copy).unwrap();
        let request = AddDocuments { paths: vec![first, copy] };
        let report = add(&request, &recall, &mut |_| {}).await.unwrap();
        assert_eq!(report.counts, AddCounts { unchanged: 1, same: 1, ..AddCounts::default() });
        assert_eq!(serde_json::to_value(&report).unwrap()["files"][1]["outcome"], "same_as");
    }

    #[tokio::test]
    async fn a_name_that_does_not_exist_removes_nothing() {
        let (folder, recall) = (tempfile::TempDir::new().unwrap(), recall().await);
        let path = folder.path().join("tea.md");
        std::fs::write(&path, "# Tea\n\nGreen tea is steeped at 80 degrees.").unwrap();
        let added = add(&AddDocuments { paths: vec![path.clone()] }, &recall, &mut |_| {}).await.unwrap();
        let slug = added.files[0].slug.clone();
        let names = DocumentNames { names: vec![slug.clone(), "coffee".into()] };
        assert!(remove(&names, &recall, folder.path()).await.is_err());
        assert_eq!(list(recall.store.as_ref()).await.unwrap().documents.len(), 1);
        let report =
            remove(&DocumentNames { names: vec![slug.clone()] }, &recall, folder.path()).await.unwrap();
        assert_eq!(report.removed, [RemovedDocument { slug, chunks: 1, is_file_deleted: false }]);
        assert!(path.exists(), "a file of the user's is left alone");
    }

    #[tokio::test]
    async fn a_document_without_its_file_is_read_from_memory() {
        let (folder, recall) = (tempfile::TempDir::new().unwrap(), recall().await);
        let path = folder.path().join("tea.md");
        std::fs::write(&path, "# Tea\n\nGreen tea is steeped at 80 degrees.").unwrap();
        add(&AddDocuments { paths: vec![path.clone()] }, &recall, &mut |_| {}).await.unwrap();
        std::fs::remove_file(path).unwrap();
        let report = reindex(&DocumentNames::default(), &recall, &mut |_| {}).await.unwrap();
        assert_eq!((report.reindexed, report.missing.len(), report.skipped.len()), (1, 1, 0));
        assert_eq!(count_unembedded(&recall).await.unwrap(), 1);
    }
}
