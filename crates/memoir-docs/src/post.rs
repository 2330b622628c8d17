//! A post: what it is written from, its draft, and its file.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use memoir_core::{ConversationId, DocumentPassage};
use memoir_recall::WindowMessage;

use crate::front_matter::FrontMatter;

/// What a post is written from.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// The conversations.
    pub conversations: Vec<ConversationId>,
    /// What the first of them is called.
    pub title: String,
    /// What was said, oldest first.
    pub messages: Vec<WindowMessage>,
    /// Who spoke, by the names they have in the talk.
    pub people: Vec<String>,
    /// What was written before and is related.
    pub related: Vec<DocumentPassage>,
    /// How that was found, and what did not work.
    pub log: Vec<String>,
}

/// A post that is not saved yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostDraft {
    /// What stands before it.
    pub front: FrontMatter,
    /// The text.
    pub body: String,
    /// What it puts into someone's mouth that nobody said.
    pub unsaid: Vec<String>,
    /// Whether the model ran out of length in its middle.
    pub is_cut: bool,
}

impl PostDraft {
    /// The post as it is saved.
    pub fn text(&self) -> String {
        format!("{}{}\n", self.front.write(), self.body.trim())
    }
}

/// A post that is saved and filed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Post {
    /// Where it is.
    pub path: PathBuf,
    /// The document that it is.
    pub slug: String,
    /// Why it cannot be found by meaning yet, if so.
    pub not_embedded: Option<String>,
}

/// Why a post could not be saved.
#[derive(Debug, thiserror::Error)]
#[error("the post could not be saved at {}: {source}", path.display())]
pub struct SaveError {
    /// The file or the directory.
    pub path: PathBuf,
    /// What the system reported.
    pub source: io::Error,
}

/// Returns the post in a model's answer: front matter, as far as it can be read, and the body. `None` if there is no body.
pub(crate) fn read_answer(answer: &str) -> Option<(FrontMatter, String)> {
    let mut text = answer.trim();
    // Some put the whole into a fence.
    if let Some(inner) = text.strip_prefix("```").and_then(|text| text.strip_suffix("```")) {
        text = inner.split_once('\n').map_or(inner, |(_, inner)| inner).trim();
    }
    let (mut front, start) = match FrontMatter::read(text) {
        Ok(read) => read,
        // Unreadable front matter is not part of the post. The error quotes the answer, so only `trace` may show it.
        Err(error) => {
            tracing::debug!("ignored the unreadable front matter of a post");
            tracing::trace!(%error, "front matter of a post");
            (FrontMatter::default(), text[3..].find("\n---").map_or(0, |end| end + 7))
        }
    };
    let body = text.get(start..).unwrap_or_default().trim();
    if body.is_empty() {
        return None;
    }
    if front.title.is_none() {
        let line = body.lines().next().unwrap_or_default();
        front.title = line.strip_prefix('#').map(|title| title.trim_start_matches('#').trim().to_owned());
    }
    Some((front, body.to_owned()))
}

/// Writes a post to a new file that only the user may read, and returns its path.
pub(crate) fn save_post(folder: &Path, front: &FrontMatter, text: &str) -> Result<PathBuf, SaveError> {
    let stem = [&front.date, &front.slug].into_iter().flatten().cloned().collect::<Vec<_>>().join("-");
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    let made = builder.create(folder);
    made.map_err(|source| SaveError { path: folder.to_owned(), source })?;
    let mut number = 1;
    loop {
        let name = if number == 1 { format!("{stem}.md") } else { format!("{stem}-{number}.md") };
        let path = folder.join(name);
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let failed = |source: io::Error| SaveError { path: path.clone(), source };
        match options.open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(failed(error)),
            Ok(mut file) => {
                let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
                if let Err(error) = written {
                    // Half a post is none. If it cannot be removed either, the error of writing it matters more.
                    if let Err(error) = fs::remove_file(&path) {
                        tracing::warn!(path = %path.display(), %error, "could not remove half a post");
                    }
                    return Err(failed(error));
                }
                return Ok(fs::canonicalize(&path).unwrap_or(path));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    #[test]
    fn an_answer_is_read_however_it_is_wrapped() {
        let post = "---\ntitle: Paris\ntags: [travel]\n---\n\nWe went.";
        for answer in [post.to_owned(), format!("```markdown\n{post}\n```"), format!("\n\n{post}\n\n")] {
            let (front, body) = read_answer(&answer).unwrap();
            assert_eq!((front.title.as_deref(), body.as_str()), (Some("Paris"), "We went."), "{answer}");
        }
        let (front, body) = read_answer("# A title\n\nText.").unwrap();
        assert_eq!((front.title.as_deref(), body.as_str()), (Some("A title"), "# A title\n\nText."));
        let (front, body) = read_answer("---\ntitle: [broken\n---\nText.").unwrap();
        assert_eq!((front.title, body.as_str()), (None, "Text."));
        assert!(read_answer("---\ntitle: x\n---\n").is_none() && read_answer(" ").is_none());
    }

    #[test]
    fn no_post_takes_the_place_of_another() {
        let folder = tempfile::tempdir().unwrap();
        let front = FrontMatter {
            date: Some("2026-05-01".into()),
            slug: Some("paris".into()),
            ..FrontMatter::default()
        };
        let first = save_post(folder.path(), &front, "one").unwrap();
        let second = save_post(folder.path(), &front, "two").unwrap();
        assert!(first.ends_with("2026-05-01-paris.md") && second.ends_with("2026-05-01-paris-2.md"));
        assert_eq!(fs::read_to_string(first).unwrap(), "one");
    }
}
