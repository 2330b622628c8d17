//! Cursor's conversations, in the databases `state.vscdb`.
//!
//! The one in `globalStorage` has all conversations since the end of 2024: an entry for each, which lists its
//! messages, and an entry for each message. Older ones have the messages inside, sometimes as JSON in a string. The
//! database of each workspace has the chats before that, and names the conversations of the workspace.

use std::{
    collections::{HashMap, HashSet},
    fs,
    path::Path,
};

use memoir_core::{DraftMessage, Timestamp};
use serde_json::Value;

use crate::{
    ImportError, ImportedConversation, ImportedHistory, UNKNOWN_MODEL,
    builder::{
        ABANDONED, BAD_CONVERSATIONS, BAD_MESSAGES, EMPTY, HistoryBuilder, MessageClock, OTHER, SUB_AGENTS,
        THOUGHTS, TOOLS, choose_title,
    },
    database::ForeignDatabase,
    drafts,
    json::from_unix,
};

/// Smallest number that is a time in milliseconds. Some fields have durations instead.
const MIN_MILLISECONDS: f64 = 1e12;

pub(crate) async fn read_database(file: &Path) -> Result<ImportedHistory, ImportError> {
    let mut database = ForeignDatabase::open(file).await?;
    let mut history = HistoryBuilder::default();
    let result = add_database(&mut database, file, &mut history).await;
    database.close().await;
    result.map(|()| history.finish())
}

async fn add_database(
    database: &mut ForeignDatabase,
    file: &Path,
    history: &mut HistoryBuilder,
) -> Result<(), ImportError> {
    if !database.has_table("ItemTable").await? {
        return Err(ImportError::WrongFormat("a state.vscdb of Cursor"));
    }
    let directory = file.parent().and_then(workspace_directory);
    if let Some(chats) = item(database, "workbench.panel.aichat.view.aichat.chatdata").await? {
        for tab in array(&chats, "tabs") {
            add_tab(&tab, directory.as_deref(), history);
        }
    }
    if !database.has_table("cursorDiskKV").await? {
        return Ok(());
    }
    let conversations = database
        .query(
            "SELECT key, value FROM cursorDiskKV WHERE key >= 'composerData:' AND key < 'composerData;'",
            &[],
        )
        .await?;
    if conversations.is_empty() {
        return Ok(());
    }
    let overview = Overview::load(database, file).await?;
    for row in conversations {
        // The value of a deleted conversation is empty.
        let (Some(key), Some(value)) = (row.text("key"), row.text("value")) else { continue };
        let id = key.trim_start_matches("composerData:");
        match serde_json::from_str::<Value>(&value) {
            Ok(conversation) => {
                let messages = stored_messages(database, id).await?;
                add_conversation(id, &conversation, messages, &overview, history);
            }
            Err(_) => history.skip(BAD_CONVERSATIONS),
        }
    }
    Ok(())
}

/// Reads one value of the settings table. It also has access tokens, so it is never read as a whole.
async fn item(database: &mut ForeignDatabase, key: &str) -> Result<Option<Value>, ImportError> {
    let rows = database.query("SELECT value FROM ItemTable WHERE key = ?", &[key]).await?;
    Ok(rows.first().and_then(|row| serde_json::from_str(&row.text("value")?).ok()))
}

/// Returns the messages of a conversation that are stored as separate entries, by their id.
async fn stored_messages(
    database: &mut ForeignDatabase,
    conversation: &str,
) -> Result<HashMap<String, Option<Value>>, ImportError> {
    let prefix = format!("bubbleId:{conversation}:");
    let end = format!("bubbleId:{conversation};");
    let rows = database
        .query("SELECT key, value FROM cursorDiskKV WHERE key >= ? AND key < ?", &[&prefix, &end])
        .await?;
    let message = |row: &crate::database::Record| {
        let id = row.text("key")?.strip_prefix(&prefix)?.to_owned();
        Some((id, row.text("value").and_then(|value| serde_json::from_str(&value).ok())))
    };
    Ok(rows.iter().filter_map(message).collect())
}

/// What other tables and databases record about conversations.
#[derive(Default)]
struct Overview {
    directories: HashMap<String, String>,
    names: HashMap<String, String>,
    sub_agents: HashSet<String>,
}

impl Overview {
    async fn load(database: &mut ForeignDatabase, file: &Path) -> Result<Self, ImportError> {
        let mut overview = Self::default();
        let workspaces =
            file.ancestors().nth(2).map(|user| user.join("workspaceStorage")).unwrap_or_default();
        for entry in fs::read_dir(&workspaces).into_iter().flatten().flatten() {
            overview.add_workspace(&entry.path()).await;
        }
        for row in database.table("composerHeaders").await? {
            let Some(id) = row.text("composerId") else { continue };
            let header: Value =
                row.text("value").and_then(|value| serde_json::from_str(&value).ok()).unwrap_or_default();
            if row.number("isSubagent") == Some(1.0)
                || header.get("subagentInfo").is_some_and(Value::is_object)
            {
                overview.sub_agents.insert(id.clone());
            }
            let workspace = row.text("workspaceId").and_then(|id| workspace_directory(&workspaces.join(id)));
            if let Some(directory) = identified_directory(&header).or(workspace) {
                overview.directories.insert(id.clone(), directory);
            }
            if let Some(name) = text(&header, "name") {
                overview.names.insert(id, name.to_owned());
            }
        }
        Ok(overview)
    }

