//! Adds files as documents, skipping files that have not changed.

use std::{
    fs,
    path::{Path, PathBuf},
};

use jiff::Zoned;
use memoir_core::{Chunk, ConversationId, Document, DocumentKind, SubjectKind};
use memoir_recall::{Recall, split_into_chunks};
use memoir_redact::without_secrets;
use memoir_store::{DocumentUpdate, NewDocument, StoreError};
use sha2::{Digest as _, Sha256};

use crate::{
    error::{FileFault, LibraryError},
    extract::{Extracted, extract, has_extension},
    front_matter::{FrontMatter, slugify},
    outcome::{AddOutcome, AddedFile},
};

/// Maximum size of a file in bytes. Larger files are unlikely to be prose.
const MAX_FILE_SIZE: u64 = 32 * 1024 * 1024;

/// The documents in a store.
pub struct Library<'a> {
    /// Store, embedder and chunk settings.
    pub recall: &'a Recall,
}

pub(crate) struct FileContents<'a> {
    pub(crate) path: &'a Path,
    pub(crate) bytes: &'a [u8],
    pub(crate) kind: DocumentKind,
    /// Conversations from which a post was written.
    pub(crate) written_from: Vec<ConversationId>,
}

pub(crate) struct StoredDocument {
    /// Slug of the document, as assigned by the store.
    pub(crate) slug: String,
    /// Number of chunks that were not stored before.
    pub(crate) new_chunks: u64,
    /// What the file contains and the document does not.
    pub(crate) lost: Option<String>,
}

