//! The library: files in, documents out, and nothing done twice.

use std::{
    fs,
    path::{Path, PathBuf},
};

use ignore::WalkBuilder;
use jiff::Zoned;
use memoir_core::{Chunk, ConversationId, Document, DocumentKind, SubjectKind};
use memoir_recall::{Recall, RecallError, chunk};
use memoir_redact::without_secrets;
use memoir_store::{Filed, NewDocument, StoreError};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::front_matter::{FrontMatter, slug_of};

/// A larger file is no text that someone wrote.
const LARGEST: u64 = 32 * 1024 * 1024;

/// What is taken out of a folder. A file that is named is taken whatever it is called.
const TEXTS: [&str; 4] = ["md", "markdown", "txt", "text"];

/// Why something could not be done.
#[derive(Debug, thiserror::Error)]
pub enum LibraryError {
    /// About one file: the others may be well.
    #[error("{}: {reason}", path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// What is the matter.
        reason: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Memory failed.
    #[error(transparent)]
    Recall(#[from] RecallError),
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It is new.
    Added,
    /// It has changed.
    Changed,
    /// It has not.
    Unchanged,
    /// Another file says the same.
    SameAs,
    /// It is the file that another was.
    Moved,
}

/// A file that was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// What became of it.
    pub outcome: Outcome,
    /// The document that stands for it.
    pub slug: String,
    /// How many chunks are new.
    pub chunks: u64,
}

/// The files that some paths mean, and what could not be looked at.
#[derive(Debug, Default)]
pub struct Files {
    /// Files as they are, and the texts in folders.
    pub found: Vec<PathBuf>,
    /// What is the matter with the others.
    pub faults: Vec<LibraryError>,
}

/// The files that some paths mean.
pub fn files(paths: &[PathBuf]) -> Files {
    let mut files = Files::default();
    for path in paths {
        let fault = |reason: String| LibraryError::File { path: path.clone(), reason };
        match fs::metadata(path) {
            Err(error) => files.faults.push(fault(said(&error))),
            Ok(kind) if kind.is_dir() => {
                let before = files.found.len();
                texts_in(path, &mut files);
                if files.found.len() == before {
                    files
                        .faults
                        .push(fault(format!("there is no .{} file in this folder", TEXTS.join(", ."))));
                }
            }
            Ok(_) => files.found.push(path.clone()),
        }
    }
    let mut seen = std::collections::HashSet::new();
    files.found.retain(|file| seen.insert(file.clone()));
    files
}

/// The texts in a folder and in those below it.
fn texts_in(folder: &Path, files: &mut Files) {
    let mut walk = WalkBuilder::new(folder);
    // What is hidden is not meant; what a version control ignores may be.
    walk.standard_filters(false).hidden(true).follow_links(false).sort_by_file_path(Path::cmp);
    for entry in walk.build() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let reason = error.io_error().map_or_else(|| error.to_string(), said);
                files.faults.push(LibraryError::File {
                    path: folder.to_owned(),
                    reason: format!("something in it: {reason}"),
                });
                continue;
            }
        };
        let is_text = entry
            .path()
            .extension()
            .is_some_and(|extension| TEXTS.iter().any(|text| extension.eq_ignore_ascii_case(text)));
        if is_text && entry.file_type().is_some_and(|kind| kind.is_file()) {
            files.found.push(entry.into_path());
        }
    }
}

fn said(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".into(),
        std::io::ErrorKind::PermissionDenied => "it may not be read".into(),
        _ => error.to_string(),
    }
}

/// Documents, kept in a store.
pub struct Library<'a> {
    /// Where they are kept, and how they are cut.
    pub recall: &'a Recall,
}

