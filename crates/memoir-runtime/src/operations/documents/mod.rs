//! Documents: adding, listing, showing, removing and rereading them.
//!
//! Adding and rereading leave chunks without embeddings. A front end then calls [`embed`], or leaves that to the
//! background workers.

mod adding;
mod embedding;

use std::path::Path;

use memoir_core::{Chunk, Document};
use memoir_docs::Library;
use memoir_recall::Recall;
use memoir_store::Documents;
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

pub use adding::{
    AddDocuments, AddReport, DocumentFile, MissingFile, ReindexReport, SkippedFile, add, reindex,
};
pub use embedding::{EmbedReport, count_unembedded, embed};

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
    use memoir_docs::AddCounts;
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
        assert_eq!(report.skipped, [SkippedFile { path: missing, reason: "file not found".into() }]);
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