impl Library<'_> {
    /// Adds a file as a document, or updates the document that was made from it. Unchanged files are skipped.
    ///
    /// # Errors
    ///
    /// Fails with [`LibraryError::File`] if the file cannot be read or is not text; other files can still be added.
    /// Any other error comes from the store.
    pub async fn add(&self, path: &Path) -> Result<AddedFile, LibraryError> {
        let failed = |reason: FileFault| LibraryError::File { path: path.to_owned(), reason };
        let full_path = fs::canonicalize(path).map_err(|error| failed(error.into()))?;
        let source = full_path.to_string_lossy().into_owned();
        let bytes = read(&full_path).map_err(failed)?;
        let hash = hash(&bytes);
        let store = &self.recall.store;
        let candidates = store.documents_like(&hash, &source).await?;
        let same_file = candidates.iter().find(|document| document.source == source);
        if let Some(document) = same_file.filter(|document| document.hash == hash) {
            return Ok(AddedFile {
                outcome: AddOutcome::Unchanged,
                slug: document.slug.clone(),
                chunks: 0,
                lost: None,
            });
        }
        if let Some(document) =
            candidates.iter().find(|document| document.hash == hash && same_file.is_none())
        {
            let slug = document.slug.clone();
            if Path::new(&document.source).exists() {
                return Ok(AddedFile { outcome: AddOutcome::Duplicate, slug, chunks: 0, lost: None });
            }
            store.move_document(document.id, &source).await?;
            return Ok(AddedFile { outcome: AddOutcome::Moved, slug, chunks: 0, lost: None });
        }
        let outcome = if same_file.is_some() { AddOutcome::Changed } else { AddOutcome::Added };
        let kind = same_file.map_or(DocumentKind::File, |document| document.kind);
        let contents = FileContents { path: &full_path, bytes: &bytes, kind, written_from: Vec::new() };
        let stored = self.store_file(contents, hash).await?;
        Ok(AddedFile { outcome, slug: stored.slug, chunks: stored.new_chunks, lost: stored.lost })
    }

    /// Adds a file that is not on this machine, or updates the document that was made from one with the same source. The
    /// source ends with the name of the file.
    ///
    /// # Errors
    ///
    /// Fails with [`LibraryError::File`] if the file is too large or is not text. Any other error comes from the store.
    pub async fn add_upload(&self, source: &str, bytes: &[u8]) -> Result<AddedFile, LibraryError> {
        let path = Path::new(source);
        if bytes.len() as u64 > MAX_FILE_SIZE {
            let reason = FileFault::TooLarge { limit: MAX_FILE_SIZE };
            return Err(LibraryError::File { path: path.to_owned(), reason });
        }
        let hash = hash(bytes);
        let candidates = self.recall.store.documents_like(&hash, source).await?;
        let former = candidates.into_iter().find(|document| document.source == source);
        let outcome = match former {
            Some(document) if document.hash == hash => {
                let outcome = AddOutcome::Unchanged;
                return Ok(AddedFile { outcome, slug: document.slug, chunks: 0, lost: None });
            }
            Some(_) => AddOutcome::Changed,
            None => AddOutcome::Added,
        };
        let contents = FileContents { path, bytes, kind: DocumentKind::File, written_from: Vec::new() };
        let stored = self.store_file(contents, hash).await?;
        Ok(AddedFile { outcome, slug: stored.slug, chunks: stored.new_chunks, lost: stored.lost })
    }

    /// Stores the contents of a file, whose checksum is `hash`, as a document.
    pub(crate) async fn store_file(
        &self,
        contents: FileContents<'_>,
        hash: String,
    ) -> Result<StoredDocument, LibraryError> {
        let FileContents { path, bytes, kind, written_from } = contents;
        let failed = |reason: FileFault| LibraryError::File { path: path.to_owned(), reason };
        let (owned_path, owned_bytes) = (path.to_owned(), bytes.to_vec());
        let extraction = tokio::task::spawn_blocking(move || extract(&owned_path, &owned_bytes));
        let extracted = extraction.await.unwrap_or(Err(FileFault::Damaged)).map_err(failed)?;
        let Extracted { text, lost } = extracted;
        let text = text.as_str();
        if text.trim().is_empty() {
            return Err(failed(FileFault::Empty));
        }
        let (front, body) = match is_markdown(path) {
            true => FrontMatter::read(text).map_err(|error| failed(error.into()))?,
            false => (FrontMatter::default(), 0),
        };
        let body = &text[body..];
        let stem = path.file_stem().map_or("document".into(), |stem| stem.to_string_lossy().into_owned());
        let title = front.title.or_else(|| leading_heading(body)).unwrap_or_else(|| stem.clone());
        let title = without_secrets(&title).into_owned();
        let slug = front.slug.unwrap_or_else(|| slugify(&title));
        let new = NewDocument {
            slug: if slug.is_empty() { "document".into() } else { slug },
            title,
            date: front.date.unwrap_or_else(|| modification_day(path, &self.recall.zone)),
            tags: front.tags,
            kind,
            source: path.to_string_lossy().into_owned(),
            hash,
            // Index the front matter if the document has no other text.
            text: if body.trim().is_empty() { text.to_owned() } else { body.to_owned() },
            written_from,
        };
        let update = self.put(&new).await?;
        let documents = self.recall.store.documents_by_id(&[update.id]).await?;
        // The store appends a number to a slug that is already in use.
        let slug = documents.into_iter().next().map_or(new.slug, |document| document.slug);
        Ok(StoredDocument { slug, new_chunks: update.added, lost })
    }

    /// Stores a document, split into chunks of the configured size.
    async fn put(&self, new: &NewDocument) -> Result<DocumentUpdate, StoreError> {
        let size = self.recall.settings.chunk_size();
        let split = move |text: &str| split_into_chunks(text, size);
        self.recall.store.put_document(new, &split, self.recall.clock.now()).await
    }

    /// Re-reads a document's file, if it still exists, and rebuilds its chunks and embeddings. Returns whether the
    /// file exists.
    ///
    /// # Errors
    ///
    /// Fails if the file exists and cannot be read, or if the store fails.
    pub async fn reindex(&self, document: &Document) -> Result<bool, LibraryError> {
        let store = &self.recall.store;
        let path = Path::new(&document.source);
        if path.exists() {
            let bytes = read(path).map_err(|reason| LibraryError::File { path: path.to_owned(), reason })?;
            store.delete_chunk_vectors(document.id).await?;
            let contents =
                FileContents { path, bytes: &bytes, kind: document.kind, written_from: Vec::new() };
            self.store_file(contents, hash(&bytes)).await?;
            return Ok(true);
        }
        store.delete_chunk_vectors(document.id).await?;
        // The file no longer exists, so rebuild the document from its stored text.
        let new = NewDocument {
            slug: document.slug.clone(),
            title: document.title.clone(),
            date: document.date.clone(),
            tags: document.tags.clone(),
            kind: document.kind,
            source: document.source.clone(),
            hash: document.hash.clone(),
            text: join_chunks(&store.document_chunks(document.id).await?),
            written_from: Vec::new(),
        };
        self.put(&new).await?;
        Ok(false)
    }

    /// Returns the text of a document.
    ///
    /// # Errors
    ///
    /// Fails if the store returns an error.
    pub async fn text(&self, document: &Document) -> Result<String, LibraryError> {
        Ok(join_chunks(&self.recall.store.document_chunks(document.id).await?))
    }

    /// Deletes a document with its chunks and embeddings. Also deletes the file of a post in the directory `posts`,
    /// because Memoir wrote it. Returns whether a file was deleted.
    ///
    /// # Errors
    ///
    /// Fails if the store returns an error or the file cannot be deleted.
    pub async fn remove(&self, document: &Document, posts: &Path) -> Result<bool, LibraryError> {
        self.recall.store.delete_document(document.id).await?;
        remove_post_file(document, posts)
    }

    /// Embeds the chunks of a document in the foreground.
    pub(crate) async fn embed(&self, slug: &str) -> Result<(), LibraryError> {
        let store = &self.recall.store;
        let Some(document) = store.document(slug).await? else { return Ok(()) };
        let subjects: Vec<_> = store
            .document_chunks(document.id)
            .await?
            .iter()
            .map(|chunk| memoir_core::Subject::new(SubjectKind::Chunk, chunk.id.get()))
            .collect();
        self.recall.embed(&store.embeddable_texts(&subjects).await?).await?;
        Ok(())
    }
}

