//! Zip files, as programs offer their exports for download.
//!
//! Entries are read into memory and never written to disk, so their names are only used to recognize them.

use std::io::{Cursor, Read, Seek};

use zip::ZipArchive;

use crate::{HistoryFormat, ImportError, ImportedHistory, builder};

/// Maximum number of bytes that the entries of an archive may unpack to.
const MAX_UNPACKED_BYTES: u64 = 1024 * 1024 * 1024;

/// Number of levels of archives inside an archive that are read. Claude's export has one.
const MAX_DEPTH: usize = 1;

/// Reads one entry. Its arguments are the entry's path in the archive and its text.
pub type EntryReader<'a> = dyn FnMut(&str, &str) -> Result<ImportedHistory, ImportError> + 'a;

/// Returns whether a file with this beginning is a zip archive.
pub fn is_archive(head: &[u8]) -> bool {
    head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06")
}

/// Reads the conversations in a zip archive. Entries that the format does not use are not unpacked, and entries
/// for which `read` reports another format are ignored.
///
/// # Errors
///
/// Fails if the archive is damaged, if it unpacks to more than 1 GiB, or if none of its entries has
/// conversations.
pub fn read_archive(
    archive: impl Read + Seek,
    format: HistoryFormat,
    read: &mut EntryReader<'_>,
) -> Result<ImportedHistory, ImportError> {
    read_with_limit(archive, format, MAX_UNPACKED_BYTES, read)
}

fn read_with_limit(
    archive: impl Read + Seek,
    format: HistoryFormat,
    limit: u64,
    read: &mut EntryReader<'_>,
) -> Result<ImportedHistory, ImportError> {
    let mut reading = ArchiveReading { format, bytes_left: limit, histories: Vec::new(), read };
    reading.add_archive(archive, MAX_DEPTH)?;
    if reading.histories.is_empty() {
        return Err(ImportError::EmptyArchive(format.name()));
    }
    Ok(builder::merge(reading.histories))
}

struct ArchiveReading<'a, 'r> {
    format: HistoryFormat,
    bytes_left: u64,
    histories: Vec<ImportedHistory>,
    read: &'a mut EntryReader<'r>,
}

impl ArchiveReading<'_, '_> {
    fn add_archive(&mut self, archive: impl Read + Seek, depth: usize) -> Result<(), ImportError> {
        let mut archive = ZipArchive::new(archive).map_err(|_| ImportError::DamagedArchive)?;
        for entry in needed_entries(&archive, self.format) {
            match entry.kind {
                EntryKind::Text => {
                    let bytes = self.unpack(&mut archive, entry.index)?;
                    self.add_text(&entry.path, &String::from_utf8_lossy(&bytes))?;
                }
                EntryKind::Archive if depth > 0 => {
                    let bytes = self.unpack(&mut archive, entry.index)?;
                    self.add_archive(Cursor::new(bytes), depth - 1)?;
                }
                EntryKind::Archive => {}
            }
            // A chat may have attachments that are text files too.
            if self.format == HistoryFormat::WhatsApp && !self.histories.is_empty() {
                break;
            }
        }
        Ok(())
    }

