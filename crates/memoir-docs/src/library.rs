//! The library: adds files as documents, and does no work twice.

use std::{
    fs,
    path::{Path, PathBuf},
};

use jiff::Zoned;
use memoir_core::{Chunk, ConversationId, Document, DocumentKind, SubjectKind};
use memoir_recall::{Recall, chunk};
use memoir_redact::without_secrets;
use memoir_store::{Filed, NewDocument, StoreError};
use sha2::{Digest as _, Sha256};

use crate::{
    error::{FileFault, LibraryError},
    front_matter::{FrontMatter, slug_of},
    outcome::{AddOutcome, AddedFile},
};

/// Maximum size of a file in bytes. A larger one was not written by a person.
const LARGEST: u64 = 32 * 1024 * 1024;

/// The documents in a store.
pub struct Library<'a> {
    /// The store, and how documents are cut into chunks.
    pub recall: &'a Recall,
}

/// A file that was read, and what is known of it besides.
pub(crate) struct FileContents<'a> {
    /// Where it is.
    pub(crate) path: &'a Path,
    /// What it contains.
    pub(crate) bytes: &'a [u8],
    /// What kind of document it becomes.
    pub(crate) kind: DocumentKind,
    /// The conversations that it was written from.
    pub(crate) written_from: Vec<ConversationId>,
}

/// A document that was stored.
pub(crate) struct StoredDocument {
    /// Its short name.
    pub(crate) slug: String,
    /// Number of new chunks.
    pub(crate) new_chunks: u64,
}

impl Library<'_> {
    /// Adds a file, unless it is there already.
    ///
    /// # Errors
    ///
    /// Fails with [`LibraryError::File`] if the file cannot be read or is not a text; other files may still be added. Otherwise the
    /// store has failed.
    pub async fn add(&self, path: &Path) -> Result<AddedFile, LibraryError> {
        let failed = |reason: FileFault| LibraryError::File { path: path.to_owned(), reason };
        let full = fs::canonicalize(path).map_err(|error| failed(error.into()))?;
        let source = full.to_string_lossy().into_owned();
        let bytes = read(&full).map_err(failed)?;
        let hash = hash(&bytes);
        let store = &self.recall.store;
        let alike = store.documents_like(&hash, &source).await?;
        let same_file = alike.iter().find(|known| known.source == source);
        if let Some(known) = same_file.filter(|known| known.hash == hash) {
            return Ok(AddedFile { outcome: AddOutcome::Unchanged, slug: known.slug.clone(), chunks: 0 });
        }
        if let Some(known) = alike.iter().find(|known| known.hash == hash && same_file.is_none()) {
            let slug = known.slug.clone();
            if Path::new(&known.source).exists() {
                return Ok(AddedFile { outcome: AddOutcome::SameAs, slug, chunks: 0 });
            }
            store.move_document(known.id, &source).await?;
            return Ok(AddedFile { outcome: AddOutcome::Moved, slug, chunks: 0 });
        }
        let outcome = if same_file.is_some() { AddOutcome::Changed } else { AddOutcome::Added };
        let kind = same_file.map_or(DocumentKind::File, |known| known.kind);
        let contents = FileContents { path: &full, bytes: &bytes, kind, written_from: Vec::new() };
        let stored = self.store_file(contents, hash).await?;
        Ok(AddedFile { outcome, slug: stored.slug, chunks: stored.new_chunks })
    }

    /// Stores the contents of a file, whose checksum is `hash`, as a document.
    pub(crate) async fn store_file(
        &self,
        contents: FileContents<'_>,
        hash: String,
    ) -> Result<StoredDocument, LibraryError> {
        let FileContents { path, bytes, kind, written_from } = contents;
        let failed = |reason: FileFault| LibraryError::File { path: path.to_owned(), reason };
        let text = std::str::from_utf8(bytes).map_err(|_| failed(FileFault::NotUtf8))?;
        if text.trim().is_empty() {
            return Err(failed(FileFault::Empty));
        }
        let (front, body) = match is_markdown(path) {
            true => FrontMatter::read(text).map_err(|error| failed(error.into()))?,
            false => (FrontMatter::default(), 0),
        };
        let body = &text[body..];
        let stem = path.file_stem().map_or("document".into(), |stem| stem.to_string_lossy().into_owned());
        let title = front.title.or_else(|| heading(body)).unwrap_or_else(|| stem.clone());
        let title = without_secrets(&title).into_owned();
        let slug = front.slug.unwrap_or_else(|| slug_of(&title));
        let new = NewDocument {
            slug: if slug.is_empty() { "document".into() } else { slug },
            title,
            date: front.date.unwrap_or_else(|| day_of(path, &self.recall.zone)),
            tags: front.tags,
            kind,
            source: path.to_string_lossy().into_owned(),
            hash,
            // A document that is nothing but front matter is found by it.
            text: if body.trim().is_empty() { text.to_owned() } else { body.to_owned() },
            written_from,
        };
        let filed = self.put(&new).await?;
        let documents = self.recall.store.documents_by_id(&[filed.id]).await?;
        // The store numbers a slug that is taken.
        let slug = documents.into_iter().next().map_or(new.slug, |document| document.slug);
        Ok(StoredDocument { slug, new_chunks: filed.added })
    }

    /// Stores a document, cut into chunks of the size that is set.
    async fn put(&self, new: &NewDocument) -> Result<Filed, StoreError> {
        let size = self.recall.settings.chunk_size();
        let cut = move |text: &str| chunk(text, size);
        self.recall.store.put_document(new, &cut, self.recall.clock.now()).await
    }

    /// Re-reads a document's file, if it still exists, and rebuilds its chunks and embeddings. Returns whether the file exists.
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
        // What is gone from the disk is still remembered.
        let new = NewDocument {
            slug: document.slug.clone(),
            title: document.title.clone(),
            date: document.date.clone(),
            tags: document.tags.clone(),
            kind: document.kind,
            source: document.source.clone(),
            hash: document.hash.clone(),
            text: text_of(&store.chunks_of(document.id).await?),
            written_from: Vec::new(),
        };
        self.put(&new).await?;
        Ok(false)
    }

    /// Returns the text of a document.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub async fn text(&self, document: &Document) -> Result<String, LibraryError> {
        Ok(text_of(&self.recall.store.chunks_of(document.id).await?))
    }

    /// Deletes a document with everything derived from it. The file of a post in the directory `posts` is deleted too, because Memoir
    /// wrote it. Returns whether a file was deleted.
    ///
    /// # Errors
    ///
    /// Fails if the store does, or if the file cannot be deleted.
    pub async fn remove(&self, document: &Document, posts: &Path) -> Result<bool, LibraryError> {
        self.recall.store.delete_document(document.id).await?;
        remove_post_file(document, posts)
    }

    /// Embeds the chunks of a document now.
    pub(crate) async fn embed(&self, slug: &str) -> Result<(), LibraryError> {
        let store = &self.recall.store;
        let Some(document) = store.document(slug).await? else { return Ok(()) };
        let subjects: Vec<_> = store
            .chunks_of(document.id)
            .await?
            .iter()
            .map(|chunk| memoir_core::Subject::new(SubjectKind::Chunk, chunk.id.get()))
            .collect();
        self.recall.embed(&store.embeddable_texts(&subjects).await?).await?;
        Ok(())
    }
}