    /// Adds the conversations that a workspace lists. A workspace that cannot be read only makes their directories
    /// unknown.
    async fn add_workspace(&mut self, workspace: &Path) {
        let Some(directory) = workspace_directory(workspace) else { return };
        let Ok(mut database) = ForeignDatabase::open(&workspace.join("state.vscdb")).await else { return };
        let list = item(&mut database, "composer.composerData").await;
        database.close().await;
        let list = list.ok().flatten().unwrap_or_default();
        for conversation in array(&list, "allComposers") {
            let Some(id) = text(&conversation, "composerId") else { continue };
            self.directories.insert(id.to_owned(), directory.clone());
            if let Some(name) = text(&conversation, "name") {
                self.names.insert(id.to_owned(), name.to_owned());
            }
        }
    }
}

/// Returns the directory that the `workspace.json` of a workspace names.
fn workspace_directory(workspace: &Path) -> Option<String> {
    let description = fs::read_to_string(workspace.join("workspace.json")).ok()?;
    let description: Value = serde_json::from_str(&description).ok()?;
    let path = text(&description, "folder")?.strip_prefix("file://")?;
    Some(decode_percent(path)).filter(|path| !path.is_empty())
}

/// Replaces the escapes in an address, such as `%20`.
fn decode_percent(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits =
            after.get(..2).filter(|_| *first == b'%').and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn identified_directory(value: &Value) -> Option<String> {
    let uri = value.get("workspaceIdentifier")?.get("uri")?;
    text(uri, "fsPath").or_else(|| text(uri, "path")).map(str::to_owned)
}

fn add_conversation(
    id: &str,
    conversation: &Value,
    mut stored: HashMap<String, Option<Value>>,
    overview: &Overview,
    history: &mut HistoryBuilder,
) {
    let headers = array(conversation, "fullConversationHeadersOnly");
    let bubbles: Vec<Option<Value>> = match headers.is_empty() {
        true => array(conversation, "conversation").into_iter().map(Some).collect(),
        false => headers.iter().map(|header| stored.remove(text(header, "bubbleId")?).flatten()).collect(),
    };
    if overview.sub_agents.contains(id) || conversation.get("subagentInfo").is_some_and(Value::is_object) {
        return history.skip_many(SUB_AGENTS, bubbles.len());
    }
    // Entries that the conversation does not list were replaced by an edit.
    history.skip_many(ABANDONED, stored.len());
    let started = number(conversation, "createdAt").and_then(from_unix);
    let times = bubbles.iter().map(|bubble| bubble_time(bubble.as_ref()?));
    let mut clock = MessageClock::starting_at_first([started].into_iter().chain(times));
    let configured = conversation.get("modelConfig").and_then(|config| text(config, "modelName"));
    let mut model = configured.filter(|model| *model != "default");
    let mut messages = Vec::new();
    for bubble in &bubbles {
        let Some(bubble) = bubble else {
            history.skip(BAD_MESSAGES);
            continue;
        };
        let created = clock.advance(bubble_time(bubble));
        model = bubble.get("modelInfo").and_then(|info| text(info, "modelName")).or(model);
        messages.extend(read_bubble(bubble, created, history));
    }
    let name = text(conversation, "name").or(overview.names.get(id).map(String::as_str));
    let directory = identified_directory(conversation).or_else(|| overview.directories.get(id).cloned());
    history.add(ImportedConversation {
        title: choose_title(name, &messages),
        origin: format!("cursor/{id}"),
        name: String::new(),
        scope: directory.unwrap_or_else(|| "cursor".into()),
        model: model.unwrap_or(UNKNOWN_MODEL).into(),
        has_times: true,
        is_open: false,
        messages,
    });
}

fn read_bubble(bubble: &Value, created: Timestamp, history: &mut HistoryBuilder) -> Option<DraftMessage> {
    let has_tool = bubble.get("toolFormerData").is_some_and(|tool| text(tool, "name").is_some());
    let has_thoughts = bubble.get("thinking").is_some_and(|thinking| !thinking.is_null());
    history.skip_many(TOOLS, usize::from(has_tool));
    history.skip_many(THOUGHTS, usize::from(has_thoughts));
    let words = text(bubble, "text").map(str::trim).map(str::to_owned);
    match (number(bubble, "type"), words) {
        (Some(1.0), words) => match words.or_else(|| rich_text(bubble, "richText")) {
            Some(words) => return Some(drafts::user(created, words)),
            None => history.skip(EMPTY),
        },
        (Some(2.0), Some(words)) => return Some(drafts::assistant(created, words)),
        (Some(2.0), None) => history.skip_many(EMPTY, usize::from(!has_tool && !has_thoughts)),
        _ => history.skip(OTHER),
    }
    None
}

/// Returns the time of a message. Older ones have none, or only the times of the request.
fn bubble_time(bubble: &Value) -> Option<Timestamp> {
    let written = text(bubble, "createdAt").and_then(Timestamp::parse);
    let timing = bubble.get("timingInfo").and_then(|timing| number(timing, "clientStartTime"));
    let numbers = [number(bubble, "createdAt"), timing];
    written
        .or_else(|| numbers.into_iter().flatten().find(|time| *time > MIN_MILLISECONDS).and_then(from_unix))
}

/// Adds a chat of the versions before the end of 2024. Its messages have no times, and the time of the chat changes
/// with each message.
fn add_tab(tab: &Value, directory: Option<&str>, history: &mut HistoryBuilder) {
    let Some(id) = text(tab, "tabId").or_else(|| text(tab, "id")) else {
        return history.skip(BAD_CONVERSATIONS);
    };
    let times = ["createdAt", "lastSendTime"].map(|field| number(tab, field).and_then(from_unix));
    let created = MessageClock::starting_at_first(times).advance(None);
    let (mut messages, mut model) = (Vec::new(), None);
    for bubble in array(tab, "bubbles") {
        let words = ["text", "rawText"]
            .iter()
            .find_map(|field| text(&bubble, field).map(str::trim).map(str::to_owned));
        let words = words.or_else(|| rich_text(&bubble, "initText"));
        model = text(&bubble, "modelType").map(str::to_owned).or(model);
        match (text(&bubble, "type"), words) {
            (Some("user"), Some(words)) => messages.push(drafts::user(created, words)),
            (Some("ai" | "assistant"), Some(words)) => messages.push(drafts::assistant(created, words)),
            (_, None) => history.skip(EMPTY),
            _ => history.skip(OTHER),
        }
    }
    history.add(ImportedConversation {
        title: choose_title(text(tab, "chatTitle").or_else(|| text(tab, "title")), &messages),
        origin: format!("cursor/chat/{id}"),
        name: String::new(),
        scope: directory.unwrap_or("cursor").into(),
        model: model.unwrap_or_else(|| UNKNOWN_MODEL.into()),
        has_times: false,
        is_open: false,
        messages,
    });
}

/// Returns a text with content.
fn text<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field)?.as_str().filter(|text| !text.trim().is_empty())
}

