//! CheckResult and reading the files of an import.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use memoir_core::TimeZone;
use memoir_import::{
    DateOrder, HistoryFormat, ImportError, ImportedHistory, detect_format, read_chatgpt, read_claude,
    read_claude_code, read_codex, read_memoir, read_whatsapp,
};

use super::source_name;
use crate::failure::Failure;

/// Returns the files among `paths`, and those of the format in the directories among them.
pub(super) fn expand(format: HistoryFormat, paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let mut within = Vec::new();
        collect_files(path, format, &mut within)?;
        if within.is_empty() {
            return Err(Failure::failed(format!("{} holds nothing of {}", path.display(), format.name()))
                .hint("Name the files themselves."));
        }
        within.sort();
        files.extend(within);
    }
    Ok(files)
}

fn collect_files(folder: &Path, format: HistoryFormat, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_export = match format {
            HistoryFormat::ChatGpt | HistoryFormat::Claude => {
                name.starts_with("conversations") && name.ends_with(".json")
            }
            _ => name.ends_with(".jsonl"),
        };
        match entry.file_type()? {
            kind if kind.is_dir() => collect_files(&entry.path(), format, files)?,
            _ if is_export => files.push(entry.path()),
            _ => {}
        }
    }
    Ok(())
}

/// Reads the conversations of a file.
pub(super) fn read_history(format: HistoryFormat, file: &Path) -> Result<ImportedHistory, Failure> {
    let text = read_text(file)?;
    let talk = match format {
        HistoryFormat::ChatGpt => read_chatgpt(&text),
        HistoryFormat::Claude => read_claude(&text),
        HistoryFormat::ClaudeCode => read_claude_code(&text),
        HistoryFormat::Codex => read_codex(&text),
        HistoryFormat::Memoir | HistoryFormat::WhatsApp => read_memoir(&text),
    };
    talk.map_err(|error| refusal(file, &text, &error))
}

/// The failure for a file in another format, with the format that it seems to be in.
fn refusal(file: &Path, text: &str, error: &ImportError) -> Failure {
    let failure = Failure::failed(format!("{}: {error}", file.display()));
    match (error, detect_format(text)) {
        (ImportError::NotThis(_), Some(other)) => {
            failure.hint(format!("It looks like {}: memoir import {}.", other.name(), source_name(other)))
        }
        (ImportError::Newer { .. }, _) => failure.hint("Bring this program up to date."),
        _ => failure.hint("docs/getting-started.md tells where each program keeps its history."),
    }
}

/// Reads a chat that WhatsApp exported.
pub(super) fn read_chat(
    file: &Path,
    name: Option<&str>,
    dates: Option<DateOrder>,
    zone: &TimeZone,
) -> Result<ImportedHistory, Failure> {
    let text = read_text(file)?;
    let chat = name.map_or_else(|| chat_name(file), str::to_owned);
    read_whatsapp(&text, &chat, zone, dates).map_err(|error| {
        Failure::failed(format!("{}: {error}", file.display())).hint(
            "In WhatsApp, \"Export chat\" without media makes such a file; --dates says which number of a date comes first.",
        )
    })
}

fn read_text(file: &Path) -> Result<String, Failure> {
    let failed = |reason: String| {
        let failure = Failure::failed(format!("{} cannot be read: {reason}", file.display()));
        if !file.exists() {
            return failure.hint("Look whether it lies there, and give its whole path.");
        }
        match file.extension().is_some_and(|extension| extension == "zip") {
            true => failure.hint("Unpack it first, and give conversations.json."),
            false => failure.hint("Give the file that the program exported."),
        }
    };
    let bytes = fs::read(file).map_err(|error| failed(error.to_string()))?;
    String::from_utf8(bytes).map_err(|_| failed("it is not text (UTF-8)".into()))
}

/// Returns the name of a chat by its file: "WhatsApp Chat with Anna.txt", or "_chat.txt" in a folder of that name.
fn chat_name(file: &Path) -> String {
    let stem =
        |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let mut name = stem(file);
    if name == "_chat" {
        name = file.canonicalize().ok().and_then(|file| file.parent().map(stem)).unwrap_or_default();
    }
    for prefix in ["WhatsApp Chat with ", "WhatsApp Chat - ", "WhatsApp-Chat mit "] {
        if let Some(rest) = name.strip_prefix(prefix) {
            name = rest.to_owned();
        }
    }
    // Browsers number a second download of the same file.
    let numbered = name.strip_suffix(')').and_then(|name| name.rsplit_once(" ("));
    let name = match numbered {
        Some((first, number)) if number.parse::<u32>().is_ok() => first.to_owned(),
        _ => name,
    };
    if name.is_empty() { "WhatsApp".into() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chat_is_called_what_its_file_is_called() {
        for (file, chat) in [
            ("WhatsApp Chat with Anna.txt", "Anna"),
            ("/x/WhatsApp Chat - The family (2).txt", "The family"),
            ("talk.txt", "talk"),
            ("WhatsApp Chat with Class of 2024.txt", "Class of 2024"),
        ] {
            assert_eq!(chat_name(Path::new(file)), chat);
        }
    }
}
