//! Open WebUI's chats: the JSON file of "Export Chats", one chat per line from its API, or `webui.db`.
//!
//! A chat is a tree of messages, because retrying, editing and asking several models fork it; `currentId` is the
//! leaf that was shown last. Answers contain HTML blocks with thoughts and tool calls, which are skipped.

use std::{
    collections::{BTreeMap, HashSet},
    path::Path,
};

use memoir_core::{DraftMessage, Timestamp};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::{
    ImportError, ImportedConversation, ImportedHistory, UNKNOWN_MODEL,
    blocks::{Body, ContentPiece},
    branch,
    builder::{
        ABANDONED, BAD_CONVERSATIONS, BAD_MESSAGES, EMPTY, FILES, HistoryBuilder, MessageClock, OTHER,
        PROGRAM, SYSTEM, THOUGHTS, TOOLS, choose_title, short_hash,
    },
    database::{ForeignDatabase, Record},
    drafts,
    json::{self, Lenient, from_unix},
    markup,
};

const WRONG_FORMAT: ImportError = ImportError::WrongFormat("chats exported from Open WebUI");

#[derive(Default, Deserialize)]
#[serde(default)]
struct ExportedChat {
    id: Lenient<String>,
    title: Lenient<String>,
    created_at: Lenient<f64>,
    meta: Lenient<Meta>,
    chat: Lenient<Chat>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Meta {
    /// Whether the program started the chat itself.
    internal: Lenient<bool>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Chat {
    title: Lenient<String>,
    models: Lenient<Vec<String>>,
    history: Lenient<ChatHistory>,
    messages: Lenient<Vec<Lenient<ChatMessage>>>,
    timestamp: Lenient<f64>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ChatHistory {
    messages: Lenient<BTreeMap<String, Lenient<ChatMessage>>>,
    current_id: Lenient<String>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ChatMessage {
    parent_id: Lenient<String>,
    role: Lenient<String>,
    content: Lenient<Body>,
    timestamp: Lenient<f64>,
    model: Lenient<String>,
    files: Lenient<Vec<Value>>,
}

impl ChatMessage {
    fn time(&self) -> Option<Timestamp> {
        self.timestamp.0.and_then(from_unix)
    }
}

/// Reads exported chats.
///
/// # Errors
///
/// Fails if the text has another format.
pub fn read_open_webui(text: &str) -> Result<ImportedHistory, ImportError> {
    let mut history = HistoryBuilder::default();
    let elements: Vec<&str> = match json::elements(text) {
        Some(elements) => {
            history.skip_many(BAD_CONVERSATIONS, usize::from(elements.is_truncated));
            elements.values.into_iter().map(RawValue::get).collect()
        }
        None => json::lines(text).collect(),
    };
    let mut has_chat = false;
    for element in elements {
        match add_chat(element, &mut history) {
            Some(()) => has_chat = true,
            None => history.skip(BAD_CONVERSATIONS),
        }
    }
    if has_chat { Ok(history.finish()) } else { Err(WRONG_FORMAT) }
}

pub(crate) async fn read_database(file: &Path) -> Result<ImportedHistory, ImportError> {
    let mut database = ForeignDatabase::open(file).await?;
    let rows = match database.has_table("chat").await {
        Ok(true) => query_chats(&mut database).await,
        Ok(false) => Err(WRONG_FORMAT),
        Err(error) => Err(error),
    };
    database.close().await;
    let mut history = HistoryBuilder::default();
    for row in rows? {
        if add_row(&row, &mut history).is_none() {
            history.skip(BAD_CONVERSATIONS);
        }
    }
    Ok(history.finish())
}

/// Returns the chats of the only user of a server, without copies that were shared.
async fn query_chats(database: &mut ForeignDatabase) -> Result<Vec<Record>, ImportError> {
    let chats = "SELECT * FROM chat WHERE user_id IS NULL OR user_id NOT LIKE 'shared-%'";
    let rows = database.query(chats, &[]).await?;
    let users: HashSet<String> = rows.iter().filter_map(|row| row.text("user_id")).collect();
    if users.len() > 1 { Err(ImportError::SeveralUsers) } else { Ok(rows) }
}

fn add_row(row: &Record, history: &mut HistoryBuilder) -> Option<()> {
    let chat: Chat = serde_json::from_str(&row.text("chat")?).ok()?;
    let meta = row.text("meta").and_then(|meta| serde_json::from_str(&meta).ok());
    let exported = ExportedChat {
        id: Lenient(row.text("id")),
        title: Lenient(row.text("title")),
        created_at: Lenient(row.number("created_at").or_else(|| row.number("timestamp"))),
        meta: Lenient(meta),
        chat: Lenient(None),
    };
    build(&exported, &chat, history)
}

/// Adds a chat. The oldest exports contain the chat itself, without the object around it.
fn add_chat(element: &str, history: &mut HistoryBuilder) -> Option<()> {
    let exported: ExportedChat = serde_json::from_str(element).ok()?;
    match &exported.chat.0 {
        Some(chat) => build(&exported, chat, history),
        None => {
            let chat: Chat = serde_json::from_str(element).ok()?;
            // A list of messages alone could be from any program.
            chat.history.0.as_ref()?.messages.0.as_ref()?;
            build(&exported, &chat, history)
        }
    }
}

fn build(exported: &ExportedChat, chat: &Chat, history: &mut HistoryBuilder) -> Option<()> {
    if chat.history.0.as_ref().is_none_or(|tree| tree.messages.0.is_none()) && chat.messages.0.is_none() {
        return None;
    }
    if exported.meta.0.as_ref().is_some_and(|meta| meta.internal.is_true()) {
        history.skip(PROGRAM);
        return Some(());
    }
    let current = current_branch(chat, history);
    let start = [exported.created_at.0, chat.timestamp.0].map(|time| time.and_then(from_unix));
    let mut clock = MessageClock::starting_at_first(
        start.into_iter().chain(current.iter().map(|message| message.time())),
    );
    let (mut messages, mut model): (Vec<DraftMessage>, _) = (Vec::new(), None);
    for message in current {
        let created = clock.advance(message.time());
        let Some(text) = extract_text(message, history) else { continue };
        match message.role.text() {
            Some("user") => messages.push(drafts::user(created, text)),
            Some("assistant") => {
                messages.push(drafts::assistant(created, text));
                model = message.model.text().or(model);
            }
            Some("system") => history.skip(SYSTEM),
            _ => history.skip(OTHER),
        }
    }
    let title = exported.title.text().filter(|title| *title != "New Chat").or(chat.title.text());
    let title = choose_title(title, &messages);
    let asked_model =
        chat.models.0.as_ref().and_then(|models| models.first()).filter(|model| !model.is_empty());
    let id = exported.id.text().map(str::to_owned).or_else(|| {
        let first = messages.first()?;
        Some(short_hash(&format!("{} {}", first.created.as_millis(), first.body.text())))
    });
    history.add(ImportedConversation {
        origin: format!("open-webui/{}", id.as_ref().unwrap_or(&title)),
        title,
        name: String::new(),
        scope: "open-webui".into(),
        model: model.or(asked_model.map(String::as_str)).unwrap_or(UNKNOWN_MODEL).into(),
        has_times: true,
        is_open: false,
        messages,
    });
    Some(())
}

/// Returns the messages of the current branch, and counts the others.
fn current_branch<'a>(chat: &'a Chat, history: &mut HistoryBuilder) -> Vec<&'a ChatMessage> {
    let tree = chat.history.0.as_ref().and_then(|tree| Some((tree, tree.messages.0.as_ref()?)));
    let Some((tree, nodes)) = tree.filter(|(_, nodes)| !nodes.is_empty()) else {
        let list = chat.messages.0.as_deref().unwrap_or_default();
        let readable: Vec<&ChatMessage> = list.iter().filter_map(|message| message.0.as_ref()).collect();
        history.skip_many(BAD_MESSAGES, list.len() - readable.len());
        return readable;
    };
    let parent_of =
        |id: &str| nodes.get(id)?.0.as_ref()?.parent_id.text().filter(|id| nodes.contains_key(*id));
    let current = tree.current_id.text().filter(|id| nodes.contains_key(*id)).or_else(|| newest_leaf(nodes));
    let path = current.map(|leaf| branch::path_to_leaf(leaf, parent_of)).unwrap_or_default();
    let readable: Vec<&ChatMessage> = path.iter().filter_map(|id| nodes.get(*id)?.0.as_ref()).collect();
    history.skip_many(BAD_MESSAGES, path.len() - readable.len());
    history.skip_many(ABANDONED, nodes.len() - path.len());
    readable
}

/// Returns the newest leaf, or the newest message if a cycle leaves no leaves.
fn newest_leaf(nodes: &BTreeMap<String, Lenient<ChatMessage>>) -> Option<&str> {
    let parents: HashSet<&str> =
        nodes.values().filter_map(|node| node.0.as_ref()?.parent_id.text()).collect();
    let newest = |is_candidate: &dyn Fn(&str) -> bool| {
        let candidates = nodes.iter().filter(|(id, _)| is_candidate(id));
        let times = candidates.map(|(id, node)| (node.0.as_ref().and_then(ChatMessage::time), id.as_str()));
        times.max().map(|(_, id)| id)
    };
    newest(&|id| !parents.contains(id)).or_else(|| newest(&|_| true))
}

/// Returns the text of a message without thoughts and tool calls, or `None` if nothing is left.
fn extract_text(message: &ChatMessage, history: &mut HistoryBuilder) -> Option<String> {
    let file_count = message.files.0.as_ref().map_or(0, Vec::len);
    let (mut texts, mut skip_count) = (Vec::new(), file_count);
    history.skip_many(FILES, file_count);
    let pieces =
        message.content.0.as_ref().map(|body| body.pieces(|kind| kind == "text")).unwrap_or_default();
    for piece in pieces {
        match piece {
            ContentPiece::Text(text) => {
                let mut text = text.to_owned();
                for (kind, open) in [
                    (THOUGHTS, "<details type=\"reasoning\""),
                    (TOOLS, "<details type=\"tool_calls\""),
                    (TOOLS, "<details type=\"code_interpreter\""),
                ] {
                    let (rest, count) = markup::remove_blocks(&text, open, "</details>");
                    history.skip_many(kind, count);
                    skip_count += count;
                    text = rest;
                }
                let (answer, has_thoughts) = markup::strip_thoughts(&text);
                history.skip_many(THOUGHTS, usize::from(has_thoughts));
                texts.push(answer.to_owned());
            }
            ContentPiece::Other(_) => {
                history.skip(FILES);
                skip_count += 1;
            }
        }
    }
    texts.retain(|text| !text.is_empty());
    history.skip_many(EMPTY, usize::from(texts.is_empty() && skip_count == 0));
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    #[test]
    fn chats_may_be_lines_and_have_a_list_of_messages() {
        let chat = |id: &str, text: &str| {
            format!(
                r#"{{"id": "{id}", "created_at": 1746945000, "chat": {{"messages": [{{"role": "user", "content": "{text}"}}, 3]}}}}"#
            )
        };
        let history = read_open_webui(&format!("{}\n{}\n", chat("a", "one"), chat("b", "two"))).unwrap();
        let origins: Vec<&str> =
            history.conversations.iter().map(|conversation| conversation.origin.as_str()).collect();
        assert_eq!(origins, ["open-webui/a", "open-webui/b"]);
        assert_eq!(history.skipped, [(BAD_MESSAGES, 2)]);
    }

    #[test]
    fn cycles_do_not_loop_forever() {
        let message = |parent: &str| format!(r#"{{"parentId": "{parent}", "role": "user", "content": "x"}}"#);
        let text = format!(
            r#"[{{"id": "1", "chat": {{"history": {{"messages": {{"a": {}, "b": {}}}}}}}}}]"#,
            message("b"),
            message("a")
        );
        assert_eq!(read_open_webui(&text).unwrap().conversations[0].messages.len(), 2);
    }

    #[test]
    fn other_formats_are_rejected() {
        for other in
            ["", "[]", "[1]", "{}", "[{\"id\": \"1\", \"mapping\": {}}]", "[{\"chat\": {}}]", "no JSON"]
        {
            assert!(matches!(read_open_webui(other), Err(ImportError::WrongFormat(_))), "{other:?}");
        }
    }
}
