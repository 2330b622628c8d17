//! Finding and reading the files of an import.

use std::{
    fs::{self, File},
    io::{self, Read as _, Seek as _},
    path::{Path, PathBuf},
    time::SystemTime,
};

use memoir_core::{Clock as _, SystemClock, TimeZone, Timestamp};
use memoir_import::{
    DateOrder, HistoryFormat, ImportError, ImportedHistory, aichat_session_name, detect_format, is_archive,
    is_database, read_aichat, read_archive, read_chatgpt, read_claude, read_claude_code, read_codex,
    read_copilot, read_database, read_gemini, read_gemini_cli, read_memoir, read_open_webui, read_opencode,
    read_opencode_files, read_whatsapp, whatsapp_chat_name,
};

use crate::failure::Failure;

/// Number of bytes at the beginning of a file that show whether it is an archive or a database.
const HEAD_BYTES: u64 = 16;

/// Returns the files in `paths`, replacing each directory with the files of `format` that it contains.
pub(super) fn expand(format: HistoryFormat, paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let mut directory_files = Vec::new();
        collect_files(path, format, &mut directory_files)?;
        if directory_files.is_empty() {
            return Err(Failure::failed(format!("{} contains no {} history", path.display(), format.name()))
                .hint("Specify the files themselves."));
        }
        directory_files.sort();
        files.extend(directory_files);
    }
    Ok(files)
}

fn collect_files(directory: &Path, format: HistoryFormat, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        match entry.file_type()? {
            kind if kind.is_dir() => collect_files(&entry.path(), format, files)?,
            _ if format.includes_file(&entry.path()) => files.push(entry.path()),
            _ => {}
        }
    }
    Ok(())
}

/// Reads a file. `zone` is the time zone of times that have none.
pub(super) async fn read_history(
    format: HistoryFormat,
    file: &Path,
    zone: &TimeZone,
) -> Result<ImportedHistory, Failure> {
    let (path, zone) = (file.to_owned(), zone.clone());
    // Parsing a large file blocks, so do it on another thread to keep the caller responsive to interrupts.
    let handle = tokio::task::spawn_blocking(move || match open(&path)? {
        FileContent::Text(text) => parse(format, &path, &text, &zone)
            .map(Some)
            .map_err(|error| import_failure(&path, detect_format(&text), &error)),
        FileContent::Archive(archive) => read_zip(format, &path, archive, &zone).map(Some),
        FileContent::Database => Ok(None),
    });
    let history = handle
        .await
        .map_err(|error| Failure::failed(format!("could not read {}: {error}", file.display())))??;
    match history {
        Some(history) => Ok(history),
        None => read_database(format, file).await.map_err(|error| import_failure(file, None, &error)),
    }
}

fn read_zip(
    format: HistoryFormat,
    file: &Path,
    archive: File,
    zone: &TimeZone,
) -> Result<ImportedHistory, Failure> {
    let mut detected = None;
    let mut read = |entry: &str, text: &str| {
        let history = parse(format, Path::new(entry), text, zone);
        if history.is_err() {
            detected = detect_format(text);
        }
        history
    };
    let result = read_archive(archive, format, &mut read);
    result.map_err(|error| import_failure(file, detected, &error))
}

fn parse(
    format: HistoryFormat,
    file: &Path,
    text: &str,
    zone: &TimeZone,
) -> Result<ImportedHistory, ImportError> {
    match format {
        HistoryFormat::AiChat => read_aichat(text, &aichat_session_name(file), modification_time(file), zone),
        HistoryFormat::ChatGpt => read_chatgpt(text),
        HistoryFormat::Claude => read_claude(text),
        HistoryFormat::ClaudeCode => read_claude_code(text),
        HistoryFormat::Codex => read_codex(text),
        HistoryFormat::Copilot => {
            // A session of an older version has no description.
            let workspace = fs::read_to_string(file.with_file_name("workspace.yaml")).ok();
            read_copilot(text, workspace.filter(|_| file.ends_with("events.jsonl")).as_deref())
        }
        HistoryFormat::Gemini => read_gemini(text),
        HistoryFormat::GeminiCli => {
            // Older versions do not write it.
            let directory = file.ancestors().nth(2);
            let project =
                directory.and_then(|directory| fs::read_to_string(directory.join(".project_root")).ok());
            read_gemini_cli(text, project.as_deref())
        }
        HistoryFormat::OpenCode => read_opencode(text).or_else(|_| read_opencode_files(file)),
        HistoryFormat::OpenWebUi => read_open_webui(text),
        HistoryFormat::Cursor => Err(ImportError::WrongFormat("a state.vscdb of Cursor")),
        HistoryFormat::Llm => Err(ImportError::WrongFormat("the logs.db of llm")),
        HistoryFormat::Memoir => read_memoir(text),
        HistoryFormat::WhatsApp => Err(ImportError::WrongFormat("a chat exported from WhatsApp")),
    }
}