    fn add_text(&mut self, path: &str, text: &str) -> Result<(), ImportError> {
        match (self.read)(path, text) {
            Ok(history) => self.histories.push(history),
            Err(ImportError::WrongFormat(_)) => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Unpacks an entry. The size in its header may be wrong, so the number of bytes read is limited too.
    fn unpack(
        &mut self,
        archive: &mut ZipArchive<impl Read + Seek>,
        index: usize,
    ) -> Result<Vec<u8>, ImportError> {
        let entry = archive.by_index(index).map_err(|_| ImportError::DamagedArchive)?;
        let mut bytes = Vec::new();
        let result = entry.take(self.bytes_left.saturating_add(1)).read_to_end(&mut bytes);
        let size = bytes.len() as u64;
        if size > self.bytes_left {
            return Err(ImportError::LargeArchive);
        }
        result.map_err(|_| ImportError::DamagedArchive)?;
        self.bytes_left -= size;
        Ok(bytes)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum EntryKind {
    Text,
    Archive,
}

struct NeededEntry {
    index: usize,
    path: String,
    kind: EntryKind,
}

/// Returns the entries that a format uses. The parts of an export are in the order of their numbers.
fn needed_entries(archive: &ZipArchive<impl Read + Seek>, format: HistoryFormat) -> Vec<NeededEntry> {
    let mut entries: Vec<NeededEntry> = (0..archive.len())
        .filter_map(|index| {
            let path = archive.name_for_index(index)?.ok()?.into_owned();
            let kind = needed_kind(&path, format)?;
            Some(NeededEntry { index, path, kind })
        })
        .collect();
    entries.sort_by_key(|entry| {
        let is_chat = file_name(&entry.path).eq_ignore_ascii_case("_chat.txt");
        (!is_chat, entry.path.len(), entry.path.clone())
    });
    entries
}

/// Returns what an entry contains, or `None` if the format does not use it.
fn needed_kind(path: &str, format: HistoryFormat) -> Option<EntryKind> {
    let path = path.to_lowercase();
    let name = file_name(&path);
    // macOS adds entries with the attributes of the others.
    if name.starts_with("._") || path.starts_with("__macosx/") {
        return None;
    }
    let is_text = match format {
        HistoryFormat::ChatGpt | HistoryFormat::Claude => {
            name.starts_with("conversations") && name.ends_with(".json")
        }
        HistoryFormat::WhatsApp => name.ends_with(".txt"),
        HistoryFormat::Gemini => {
            name.ends_with(".json") && (path.contains("gemini") || path.contains("bard"))
        }
        HistoryFormat::OpenWebUi => name.ends_with(".json"),
        HistoryFormat::ClaudeCode | HistoryFormat::Codex | HistoryFormat::Memoir => name.ends_with(".jsonl"),
        // These programs have no export that is downloaded.
        HistoryFormat::AiChat
        | HistoryFormat::Copilot
        | HistoryFormat::Cursor
        | HistoryFormat::GeminiCli
        | HistoryFormat::Llm
        | HistoryFormat::OpenCode => false,
    };
    let is_archive =
        format == HistoryFormat::Claude && name.starts_with("conversations") && name.ends_with(".zip");
    match (is_text, is_archive) {
        (true, _) => Some(EntryKind::Text),
        (_, true) => Some(EntryKind::Archive),
        _ => None,
    }
}

/// Returns the last part of a path in an archive.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use std::io::Write as _;

    use zip::{CompressionMethod, ZipWriter, write::SimpleFileOptions};

    use super::*;
    use crate::{read_chatgpt, read_claude, read_gemini};

    fn pack(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        for (path, content) in entries {
            writer.start_file(*path, options).unwrap();
            writer.write_all(content).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    fn chatgpt(id: &str, texts: &[&str]) -> String {
        let node = |(index, text): (usize, &&str)| {
            let parent = index.checked_sub(1).map_or("root".into(), |parent| parent.to_string());
            format!(
                r#""{index}": {{"parent": "{parent}", "message": {{"author": {{"role": "user"}}, "create_time": {},
                "content": {{"content_type": "text", "parts": ["{text}"]}}}}}}"#,
                index + 1
            )
        };
        let nodes: Vec<String> = texts.iter().enumerate().map(node).collect();
        format!(r#"[{{"id": "{id}", "mapping": {{{}}}}}]"#, nodes.join(","))
    }

    fn read(bytes: &[u8], limit: u64) -> Result<ImportedHistory, ImportError> {
        let read = &mut |_: &str, text: &str| read_chatgpt(text);
        read_with_limit(Cursor::new(bytes), HistoryFormat::ChatGpt, limit, read)
    }

    #[test]
    fn parts_of_an_export_are_joined_and_the_fuller_copy_is_used() {
        let archive = pack(&[
            ("x/conversations-001.json", chatgpt("b", &["beans"]).as_bytes()),
            ("x/conversations-000.json", chatgpt("a", &["bread", "butter"]).as_bytes()),
            ("x/conversations-002.json", chatgpt("a", &["bread"]).as_bytes()),
            ("__MACOSX/x/._conversations-000.json", b"\x00\x05"),
            ("x/user.json", b"{\"email\": \"a@example.org\"}"),
            ("../../conversations-003.json", b"not JSON"),
        ]);
        assert!(is_archive(&archive));
        let history = read(&archive, MAX_UNPACKED_BYTES).unwrap();
        let counts: Vec<(&str, usize)> = history
            .conversations
            .iter()
            .map(|conversation| (conversation.origin.as_str(), conversation.messages.len()))
            .collect();
        assert_eq!(counts, [("chatgpt/a", 2), ("chatgpt/b", 1)]);
    }

    #[test]
    fn archives_inside_an_archive_are_read_for_claude() {
        let export =
            br#"[{"uuid": "1", "chat_messages": [{"uuid": "a", "sender": "human", "text": "hello"}]}]"#;
        let inner = pack(&[("conversations.json", export)]);
        let outer =
            pack(&[("conversations-000.zip", &inner), ("projects-000.zip", b"PK\x03\x04 no archive")]);
        let read = &mut |_: &str, text: &str| read_claude(text);
        let history = read_archive(Cursor::new(outer.as_slice()), HistoryFormat::Claude, read).unwrap();
        assert_eq!(history.conversations[0].origin, "claude/1");
        let deeper = pack(&[("conversations-000.zip", &pack(&[("conversations-000.zip", &inner)]))]);
        let result = read_archive(Cursor::new(deeper), HistoryFormat::Claude, read);
        assert_eq!(result, Err(ImportError::EmptyArchive("Claude")));
    }

    #[test]
    fn activities_of_gemini_are_found_in_every_language() {
        let record = |header: &str| {
            format!(
                r#"[{{"header": "{header}", "title": "Prompt : Quand semer ?", "time": "2026-09-20T17:31:00Z",
                "products": ["{header}"], "safeHtmlItem": [{{"html": "<p>En mai.</p>"}}]}}]"#
            )
        };
        let (gemini, youtube) = (record("Applications Gemini"), record("YouTube"));
        let archive = pack(&[
            ("Takeout/Mon activité/YouTube/MonActivité.json", youtube.as_bytes()),
            ("Takeout/Mon activité/Applications Gemini/MonActivité.json", gemini.as_bytes()),
            ("Takeout/Gemini/gems.json", b"[]"),
        ]);
        let read = &mut |_: &str, text: &str| read_gemini(text);
        let history = read_archive(Cursor::new(archive), HistoryFormat::Gemini, read).unwrap();
        let texts: Vec<&str> =
            history.conversations[0].messages.iter().map(|message| message.body.text()).collect();
        assert_eq!(texts, ["Quand semer ?", "En mai."]);
    }

    #[test]
    fn archives_that_are_damaged_empty_or_too_large_are_rejected() {
        let large = pack(&[("conversations.json", &vec![b' '; 100_000])]);
        assert!(large.len() < 1000, "it is compressed");
        assert_eq!(read(&large, 99_999), Err(ImportError::LargeArchive));
        assert_eq!(read(&large, 100_000), Err(ImportError::EmptyArchive("ChatGPT")));
        assert_eq!(read(&large[..200], 100_000), Err(ImportError::DamagedArchive));
        assert_eq!(read(&pack(&[]), 100_000), Err(ImportError::EmptyArchive("ChatGPT")));
        assert_eq!(
            ImportError::EmptyArchive("ChatGPT").to_string(),
            "this zip file contains no ChatGPT conversations"
        );
    }
}