/// Deletes the file of a post in the directory `posts`. Files elsewhere belong to the user and are not touched.
/// Returns whether the file was deleted.
///
/// # Errors
///
/// Fails if the file exists and cannot be deleted.
pub fn remove_post_file(document: &Document, posts: &Path) -> Result<bool, LibraryError> {
    let path = PathBuf::from(&document.source);
    let is_in_posts = fs::canonicalize(posts).is_ok_and(|posts| path.parent() == Some(&posts));
    if document.kind != DocumentKind::Post || !is_in_posts {
        return Ok(false);
    }
    match fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(LibraryError::File { path, reason: FileFault::NotDeleted(error) })
        }
        _ => Ok(true),
    }
}

/// Joins chunks back into the text they were split from.
fn join_chunks(chunks: &[Chunk]) -> String {
    chunks.iter().map(|chunk| chunk.text.get(chunk.overlap..).unwrap_or_default()).collect()
}

fn read(path: &Path) -> Result<Vec<u8>, FileFault> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(FileFault::NotAFile);
    }
    if metadata.len() > MAX_FILE_SIZE {
        return Err(FileFault::TooLarge { limit: MAX_FILE_SIZE });
    }
    Ok(fs::read(path)?)
}

/// Returns the SHA-256 digest in hexadecimal, by which changed files are detected.
pub(crate) fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn is_markdown(path: &Path) -> bool {
    has_extension(path, &["md", "markdown"])
}

fn leading_heading(text: &str) -> Option<String> {
    let line = text.lines().find(|line| !line.trim().is_empty())?;
    let title = line.trim().strip_prefix('#')?.trim_start_matches('#').trim().trim_end_matches('#').trim();
    (!title.is_empty()).then(|| title.to_owned())
}

fn modification_day(path: &Path, zone: &memoir_core::TimeZone) -> String {
    let modified = fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    let timestamp = modified.and_then(|time| jiff::Timestamp::try_from(time).ok());
    let zoned = timestamp.map_or_else(Zoned::now, |timestamp| timestamp.to_zoned(zone.clone()));
    zoned.date().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leading_heading_becomes_the_title() {
        assert_eq!(leading_heading("\n# The title #\n\ntext").as_deref(), Some("The title"));
        assert_eq!(leading_heading("text\n# Later"), None);
        assert_eq!(leading_heading("#"), None);
    }
}