/// Returns the time when a file was written, or the current time if it is unknown.
fn modification_time(file: &Path) -> Timestamp {
    let modified = fs::metadata(file).and_then(|metadata| metadata.modified()).ok();
    let elapsed = modified.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    elapsed.map_or_else(
        || SystemClock.now(),
        |elapsed| Timestamp::from_millis(i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX)),
    )
}

/// Returns the failure for a file that could not be read. If it has another format, the hint names that format.
fn import_failure(file: &Path, detected: Option<HistoryFormat>, error: &ImportError) -> Failure {
    let failure = Failure::failed(format!("{}: {error}", file.display()));
    match (error, detected) {
        (ImportError::WrongFormat(_) | ImportError::EmptyArchive(_), Some(other)) => failure.hint(format!(
            "It looks like a {} history. Run `memoir import {}` instead.",
            other.name(),
            other.tag()
        )),
        (ImportError::Newer { .. }, _) => failure.hint("Update Memoir and try again."),
        (ImportError::DamagedArchive, _) => failure.hint("Download it again."),
        (ImportError::Database(_), _) => failure.hint("Close the program that uses it, and try again."),
        (ImportError::SeveralUsers, _) => {
            failure.hint("Export your own chats in Open WebUI, and import that file.")
        }
        (ImportError::LargeArchive, _) => failure.hint("Unpack it, and import the files in it."),
        _ => failure.hint("See docs/getting-started.md for where each program keeps its history."),
    }
}

pub(super) fn read_chat(
    file: &Path,
    name: Option<&str>,
    dates: Option<DateOrder>,
    zone: &TimeZone,
) -> Result<ImportedHistory, Failure> {
    let chat = |path: &Path| name.map_or_else(|| chat_name(path), str::to_owned);
    let result = match open(file)? {
        FileContent::Database => Err(ImportError::WrongFormat("a chat exported from WhatsApp")),
        FileContent::Text(text) => read_whatsapp(&text, &chat(file), zone, dates),
        FileContent::Archive(archive) => {
            read_archive(archive, HistoryFormat::WhatsApp, &mut |entry, text| {
                // On iOS, only the zip file is named after the chat.
                let is_named = !entry.ends_with("_chat.txt");
                read_whatsapp(text, &chat(if is_named { Path::new(entry) } else { file }), zone, dates)
            })
        }
    };
    result.map_err(|error| {
        Failure::failed(format!("{}: {error}", file.display())).hint(
            "In WhatsApp, use \"Export chat\" without media. If the dates are ambiguous, set their order with `--dates`.",
        )
    })
}

enum FileContent {
    Text(String),
    Archive(File),
    Database,
}

fn open(file: &Path) -> Result<FileContent, Failure> {
    let read_failure = |reason: String| {
        let failure = Failure::failed(format!("could not read {}: {reason}", file.display()));
        match file.exists() {
            false => failure.hint("Check that the file exists and give its full path."),
            true => failure.hint("Specify the file that the program exported."),
        }
    };
    // Reading a device or a pipe may never end.
    if file.exists() && !file.is_file() {
        return Err(read_failure("it is not a regular file".into()));
    }
    let content = read_content(file).map_err(|error| read_failure(error.to_string()))?;
    content.ok_or_else(|| read_failure("it is not UTF-8 text".into()))
}

/// Returns the content of a file, or `None` if it is not an archive, a database or UTF-8 text.
fn read_content(file: &Path) -> io::Result<Option<FileContent>> {
    let mut opened = File::open(file)?;
    let mut bytes = Vec::new();
    opened.by_ref().take(HEAD_BYTES).read_to_end(&mut bytes)?;
    if is_database(&bytes) {
        return Ok(Some(FileContent::Database));
    }
    if is_archive(&bytes) {
        opened.rewind()?;
        return Ok(Some(FileContent::Archive(opened)));
    }
    opened.read_to_end(&mut bytes)?;
    Ok(String::from_utf8(bytes).ok().map(FileContent::Text))
}

/// Derives the name of a chat from its file, such as "WhatsApp Chat with Anna.txt". For "_chat.txt", uses the name of
/// the directory instead.
fn chat_name(file: &Path) -> String {
    let stem =
        |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let mut name = stem(file);
    if name == "_chat" {
        name = file.canonicalize().ok().and_then(|file| file.parent().map(stem)).unwrap_or_default();
    }
    whatsapp_chat_name(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_chat_is_derived_from_its_file() {
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
