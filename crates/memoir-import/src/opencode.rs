//! opencode's history: the database `opencode.db`, the JSON files in `storage` of older versions, and the output
//! of `opencode export`. All have the same sessions, messages and parts.

use std::{fs, path::Path};

use memoir_core::{DraftMessage, Timestamp};
use serde::{Deserialize, de::DeserializeOwned};

use crate::{
    ImportError, ImportedConversation, ImportedHistory, UNKNOWN_MODEL,
    builder::{
        ABANDONED, BAD_MESSAGES, CONTEXT, EMPTY, FILES, HistoryBuilder, MessageClock, OTHER, SUB_AGENTS,
        SUMMARIES, THOUGHTS, TOOLS, choose_title,
    },
    database::ForeignDatabase,
    drafts,
    json::{Lenient, from_unix, strip_bom},
};

const WRONG_FORMAT: ImportError = ImportError::WrongFormat("an opencode session or database");

#[derive(Default, Deserialize)]
#[serde(default)]
struct SessionInfo {
    id: Lenient<String>,
    title: Lenient<String>,
    directory: Lenient<String>,
    #[serde(rename = "parentID")]
    parent_id: Lenient<String>,
    time: Lenient<Times>,
    revert: Lenient<Revert>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Times {
    created: Lenient<f64>,
    completed: Lenient<f64>,
}

impl Lenient<Times> {
    fn created(&self) -> Option<Timestamp> {
        self.0.as_ref()?.created.0.and_then(from_unix)
    }
}

/// Points to the first message that the user has undone.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Revert {
    #[serde(rename = "messageID")]
    message_id: Lenient<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MessageInfo {
    id: Lenient<String>,
    role: Lenient<String>,
    time: Lenient<Times>,
    #[serde(rename = "modelID")]
    model_id: Lenient<String>,
    /// Why the model has stopped. After `tool-calls`, another message follows.
    finish: Lenient<String>,
    path: Lenient<MessagePath>,
    /// `true` in a summary of earlier messages. Prompts have an object here.
    summary: Lenient<bool>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct MessagePath {
    cwd: Lenient<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Part {
    r#type: Lenient<String>,
    text: Lenient<String>,
    synthetic: Lenient<bool>,
    ignored: Lenient<bool>,
}

/// A message with its parts, each `None` if it could not be read.
#[derive(Default, Deserialize)]
#[serde(default)]
struct SessionMessage {
    info: Lenient<MessageInfo>,
    parts: Lenient<Vec<Lenient<Part>>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SessionExport {
    info: Lenient<SessionInfo>,
    messages: Lenient<Vec<SessionMessage>>,
}

/// Reads a session written by `opencode export`.
///
/// # Errors
///
/// Fails if the text has another format.
pub fn read_opencode(text: &str) -> Result<ImportedHistory, ImportError> {
    let export: SessionExport = serde_json::from_str(strip_bom(text)).map_err(|_| WRONG_FORMAT)?;
    let (Some(info), Some(messages)) = (export.info.0, export.messages.0) else { return Err(WRONG_FORMAT) };
    let id = info.id.text().ok_or(WRONG_FORMAT)?.to_owned();
    let mut history = HistoryBuilder::default();
    add_session(&id, &info, &messages, &mut history);
    Ok(history.finish())
}

/// Reads a session from the files of opencode before version 1.2. `file` is
/// `storage/session/<project>/<session>.json`; its messages and their parts are in other directories of `storage`.
///
/// # Errors
///
/// Fails if the file is not in such a directory, or if it has another format.
pub fn read_opencode_files(file: &Path) -> Result<ImportedHistory, ImportError> {
    let storage = file.ancestors().nth(3).ok_or(WRONG_FORMAT)?;
    let id = file.file_stem().and_then(|stem| stem.to_str()).ok_or(WRONG_FORMAT)?;
    let messages_directory = storage.join("message").join(id);
    let info: SessionInfo = read_json(file).ok_or(WRONG_FORMAT)?;
    if info.time.created().is_none() && !messages_directory.is_dir() {
        return Err(WRONG_FORMAT);
    }
    let mut messages = Vec::new();
    for message in json_files(&messages_directory) {
        let parts = json_files(&storage.join("part").join(&message.id)).into_iter();
        messages.push(SessionMessage {
            info: Lenient(
                read_json::<MessageInfo>(&message.path)
                    .map(|info| MessageInfo { id: Lenient(Some(message.id)), ..info }),
            ),
            parts: Lenient(Some(parts.map(|part| Lenient(read_json(&part.path))).collect())),
        });
    }
    let mut history = HistoryBuilder::default();
    add_session(id, &info, &messages, &mut history);
    Ok(history.finish())
}

struct JsonFile {
    id: String,
    path: std::path::PathBuf,
}

/// Lists the JSON files in a directory by name, which is an id that starts with the time.
fn json_files(directory: &Path) -> Vec<JsonFile> {
    // A message without parts has no directory.
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let mut files: Vec<JsonFile> = entries
        .filter_map(|entry| {
            let id = entry.file_name().to_str()?.strip_suffix(".json")?.to_owned();
            Some(JsonFile { id, path: entry.path() })
        })
        .collect();
    files.sort_by(|a, b| a.id.cmp(&b.id));
    files
}

fn read_json<T: DeserializeOwned>(file: &Path) -> Option<T> {
    serde_json::from_str(&fs::read_to_string(file).ok()?).ok()
}

pub(crate) async fn read_database(file: &Path) -> Result<ImportedHistory, ImportError> {
    let mut database = ForeignDatabase::open(file).await?;
    let mut history = HistoryBuilder::default();
    let result = add_database(&mut database, &mut history).await;
    database.close().await;
    result.map(|()| history.finish())
}

async fn add_database(
    database: &mut ForeignDatabase,
    history: &mut HistoryBuilder,
) -> Result<(), ImportError> {
    for table in ["session", "message", "part"] {
        if !database.has_table(table).await? {
            return Err(WRONG_FORMAT);
        }
    }
    for row in database.table("session").await? {
        let Some(id) = row.text("id") else { continue };
        let parse = |text: Option<String>| text.and_then(|text| serde_json::from_str(&text).ok());
        let info = SessionInfo {
            id: Lenient(None),
            title: Lenient(row.text("title")),
            directory: Lenient(row.text("directory")),
            parent_id: Lenient(row.text("parent_id")),
            time: Lenient(Some(Times { created: Lenient(row.number("time_created")), ..Times::default() })),
            revert: Lenient(parse(row.text("revert"))),
        };
        let messages = database_messages(database, &id).await?;
        add_session(&id, &info, &messages, history);
    }
    Ok(())
}

async fn database_messages(
    database: &mut ForeignDatabase,
    session: &str,
) -> Result<Vec<SessionMessage>, ImportError> {
    let rows = database
        .query("SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id", &[session])
        .await?;
    let mut messages = Vec::new();
    for row in rows {
        let Some(id) = row.text("id") else { continue };
        let parts = database.query("SELECT data FROM part WHERE message_id = ? ORDER BY id", &[&id]).await?;
        let info = row.text("data").and_then(|data| serde_json::from_str(&data).ok());
        let parse_part =
            |data: Option<String>| Lenient(data.and_then(|data| serde_json::from_str(&data).ok()));
        messages.push(SessionMessage {
            info: Lenient(info.map(|info| MessageInfo { id: Lenient(Some(id)), ..info })),
            parts: Lenient(Some(parts.iter().map(|part| parse_part(part.text("data"))).collect())),
        });
    }
    Ok(messages)
}

fn add_session(id: &str, info: &SessionInfo, messages: &[SessionMessage], history: &mut HistoryBuilder) {
    if info.parent_id.text().is_some() {
        return history.skip_many(SUB_AGENTS, messages.len());
    }
    let times = messages.iter().map(|message| message.info.0.as_ref()?.time.created());
    let mut clock = MessageClock::starting_at_first([info.time.created()].into_iter().chain(times));
    let undone = info.revert.0.as_ref().and_then(|revert| revert.message_id.text());
    let (mut drafts, mut model, mut directory): (Vec<DraftMessage>, _, _) = (Vec::new(), None, None);
    for message in messages {
        let Some(message_info) = &message.info.0 else {
            history.skip(BAD_MESSAGES);
            continue;
        };
        let created = clock.advance(message_info.time.created());
        // Ids are ordered by time.
        if undone.is_some_and(|undone| message_info.id.text().is_some_and(|id| id >= undone)) {
            history.skip(ABANDONED);
            continue;
        }
        if message_info.summary.is_true() {
            history.skip(SUMMARIES);
            continue;
        }
        model = message_info.model_id.text().or(model);
        directory = message_info.path.0.as_ref().and_then(|path| path.cwd.text()).or(directory);
        let Some(text) = extract_text(message, history) else { continue };
        match message_info.role.text() {
            Some("user") => drafts.push(drafts::user(created, text)),
            Some("assistant") => drafts.push(drafts::assistant(created, text)),
            _ => history.skip(OTHER),
        }
    }
    // Until a title is generated, it is "New session" with a time.
    let title = info.title.text().filter(|title| !title.starts_with("New session - "));
    history.add(ImportedConversation {
        title: choose_title(title, &drafts),
        origin: format!("opencode/{id}"),
        name: String::new(),
        scope: info.directory.text().or(directory).unwrap_or("opencode").into(),
        model: model.unwrap_or(UNKNOWN_MODEL).into(),
        has_times: true,
        is_open: is_open(messages),
        messages: drafts,
    });
}

/// Returns whether the model still works on the last prompt.
fn is_open(messages: &[SessionMessage]) -> bool {
    let last = messages.iter().rev().find_map(|message| message.info.0.as_ref());
    last.is_some_and(|info| {
        let has_ended = info.time.0.as_ref().is_some_and(|time| time.completed.0.is_some());
        !has_ended || info.finish.text() == Some("tool-calls")
    })
}

/// Returns the text of a message, or `None` if it has none.
fn extract_text(message: &SessionMessage, history: &mut HistoryBuilder) -> Option<String> {
    let parts = message.parts.0.as_deref().unwrap_or_default();
    let (mut texts, mut skip_count) = (Vec::new(), 0);
    for part in parts {
        let kind = match &part.0 {
            None => BAD_MESSAGES,
            Some(part) => match part.r#type.text().unwrap_or_default() {
                "text" if part.synthetic.is_true() || part.ignored.is_true() => CONTEXT,
                "text" => {
                    texts.push(part.text.text().map_or("", unquote));
                    continue;
                }
                "reasoning" => THOUGHTS,
                "tool" | "subtask" => TOOLS,
                "file" => FILES,
                // The other kinds record the state of the program and have no text.
                _ => continue,
            },
        };
        history.skip(kind);
        skip_count += 1;
    }
    texts.retain(|text| !text.is_empty());
    history.skip_many(EMPTY, usize::from(texts.is_empty() && skip_count == 0));
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// Removes the quotation marks in which `opencode run` stores a prompt.
fn unquote(text: &str) -> &str {
    let text = text.trim();
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    inner.filter(|inner| !inner.trim().is_empty() && !inner.contains('"')).map_or(text, str::trim)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    #[test]
    fn a_session_is_open_until_the_model_has_answered() {
        for (time, finish, expected) in [
            (r#"{"created": 1}"#, "null", true),
            (r#"{"created": 1, "completed": 2}"#, r#""tool-calls""#, true),
            (r#"{"created": 1, "completed": 2}"#, r#""stop""#, false),
            (r#"{"created": 1, "completed": 2}"#, "null", false),
        ] {
            let text = format!(
                r#"{{"info": {{"id": "ses_1"}}, "messages": [
                    {{"info": {{"role": "user"}}, "parts": [{{"type": "text", "text": "Bake"}}]}},
                    {{"info": {{"role": "assistant", "time": {time}, "finish": {finish}}},
                      "parts": [{{"type": "text", "text": "Baking"}}]}}]}}"#
            );
            assert_eq!(read_opencode(&text).unwrap().conversations[0].is_open, expected, "{time} {finish}");
        }
    }

    #[test]
    fn exported_sessions_are_read() {
        let text = r#"{"info": {"id": "ses_1", "title": "New session - 2026-09-22T18:00:00.000Z",
            "time": {"created": 1790100000000}, "revert": {"messageID": "msg_4"}},
            "messages": [
                {"info": {"id": "msg_1", "role": "user", "summary": {"diffs": []}},
                 "parts": [{"type": "text", "text": "\"Bake bread\"\n"}, {"type": "text", "synthetic": true, "text": "x"},
                           {"type": "file"}, 7]},
                {"info": {"id": "msg_2", "role": "assistant", "modelID": "m", "path": {"cwd": "/home/me/kitchen"}},
                 "parts": [{"type": "reasoning", "text": "Hm."}, {"type": "tool"}, {"type": "step-start"},
                           {"type": "text", "text": "Done."}]},
                {"info": {"id": "msg_3", "role": "assistant", "summary": true}, "parts": [{"type": "text", "text": "s"}]},
                {"info": {"id": "msg_4", "role": "user"}, "parts": [{"type": "text", "text": "undone"}]},
                {"info": 5}, {"info": {"role": "assistant"}, "parts": []}]}"#;
        let history = read_opencode(text).unwrap();
        let conversation = &history.conversations[0];
        assert_eq!(
            [&conversation.title, &conversation.origin, &conversation.scope, &conversation.model],
            ["Bake bread", "opencode/ses_1", "/home/me/kitchen", "m"]
        );
        let texts: Vec<&str> = conversation.messages.iter().map(|message| message.body.text()).collect();
        assert_eq!(texts, ["Bake bread", "Done."]);
        let skipped: Vec<u64> = history.skipped.iter().map(|(_, count)| *count).collect();
        assert_eq!(skipped.iter().sum::<u64>(), 9, "{:?}", history.skipped);
    }

    #[test]
    fn other_formats_are_rejected() {
        for other in ["", "[]", "{}", "{\"info\": {}, \"messages\": []}", "no JSON"] {
            assert!(matches!(read_opencode(other), Err(ImportError::WrongFormat(_))), "{other:?}");
        }
        assert!(matches!(read_opencode_files(Path::new("x.json")), Err(ImportError::WrongFormat(_))));
    }
}