fn number(value: &Value, field: &str) -> Option<f64> {
    value.get(field)?.as_f64()
}

/// Returns an array, which may be JSON in a string.
fn array(value: &Value, field: &str) -> Vec<Value> {
    match value.get(field) {
        Some(Value::Array(values)) => values.clone(),
        Some(Value::String(encoded)) => serde_json::from_str(encoded).unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// Returns the text of an editor document, which is JSON in a string.
fn rich_text(value: &Value, field: &str) -> Option<String> {
    let document: Value = serde_json::from_str(text(value, field)?).ok()?;
    let mut lines = Vec::new();
    collect_text(&document, &mut lines);
    Some(lines.join("\n").trim().to_owned()).filter(|text| !text.is_empty())
}

/// Collects the texts of a document, one line for each paragraph. The depth of parsed JSON is limited.
fn collect_text(node: &Value, lines: &mut Vec<String>) {
    if text(node, "type") == Some("paragraph") {
        lines.push(String::new());
    }
    if let Some(words) = node.get("text").and_then(Value::as_str) {
        match lines.last_mut() {
            Some(line) => line.push_str(words),
            None => lines.push(words.to_owned()),
        }
    }
    for field in ["root", "children", "content"] {
        match node.get(field) {
            Some(Value::Array(children)) => children.iter().for_each(|child| collect_text(child, lines)),
            Some(child @ Value::Object(_)) => collect_text(child, lines),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn addresses_are_decoded() {
        for (address, path) in
            [("/home/me/a%20b", "/home/me/a b"), ("/%C3%BC", "/ü"), ("/100%", "/100%"), ("/%zz", "/%zz")]
        {
            assert_eq!(decode_percent(address), path);
        }
    }

    #[test]
    fn documents_of_the_editor_become_lines() {
        let document = json!({"root": {"children": [
            {"type": "paragraph", "children": [{"text": "And "}, {"text": "the milk?"}]},
            {"type": "paragraph", "children": [{"text": "Two cups."}]},
        ]}});
        let message = json!({"richText": document.to_string(), "empty": "{}", "broken": "{"});
        assert_eq!(rich_text(&message, "richText").as_deref(), Some("And the milk?\nTwo cups."));
        assert_eq!(rich_text(&message, "empty"), None);
        assert_eq!(rich_text(&message, "broken"), None);
    }
}
