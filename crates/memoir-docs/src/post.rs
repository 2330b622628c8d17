//! A post: its source material, its draft, and its file.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use memoir_core::{ConversationId, DocumentPassage};
use memoir_recall::WindowMessage;

use crate::front_matter::FrontMatter;

/// Source material of a post.
#[derive(Debug, Clone, PartialEq)]
pub struct PostMaterial {
    /// Conversations that the messages belong to.
    pub conversations: Vec<ConversationId>,
    /// Title of the conversation of the first message.
    pub title: String,
    /// Messages of the conversations, oldest first.
    pub messages: Vec<WindowMessage>,
    /// Names of the authors of the messages.
    pub people: Vec<String>,
    /// Passages of earlier documents about the same subjects.
    pub related: Vec<DocumentPassage>,
    /// Steps of the search for related documents, and its problems.
    pub log: Vec<String>,
}

/// A post that is not saved yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostDraft {
    /// Front matter of the post.
    pub front: FrontMatter,
    /// Text of the post, in Markdown.
    pub body: String,
    /// Quotations in the post that occur neither in the messages nor in the related documents.
    pub invented_quotations: Vec<String>,
    /// Whether the model reached its output limit before the end of the post.
    pub is_truncated: bool,
}

impl PostDraft {
    /// Returns the post as it is saved: front matter and body.
    pub fn text(&self) -> String {
        format!("{}{}\n", self.front.write(), self.body.trim())
    }
}

/// A post that was saved as a file and stored as a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Post {
    /// Path of the file.
    pub path: PathBuf,
    /// Slug of the document.
    pub slug: String,
    /// Reason why the post is not embedded yet, so that only keywords find it.
    pub not_embedded: Option<String>,
}

/// Reason why a post could not be saved.
#[derive(Debug, thiserror::Error)]
#[error("could not save the post to {}: {source}", path.display())]
pub struct SaveError {
    /// File or directory that could not be written.
    pub path: PathBuf,
    /// Error of the operating system.
    pub source: io::Error,
}

/// Extracts the front matter and the body of a post from a model's answer. Returns `None` if there is no body.
pub(crate) fn read_answer(answer: &str) -> Option<(FrontMatter, String)> {
    let mut text = answer.trim();
    // Some models wrap the whole post in a code fence.
    if let Some(inner) = text.strip_prefix("```").and_then(|text| text.strip_suffix("```")) {
        text = inner.split_once('\n').map_or(inner, |(_, inner)| inner).trim();
    }
    let (mut front, body_start) = match FrontMatter::read(text) {
        Ok(parsed) => parsed,
        // Drop front matter that cannot be parsed. The error quotes the answer, so only `trace` may show it.
        Err(error) => {
            tracing::debug!("dropped front matter that could not be parsed");
            tracing::trace!(%error, "invalid front matter in a post");
            (FrontMatter::default(), text[3..].find("\n---").map_or(0, |end| end + 7))
        }
    };
    let body = text.get(body_start..).unwrap_or_default().trim();
    if body.is_empty() {
        return None;
    }
    if front.title.is_none() {
        let line = body.lines().next().unwrap_or_default();
        front.title = line.strip_prefix('#').map(|title| title.trim_start_matches('#').trim().to_owned());
    }
    Some((front, body.to_owned()))
}

/// Writes a post to a new file that only the user can read, and returns its path.
pub(crate) fn save_post(directory: &Path, front: &FrontMatter, text: &str) -> Result<PathBuf, SaveError> {
    let stem = [&front.date, &front.slug].into_iter().flatten().cloned().collect::<Vec<_>>().join("-");
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory).map_err(|source| SaveError { path: directory.to_owned(), source })?;
    let mut number = 1;
    loop {
        let name = if number == 1 { format!("{stem}.md") } else { format!("{stem}-{number}.md") };
        let path = directory.join(name);
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let failed = |source: io::Error| SaveError { path: path.clone(), source };
        match options.open(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
            Err(error) => return Err(failed(error)),
            Ok(mut file) => {
                let result = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
                if let Err(error) = result {
                    // Remove the incomplete file. The write error is the one to return, even if this fails too.
                    if let Err(error) = fs::remove_file(&path) {
                        tracing::warn!(path = %path.display(), %error, "could not remove an incomplete post");
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
    fn an_answer_is_parsed_with_and_without_a_code_fence() {
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
    fn saving_never_overwrites_a_post() {
        let directory = tempfile::tempdir().unwrap();
        let front = FrontMatter {
            date: Some("2026-05-01".into()),
            slug: Some("paris".into()),
            ..FrontMatter::default()
        };
        let first = save_post(directory.path(), &front, "one").unwrap();
        let second = save_post(directory.path(), &front, "two").unwrap();
        assert!(first.ends_with("2026-05-01-paris.md") && second.ends_with("2026-05-01-paris-2.md"));
        assert_eq!(fs::read_to_string(first).unwrap(), "one");
    }
}
