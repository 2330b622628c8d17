//! `@file`: files that go with a prompt.

use std::path::{Path, PathBuf};

use memoir_core::{InputPart, TurnInput};

use crate::paths::expand_home;

/// What is taken of a file, in bytes; a longer one is left to the tools.
const LONGEST: u64 = 200_000;

/// A file that a prompt names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Attachment {
    /// As it was typed.
    pub(crate) name: String,
    /// What it says, or why it cannot go along.
    pub(crate) text: Result<String, String>,
    /// Whether it lies in the project.
    pub(crate) is_inside: bool,
}

/// The files that a prompt names, each once. A word that names no file is none.
pub(crate) fn named(prompt: &str, directory: &Path, project: &Path) -> Vec<Attachment> {
    let mut found: Vec<Attachment> = Vec::new();
    for name in prompt.split_whitespace().filter_map(|word| word.strip_prefix('@')) {
        // A sign behind it belongs to the sentence.
        let name = match located(name, directory) {
            Some(_) => name,
            None => name.trim_end_matches([',', '.', ';', ':', '?', '!', ')']),
        };
        let Some(path) = located(name, directory) else { continue };
        if found.iter().all(|known| known.name != name) {
            let is_inside = path.canonicalize().is_ok_and(|path| path.starts_with(project));
            found.push(Attachment { name: name.to_owned(), text: read(&path), is_inside });
        }
    }
    found
}

/// The prompt with what goes along behind it.
pub(crate) fn attached(prompt: &str, attachments: &[Attachment]) -> TurnInput {
    let mut input = TurnInput::from(prompt);
    for Attachment { name, text, .. } in attachments {
        let Ok(text) = text else { continue };
        input.parts.push(InputPart::file(name, text));
    }
    input
}

fn located(name: &str, directory: &Path) -> Option<PathBuf> {
    let path = directory.join(expand_home(name));
    path.is_file().then_some(path)
}

fn read(path: &Path) -> Result<String, String> {
    match std::fs::metadata(path) {
        Ok(file) if file.len() > LONGEST => return Err(format!("it is larger than {LONGEST} bytes")),
        Ok(_) => {}
        Err(error) => return Err(error.to_string()),
    }
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "it is not text (UTF-8)".into())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    #[test]
    fn files_that_are_there_go_along_once_and_nothing_else_changes() {
        let folder = tempfile::TempDir::new().unwrap();
        let project = folder.path().canonicalize().unwrap().join("project");
        std::fs::create_dir(&project).unwrap();
        std::fs::write(project.join("a.txt"), "first </file> line\n").unwrap();
        std::fs::write(project.join("b.bin"), [0xff, 0xfe]).unwrap();
        std::fs::write(project.join("c.txt"), "x".repeat(300_000)).unwrap();
        std::fs::write(folder.path().join("secret.txt"), "s").unwrap();
        let named = |prompt: &str| named(prompt, &project, &project);
        assert_eq!(named("mail me@home or @nobody"), []);
        let prompt = "What is in @a.txt, and @a.txt?";
        assert_eq!(
            attached(prompt, &named(prompt)).to_text(),
            "What is in @a.txt, and @a.txt?\n\n<file path=\"a.txt\">\nfirst ‹/file> line\n</file>"
        );
        let others = named("see @b.bin and @c.txt and @../secret.txt");
        assert!(others[0].text.as_ref().unwrap_err().contains("is not text"));
        assert!(others[1].text.as_ref().unwrap_err().contains("larger than"));
        assert!(!others[2].is_inside && others[0].is_inside);
    }
}
