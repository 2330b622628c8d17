//! Adding, listing, showing, removing and reindexing documents.
//!
//! Adding and reindexing create chunks without embeddings. A front end then either calls [`embed`] or relies on the
//! background workers.

mod adding;
mod embedding;

use std::path::{Path, PathBuf};

use memoir_core::{Chunk, Document, DocumentKind};
use memoir_docs::Library;
use memoir_recall::Recall;
use memoir_store::Documents;
use serde::{Deserialize, Serialize};

use crate::{
    copies::{self, CopyDeletion},
    failure::Failure,
    home::Home,
};

pub use adding::{
    AddDocuments, AddReport, DocumentFile, MissingFile, ReindexReport, SkippedFile, add, reindex,
};
pub use embedding::{EmbedReport, count_unembedded, embed};

/// All documents, serialized as an array.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct DocumentList {
    /// Documents in the order of the store.
    pub documents: Vec<Document>,
}

/// Returns all documents with their metadata.
pub async fn list(store: &dyn Documents) -> Result<DocumentList, Failure> {
    Ok(DocumentList { documents: store.documents().await? })
}

/// Determines the projects of files that have none yet. `find_scope` returns the project of a directory.
///
/// # Errors
///
/// Fails if the store fails.
pub async fn assign_projects(
    store: &(impl Documents + ?Sized),
    find_scope: impl Fn(&Path) -> String + Send,
) -> Result<(), Failure> {
    for document in store.documents().await? {
        let is_unassigned = document.kind == DocumentKind::File && document.project.is_none();
        if let Some(directory) = Path::new(&document.source).parent().filter(|_| is_unassigned) {
            store.set_document_project(document.id, &find_scope(directory)).await?;
        }
    }
    Ok(())
}

/// A document with its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DocumentDetails {
    /// Metadata of the document.
    pub document: Document,
    /// Chunks in order. Neighboring chunks overlap.
    pub chunks: Vec<Chunk>,
    /// Full text of the document.
    pub text: String,
}

/// Returns the document with this name or ID, including its text.
pub async fn show(name: &str, recall: &Recall) -> Result<DocumentDetails, Failure> {
    let document = find(name, recall.store.as_ref()).await?;
    let chunks = recall.store.document_chunks(document.id).await?;
    let text = Library { recall }.text(&document).await?;
    Ok(DocumentDetails { document, chunks, text })
}

/// Request to remove or reindex documents.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct DocumentNames {
    /// Names or IDs of the documents.
    pub names: Vec<String>,
}

/// Result of removing documents.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct RemoveReport {
    /// Removed documents, in the order of the request.
    pub removed: Vec<RemovedDocument>,
    /// Copies of the memory, made by a restore or a repair, that may still contain the text.
    pub copies: Vec<PathBuf>,
}

/// A document that was removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RemovedDocument {
    /// Name of the removed document.
    pub slug: String,
    /// Number of chunks that were removed with the document.
    pub chunks: u64,
    /// Whether the file was deleted too. Only the files of posts written by Memoir are deleted.
    pub is_file_deleted: bool,
}

/// Removes documents and everything derived from them. Only deletes files of posts. If a document does not exist,
/// nothing is removed.
///
/// # Errors
///
/// Fails if a document does not exist, or if the file of a post cannot be deleted.
pub async fn remove(request: &DocumentNames, recall: &Recall, home: &Home) -> Result<RemoveReport, Failure> {
    let mut report = RemoveReport::default();
    for document in find_all(&request.names, recall.store.as_ref()).await? {
        let posts = home.posts();
        let delete = async { Ok(Library { recall }.remove(&document, &posts).await?) };
        let is_file_deleted;
        (is_file_deleted, report.copies) =
            copies::forget(home, &CopyDeletion::Document(document.id), delete).await?;
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

/// Returns the document with this name or ID.
///
/// # Errors
///
/// Fails if the document does not exist.
pub async fn find(name: &str, store: &dyn Documents) -> Result<Document, Failure> {
    store.document(name).await?.ok_or_else(|| {
        Failure::usage(format!("there is no document \"{name}\""))
            .hint("Run `memoir docs list` to see all documents.")
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
        let (directory, recall) = (tempfile::TempDir::new().unwrap(), recall().await);
        let [first, copy, missing] =
            ["a.md", "copy.md", "missing.md"].map(|name| directory.path().join(name));
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
    async fn an_unknown_name_removes_nothing() {
        let (directory, recall) = (tempfile::TempDir::new().unwrap(), recall().await);
        let path = directory.path().join("tea.md");
        std::fs::write(&path, "# Tea\n\nGreen tea is steeped at 80 degrees.").unwrap();
        let report = add(&AddDocuments { paths: vec![path.clone()] }, &recall, &mut |_| {}).await.unwrap();
        let slug = report.files[0].slug.clone();
        let names = DocumentNames { names: vec![slug.clone(), "coffee".into()] };
        let home = Home::in_directory(directory.path());
        assert!(remove(&names, &recall, &home).await.is_err());
        assert_eq!(list(recall.store.as_ref()).await.unwrap().documents.len(), 1);
        let report = remove(&DocumentNames { names: vec![slug.clone()] }, &recall, &home).await.unwrap();
        assert_eq!(report.removed, [RemovedDocument { slug, chunks: 1, is_file_deleted: false }]);
        assert!(path.exists(), "a file outside the posts directory is not deleted");
    }

    #[tokio::test]
    async fn a_document_whose_file_is_missing_is_reindexed_from_its_stored_text() {
        let (directory, recall) = (tempfile::TempDir::new().unwrap(), recall().await);
        let path = directory.path().join("tea.md");
        std::fs::write(&path, "# Tea\n\nGreen tea is steeped at 80 degrees.").unwrap();
        add(&AddDocuments { paths: vec![path.clone()] }, &recall, &mut |_| {}).await.unwrap();
        std::fs::remove_file(path).unwrap();
        let report = reindex(&DocumentNames::default(), &recall, &mut |_| {}).await.unwrap();
        assert_eq!((report.reindexed, report.missing.len(), report.skipped.len()), (1, 1, 0));
        assert_eq!(count_unembedded(&recall).await.unwrap(), 1);
    }
}
