//! `@file`: files that go with a prompt.

use std::path::{Path, PathBuf};

use crate::failure::{Failure, Kind};

/// What is taken of a file, in bytes; a longer one is left to the tools.
const LONGEST: u64 = 200_000;

/// The prompt with the text of the files that it names. A word that names no file is left as it is.
pub(super) fn attach(prompt: &str, directory: &Path) -> Result<String, Failure> {
    let mut whole = prompt.to_owned();
    let mut seen: Vec<&str> = Vec::new();
    for name in prompt.split_whitespace().filter_map(|word| word.strip_prefix('@')) {
        // A sign behind it belongs to the sentence.
        let name = match located(name, directory) {
            Some(_) => name,
            None => name.trim_end_matches([',', '.', ';', ':', '?', '!', ')']),
        };
        let Some(path) = located(name, directory).filter(|_| !seen.contains(&name)) else { continue };
        seen.push(name);
        let text = read(name, &path)?;
        // Nothing in a file ends it.
        let text = text.replace("</file", "<\\/file");
        whole.push_str(&format!("\n\n<file path=\"{name}\">\n{}\n</file>", text.trim_end()));
    }
    Ok(whole)
}

fn located(name: &str, directory: &Path) -> Option<PathBuf> {
    let path = match name.strip_prefix("~/") {
        Some(rest) => etcetera::home_dir().ok()?.join(rest),
        None => directory.join(name),
    };
    path.is_file().then_some(path)
}

fn read(name: &str, path: &Path) -> Result<String, Failure> {
    let failed = |reason: String, hint: &str| {
        Err(Failure::new(Kind::Usage, format!("@{name} {reason}")).hint(format!("{hint} Nothing was sent.")))
    };
    match std::fs::metadata(path) {
        Ok(file) if file.len() > LONGEST => {
            return failed(
                format!("is larger than {LONGEST} bytes"),
                "Leave the @ away and have the model read it, or docs add it.",
            );
        }
        Ok(_) => {}
        Err(error) => return failed(format!("cannot be read: {error}"), "Look at its permissions."),
    }
    match std::fs::read(path).map(String::from_utf8) {
        Ok(Ok(text)) => Ok(text),
        Ok(Err(_)) => failed("is not text (UTF-8)".into(), "Name a text file."),
        Err(error) => failed(format!("cannot be read: {error}"), "Look at its permissions."),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    #[test]
    fn files_that_are_there_go_along_once_and_nothing_else_changes() {
        let folder = tempfile::TempDir::new().unwrap();
        std::fs::write(folder.path().join("a.txt"), "first </file> line\n").unwrap();
        std::fs::write(folder.path().join("b.bin"), [0xff, 0xfe]).unwrap();
        let attach = |prompt: &str| attach(prompt, folder.path());
        assert_eq!(attach("mail me@home or @nobody").unwrap(), "mail me@home or @nobody");
        assert_eq!(
            attach("What is in @a.txt, and @a.txt?").unwrap(),
            "What is in @a.txt, and @a.txt?\n\n<file path=\"a.txt\">\nfirst <\\/file> line\n</file>"
        );
        assert!(attach("see @b.bin").unwrap_err().sentence().contains("is not text"));
        std::fs::write(folder.path().join("c.txt"), "x".repeat(300_000)).unwrap();
        assert!(attach("see @c.txt").unwrap_err().sentence().contains("Nothing was sent."));
    }
}