impl Library<'_> {
    /// Files a text, unless it is there already.
    pub async fn add(&self, path: &Path) -> Result<Added, LibraryError> {
        let failed = |reason: String| LibraryError::File { path: path.to_owned(), reason };
        let full = fs::canonicalize(path).map_err(|error| failed(said(&error)))?;
        let source = full.to_string_lossy().into_owned();
        let bytes = read(&full).map_err(failed)?;
        let hash = hash(&bytes);
        let store = &self.recall.store;
        let alike = store.documents_like(&hash, &source).await?;
        let same_file = alike.iter().find(|known| known.source == source);
        if let Some(known) = same_file.filter(|known| known.hash == hash) {
            return Ok(Added { outcome: Outcome::Unchanged, slug: known.slug.clone(), chunks: 0 });
        }
        if let Some(known) = alike.iter().find(|known| known.hash == hash && same_file.is_none()) {
            let slug = known.slug.clone();
            if Path::new(&known.source).exists() {
                return Ok(Added { outcome: Outcome::SameAs, slug, chunks: 0 });
            }
            store.move_document(known.id, &source).await?;
            return Ok(Added { outcome: Outcome::Moved, slug, chunks: 0 });
        }
        let outcome = if same_file.is_some() { Outcome::Changed } else { Outcome::Added };
        let kind = same_file.map_or(DocumentKind::File, |known| known.kind);
        let (slug, chunks) = self.file(&full, &bytes, &hash, kind, Vec::new()).await?;
        Ok(Added { outcome, slug, chunks })
    }

    /// Files what a file holds.
    pub(crate) async fn file(
        &self,
        path: &Path,
        bytes: &[u8],
        hash: &str,
        kind: DocumentKind,
        written_from: Vec<ConversationId>,
    ) -> Result<(String, u64), LibraryError> {
        let failed = |reason: String| LibraryError::File { path: path.to_owned(), reason };
        let text = std::str::from_utf8(bytes).map_err(|_| failed("it is not text (UTF-8)".into()))?;
        if text.trim().is_empty() {
            return Err(failed("it is empty".into()));
        }
        let (front, body) = match is_markdown(path) {
            true => FrontMatter::read(text).map_err(failed)?,
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
            hash: hash.to_owned(),
            // A document that is nothing but front matter is found by it.
            text: if body.trim().is_empty() { text.to_owned() } else { body.to_owned() },
            written_from,
        };
        let filed = self.put(&new).await?;
        let documents = self.recall.store.documents_by_id(&[filed.id]).await?;
        Ok((documents.into_iter().next().map_or(new.slug, |document| document.slug), filed.added))
    }

    /// Files a document, cut as is set.
    async fn put(&self, new: &NewDocument) -> Result<Filed, StoreError> {
        let size = self.recall.settings.chunk_size();
        let cut = move |text: &str| chunk(text, size);
        self.recall.store.put_document(new, &cut, self.recall.clock.now()).await
    }

    /// Reads a document's file again, if it is still there, cuts it anew and has all its vectors made anew. Says whether the
    /// file was there.
    pub async fn reindex(&self, document: &Document) -> Result<bool, LibraryError> {
        let store = &self.recall.store;
        let path = Path::new(&document.source);
        if path.exists() {
            let bytes = read(path).map_err(|reason| LibraryError::File { path: path.to_owned(), reason })?;
            store.delete_chunk_vectors(document.id).await?;
            self.file(path, &bytes, &hash(&bytes), document.kind, Vec::new()).await?;
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

    /// The text of a document.
    pub async fn text(&self, document: &Document) -> Result<String, LibraryError> {
        Ok(text_of(&self.recall.store.chunks_of(document.id).await?))
    }

    /// Forgets a document with everything derived from it. The file of a post that lies in `posts` goes too: it was made here.
    /// Says whether one did.
    pub async fn remove(&self, document: &Document, posts: &Path) -> Result<bool, LibraryError> {
        self.recall.store.delete_document(document.id).await?;
        remove_post_file(document, posts)
    }

    /// Gives a document its vectors, here and now.
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

/// Deletes the file of a post that lies in `posts`; what lies elsewhere is the user's own. Says whether it did.
pub fn remove_post_file(document: &Document, posts: &Path) -> Result<bool, LibraryError> {
    let path = PathBuf::from(&document.source);
    let lies_there = fs::canonicalize(posts).is_ok_and(|posts| path.parent() == Some(&posts));
    if document.kind != DocumentKind::Post || !lies_there {
        return Ok(false);
    }
    match fs::remove_file(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(LibraryError::File { path, reason: error.to_string() })
        }
        _ => Ok(true),
    }
}

/// The text that chunks were cut from.
fn text_of(chunks: &[Chunk]) -> String {
    chunks.iter().map(|chunk| chunk.text.get(chunk.overlap..).unwrap_or_default()).collect()
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    let kind = fs::metadata(path).map_err(|error| said(&error))?;
    if !kind.is_file() {
        return Err("it is not a file".into());
    }
    if kind.len() > LARGEST {
        return Err(format!("it is larger than {} MB", LARGEST / 1024 / 1024));
    }
    fs::read(path).map_err(|error| said(&error))
}

/// A sum over a file.
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