/// Deletes the file of a post in the directory `posts`; a file anywhere else is the user's own. Returns whether it was deleted.
///
/// # Errors
///
/// Fails if the file exists and cannot be deleted.
pub fn remove_post_file(document: &Document, posts: &Path) -> Result<bool, LibraryError> {
    let path = PathBuf::from(&document.source);
    let lies_there = fs::canonicalize(posts).is_ok_and(|posts| path.parent() == Some(&posts));
    if document.kind != DocumentKind::Post || !lies_there {
        return Ok(false);
    }
    match fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(LibraryError::File { path, reason: FileFault::NotDeleted(error) })
        }
        _ => Ok(true),
    }
}

/// Returns the text that the chunks were cut from.
fn text_of(chunks: &[Chunk]) -> String {
    chunks.iter().map(|chunk| chunk.text.get(chunk.overlap..).unwrap_or_default()).collect()
}

fn read(path: &Path) -> Result<Vec<u8>, FileFault> {
    let kind = fs::metadata(path)?;
    if !kind.is_file() {
        return Err(FileFault::NotAFile);
    }
    if kind.len() > LARGEST {
        return Err(FileFault::TooLarge { limit: LARGEST });
    }
    Ok(fs::read(path)?)
}

/// Returns the checksum of a file.
pub(crate) fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn is_markdown(path: &Path) -> bool {
    path.extension().is_some_and(|extension| {
        extension.eq_ignore_ascii_case("md") || extension.eq_ignore_ascii_case("markdown")
    })
}

/// The first heading, if the text begins with one.
fn heading(text: &str) -> Option<String> {
    let line = text.lines().find(|line| !line.trim().is_empty())?;
    let title = line.trim().strip_prefix('#')?.trim_start_matches('#').trim().trim_end_matches('#').trim();
    (!title.is_empty()).then(|| title.to_owned())
}

/// The day on which a file was last changed.
fn day_of(path: &Path, zone: &memoir_core::TimeZone) -> String {
    let changed = fs::metadata(path).and_then(|kind| kind.modified()).ok();
    let moment = changed.and_then(|changed| jiff::Timestamp::try_from(changed).ok());
    let zoned = moment.map_or_else(Zoned::now, |moment| moment.to_zoned(zone.clone()));
    zoned.date().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heading_is_a_title() {
        assert_eq!(heading("\n# The title #\n\ntext").as_deref(), Some("The title"));
        assert_eq!(heading("text\n# Later"), None);
        assert_eq!(heading("#"), None);
    }
}
