//! ChatGPT's data export: `conversations.json`, an array of conversations. Since 2026 the export has several such
//! files, `conversations-000.json` and so on, each with a part of the conversations.
//!
//! A conversation is a tree of nodes, because retrying and editing fork it; `current_node` is the leaf that
//! was shown last. Not every message was visible to the user: system messages, tool calls, thoughts and
//! context are skipped and counted.

use std::collections::{BTreeMap, HashSet};

use memoir_core::{DraftMessage, Timestamp};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::{
    ImportError, ImportedConversation, ImportedHistory, UNKNOWN_MODEL, branch,
    builder::{
        ABANDONED, BAD_MESSAGES, CONTEXT, EMPTY, FILES, HIDDEN, HistoryBuilder, MessageClock, OTHER, SYSTEM,
        THOUGHTS, TOOLS, choose_title, read_array,
    },
    drafts,
    json::{Lenient, from_unix_seconds, strip_bom},
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct ChatGptConversation {
    id: Lenient<String>,
    conversation_id: Lenient<String>,
    title: Lenient<String>,
    create_time: Lenient<f64>,
    update_time: Lenient<f64>,
    current_node: Lenient<String>,
    default_model_slug: Lenient<String>,
    mapping: Lenient<ChatGptNodes>,
}

type ChatGptNodes = BTreeMap<String, Lenient<ChatGptNode>>;

#[derive(Default, Deserialize)]
#[serde(default)]
struct ChatGptNode {
    parent: Lenient<String>,
    /// Absent in the root.
    message: Option<Lenient<ChatGptMessage>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ChatGptMessage {
    author: Lenient<Author>,
    create_time: Lenient<f64>,
    content: Lenient<Content>,
    metadata: Lenient<Metadata>,
    recipient: Lenient<String>,
    channel: Lenient<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Author {
    role: Lenient<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Content {
    content_type: Lenient<String>,
    parts: Lenient<Vec<Value>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Metadata {
    model_slug: Lenient<String>,
    is_visually_hidden_from_conversation: Lenient<bool>,
    is_visually_hidden_from_user: Lenient<bool>,
}

/// Reads a ChatGPT data export.
///
/// # Errors
///
/// Fails if the text has another format.
pub fn read_chatgpt(text: &str) -> Result<ImportedHistory, ImportError> {
    const WRONG_FORMAT: ImportError =
        ImportError::WrongFormat("the conversations.json of a ChatGPT data export");
    read_array(conversation_array(text), &|conversation: &ChatGptConversation, history| {
        let id = conversation.conversation_id.text().or(conversation.id.text())?;
        Some(build_conversation(conversation, id, conversation.mapping.0.as_ref()?, history))
    })
    .ok_or(WRONG_FORMAT)
}

/// Returns the array of conversations, which some exports have in an object.
fn conversation_array(text: &str) -> &str {
    #[derive(Deserialize)]
    struct Wrapper<'a> {
        #[serde(borrow)]
        conversations: &'a RawValue,
    }
    // A struct is also read from an array, which is the usual format.
    match strip_bom(text).trim_start() {
        object if object.starts_with('{') => {
            serde_json::from_str::<Wrapper<'_>>(object).map_or(text, |wrapper| wrapper.conversations.get())
        }
        _ => text,
    }
}

fn build_conversation(
    conversation: &ChatGptConversation,
    id: &str,
    nodes: &ChatGptNodes,
    history: &mut HistoryBuilder,
) -> ImportedConversation {
    let path = current_path(conversation, nodes);
    let ids_on_path: HashSet<&str> = path.iter().copied().collect();
    let abandoned_nodes = nodes.iter().filter(|(id, _)| !ids_on_path.contains(id.as_str()));
    let abandoned = abandoned_nodes.filter_map(|(_, node)| node.0.as_ref()?.message.as_ref()?.0.as_ref());
    history.skip_many(ABANDONED, abandoned.filter(|message| skip_kind(message).is_none()).count());

    let current = path.iter().filter_map(|id| nodes.get(*id)?.0.as_ref()?.message.as_ref());
    let (mut messages, mut model): (Vec<DraftMessage>, _) = (Vec::new(), None);
    let times = current.clone().map(|message| time(message.0.as_ref()?));
    let parse = |time: &Lenient<f64>| time.0.and_then(from_unix_seconds);
    let mut clock = MessageClock::starting_at_first(
        [parse(&conversation.create_time)].into_iter().chain(times).chain([parse(&conversation.update_time)]),
    );
    for message in current {
        let Some(message) = &message.0 else {
            history.skip(BAD_MESSAGES);
            continue;
        };
        let created = clock.advance(time(message));
        let Some(text) = extract_text(message, history) else { continue };
        if message.role() == "user" {
            messages.push(drafts::user(created, text));
        } else {
            messages.push(drafts::assistant(created, text));
            model = message.metadata.0.as_ref().and_then(|metadata| metadata.model_slug.text()).or(model);
        }
    }
    ImportedConversation {
        title: choose_title(conversation.title.text(), &messages),
        origin: format!("chatgpt/{id}"),
        name: String::new(),
        scope: "chatgpt".into(),
        model: model.or(conversation.default_model_slug.text()).unwrap_or(UNKNOWN_MODEL).into(),
        has_times: true,
        is_open: false,
        messages,
    }
}

/// Returns the ids of the nodes on the current branch, root first.
fn current_path<'a>(conversation: &'a ChatGptConversation, nodes: &'a ChatGptNodes) -> Vec<&'a str> {
    let parent_of =
        |id: &str| nodes.get(id)?.0.as_ref()?.parent.text().filter(|parent| nodes.contains_key(*parent));
    let current = conversation.current_node.text().filter(|id| nodes.contains_key(*id));
    match current.or_else(|| newest_leaf(nodes)) {
        Some(leaf) => branch::path_to_leaf(leaf, parent_of),
        None => Vec::new(),
    }
}

/// Returns the newest leaf, or the newest node if a cycle leaves no leaves.
fn newest_leaf(nodes: &ChatGptNodes) -> Option<&str> {
    let parents: HashSet<&str> = nodes.values().filter_map(|node| node.0.as_ref()?.parent.text()).collect();
    let newest = |is_candidate: &dyn Fn(&str) -> bool| {
        let times = nodes.iter().filter(|(id, _)| is_candidate(id)).map(|(id, node)| {
            let message = node.0.as_ref().and_then(|node| node.message.as_ref()?.0.as_ref());
            (message.and_then(time), id.as_str())
        });
        times.max().map(|(_, id)| id)
    };
    newest(&|id| !parents.contains(id)).or_else(|| newest(&|_| true))
}

impl ChatGptMessage {
    fn role(&self) -> &str {
        self.author.0.as_ref().and_then(|author| author.role.text()).unwrap_or_default()
    }
}

fn time(message: &ChatGptMessage) -> Option<Timestamp> {
    message.create_time.0.and_then(from_unix_seconds)
}

/// Returns the kind under which a message is skipped, or `None` if it is an ordinary prompt or answer.
fn skip_kind(message: &ChatGptMessage) -> Option<&'static str> {
    match message.role() {
        "user" | "assistant" => {}
        "system" => return Some(SYSTEM),
        "tool" => return Some(TOOLS),
        _ => return Some(OTHER),
    }
    let is_hidden = message.metadata.0.as_ref().is_some_and(|metadata| {
        metadata.is_visually_hidden_from_conversation.is_true()
            || metadata.is_visually_hidden_from_user.is_true()
    });
    let Some(content) = &message.content.0 else { return Some(BAD_MESSAGES) };
    match content.content_type.text().unwrap_or("text") {
        "user_editable_context" | "model_editable_context" => Some(CONTEXT),
        _ if is_hidden => Some(HIDDEN),
        "thoughts" | "reasoning_recap" => Some(THOUGHTS),
        _ if message.channel.text() == Some("analysis") => Some(THOUGHTS),
        _ if message.role() == "assistant" && message.recipient.text().unwrap_or("all") != "all" => {
            Some(TOOLS)
        }
        "text" | "multimodal_text" => None,
        "code"
        | "execution_output"
        | "computer_output"
        | "system_error"
        | "tether_quote"
        | "tether_browsing_code"
        | "tether_browsing_display" => Some(TOOLS),
        _ => Some(OTHER),
    }
}

/// Returns the text of a message, unless the message is skipped or has none.
fn extract_text(message: &ChatGptMessage, history: &mut HistoryBuilder) -> Option<String> {
    if let Some(kind) = skip_kind(message) {
        history.skip(kind);
        return None;
    }
    let parts = message.content.0.as_ref()?.parts.0.as_deref().unwrap_or_default();
    let (mut texts, mut file_count) = (Vec::new(), 0);
    for part in parts {
        match part_text(part) {
            Some(text) => texts.push(text.trim()),
            None => file_count += 1,
        }
    }
    texts.retain(|text| !text.is_empty());
    history.skip_many(FILES, file_count);
    history.skip_many(EMPTY, usize::from(texts.is_empty() && file_count == 0));
    (!texts.is_empty()).then(|| texts.join("\n\n"))
}

/// Returns the text of a part: typed, or transcribed from speech. Pictures and recordings have none.
fn part_text(part: &Value) -> Option<&str> {
    let transcription = || {
        let is_transcription = part.get("content_type")?.as_str()? == "audio_transcription";
        part.get("text").filter(|_| is_transcription)?.as_str()
    };
    part.as_str().or_else(transcription)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    fn node(id: &str, parent: &str, role: &str, text: &str, time: f64) -> String {
        format!(
            r#""{id}": {{"parent": {parent:?}, "message": {{"author": {{"role": {role:?}}}, "create_time": {time},
            "content": {{"content_type": "text", "parts": [{text:?}]}}}}}}"#
        )
    }

    fn texts(history: &ImportedHistory) -> Vec<&str> {
        history.conversations[0].messages.iter().map(|message| message.body.text()).collect()
    }

    #[test]
    fn newest_leaf_is_used_without_a_current_node() {
        let nodes = [
            node("a", "gone", "user", "q", 1.0),
            node("b", "a", "assistant", "new", 9.0),
            node("c", "a", "assistant", "old", 2.0),
        ];
        let export = format!("[{{\"id\": \"1\", \"mapping\": {{{}}}}}]", nodes.join(","));
        let history = read_chatgpt(&export).unwrap();
        assert_eq!(texts(&history), ["q", "new"]);
        assert_eq!(history.skipped, [(ABANDONED, 1)]);
    }

    #[test]
    fn conversations_may_be_in_an_object() {
        let nodes = node("a", "client-created-root", "user", "q", 1.0);
        let export = format!("{{\"conversations\": [{{\"id\": \"1\", \"mapping\": {{{nodes}}}}}]}}");
        assert_eq!(texts(&read_chatgpt(&export).unwrap()), ["q"]);
    }

    #[test]
    fn cycles_do_not_loop_forever() {
        let nodes = [node("a", "b", "user", "q", 1.0), node("b", "a", "assistant", "r", 2.0)];
        for current in ["a", "b", "nowhere"] {
            let export = format!(
                "[{{\"id\": \"1\", \"current_node\": {current:?}, \"mapping\": {{{}}}}}]",
                nodes.join(",")
            );
            assert_eq!(texts(&read_chatgpt(&export).unwrap()).len(), 2);
        }
    }

    #[test]
    fn other_formats_are_rejected() {
        for other in
            ["", "[]", "[1]", "{}", "[{\"uuid\": \"1\", \"chat_messages\": []}]", "[31/12/2023, 22:15] A: b"]
        {
            assert!(matches!(read_chatgpt(other), Err(ImportError::WrongFormat(_))), "{other:?}");
        }
    }
}
