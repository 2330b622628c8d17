//! The logs of the `llm` command, in the database `logs.db`.
//!
//! Since version 0.32 it stores chains of messages, which threads share; before, prompts with their responses; and
//! before 0.6 a plain log. All can be in one file. A conversation that a newer version has continued is a thread
//! with the same id and all messages.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::Path,
};

use memoir_core::{DraftMessage, Timestamp};
use serde_json::Value;

use crate::{
    ImportError, ImportedConversation, ImportedHistory, UNKNOWN_MODEL, branch,
    builder::{EMPTY, FILES, HistoryBuilder, MessageClock, SYSTEM, THOUGHTS, TOOLS, choose_title},
    database::{ForeignDatabase, Record},
    drafts,
};

pub(crate) async fn read_database(file: &Path) -> Result<ImportedHistory, ImportError> {
    let mut database = ForeignDatabase::open(file).await?;
    let tables = Tables::load(&mut database).await;
    database.close().await;
    let tables = tables?;
    let mut history = HistoryBuilder::default();
    let legacy = LegacyLog::new(&tables);
    let chains = MessageChains::new(&tables);
    let mut thread_ids = HashSet::new();
    for thread in &tables.threads {
        let Some(id) = thread.text("id") else { continue };
        chains.add_thread(&id, thread, legacy.conversations.get(&id), &mut history);
        thread_ids.insert(id);
    }
    for (id, conversation) in &legacy.conversations {
        if !thread_ids.contains(id) {
            legacy.add_conversation(id, conversation, &mut history);
        }
    }
    Ok(history.finish())
}

/// Rows by the value of one of their columns.
type Groups<'a> = HashMap<String, Vec<&'a Record>>;

fn group_by<'a>(rows: &'a [Record], column: &str) -> Groups<'a> {
    let mut groups = Groups::new();
    for row in rows {
        if let Some(key) = row.text(column) {
            groups.entry(key).or_default().push(row);
        }
    }
    groups
}

struct Tables {
    logs: Vec<Record>,
    conversations: Vec<Record>,
    responses: Vec<Record>,
    fragments: Vec<Record>,
    prompt_fragments: Vec<Record>,
    prompt_attachments: Vec<Record>,
    tool_calls: Vec<Record>,
    tool_results: Vec<Record>,
    threads: Vec<Record>,
    turns: Vec<Record>,
    messages: Vec<Record>,
    parts: Vec<Record>,
}

impl Tables {
    async fn load(database: &mut ForeignDatabase) -> Result<Self, ImportError> {
        let mut is_log = false;
        for table in ["logs", "responses", "threads"] {
            is_log |= database.has_table(table).await?;
        }
        if !is_log {
            return Err(ImportError::WrongFormat("the logs.db of llm"));
        }
        Ok(Self {
            logs: database.table("logs").await?,
            conversations: database.table("conversations").await?,
            responses: database.table("responses").await?,
            fragments: database.table("fragments").await?,
            prompt_fragments: database.table("prompt_fragments").await?,
            prompt_attachments: database.table("prompt_attachments").await?,
            tool_calls: database.table("tool_calls").await?,
            tool_results: database.table("tool_results").await?,
            threads: database.table("threads").await?,
            turns: database.table("turns").await?,
            messages: database.table("messages").await?,
            parts: database.table("parts").await?,
        })
    }

    fn fragment_texts(&self) -> HashMap<String, String> {
        let text = |row: &Record| Some((row.text("id")?, row.text("content").unwrap_or_default()));
        self.fragments.iter().filter_map(text).collect()
    }
}

/// A time such as `2025-05-11T08:30:00.87+00:00`, with a space instead of the `T`, or in UTC without an offset.
fn parse_time(text: &str) -> Option<Timestamp> {
    let text = text.replacen(' ', "T", 1);
    Timestamp::parse(&text).or_else(|| Timestamp::parse(&format!("{text}Z")))
}

fn row_time(row: &Record) -> Option<Timestamp> {
    parse_time(&row.text("datetime_utc")?)
}

/// Prompts with their responses, as versions before 0.32 stored them.
struct LegacyLog<'a> {
    conversations: BTreeMap<String, LegacyConversation<'a>>,
    fragments: HashMap<String, String>,
    prompt_fragments: Groups<'a>,
    prompt_attachments: Groups<'a>,
    tool_calls: Groups<'a>,
    tool_results: Groups<'a>,
}

#[derive(Default)]
struct LegacyConversation<'a> {
    name: Option<String>,
    model: Option<String>,
    responses: Vec<&'a Record>,
}

impl<'a> LegacyLog<'a> {
    fn new(tables: &'a Tables) -> Self {
        let mut conversations: BTreeMap<String, LegacyConversation<'a>> = BTreeMap::new();
        for row in &tables.conversations {
            let Some(id) = row.text("id") else { continue };
            let conversation = conversations.entry(id).or_default();
            (conversation.name, conversation.model) = (row.text("name"), row.text("model"));
        }
        for row in &tables.responses {
            let Some(id) = row.text("conversation_id").or_else(|| row.text("id")) else { continue };
            conversations.entry(id).or_default().responses.push(row);
        }
        for row in &tables.logs {
            let Some(id) = row.text("chat_id").or_else(|| row.text("id")) else { continue };
            conversations.entry(format!("logs/{id}")).or_default().responses.push(row);
        }
        for conversation in conversations.values_mut() {
            // Ids of responses sort by time as text; those of the first versions are numbers.
            conversation.responses.sort_by_cached_key(|row| {
                let id = row.text("id").unwrap_or_default();
                (id.parse::<u64>().unwrap_or_default(), id)
            });
        }
        Self {
            conversations,
            fragments: tables.fragment_texts(),
            prompt_fragments: group_by(&tables.prompt_fragments, "response_id"),
            prompt_attachments: group_by(&tables.prompt_attachments, "response_id"),
            tool_calls: group_by(&tables.tool_calls, "response_id"),
            tool_results: group_by(&tables.tool_results, "response_id"),
        }
    }

    fn add_conversation(
        &self,
        id: &str,
        conversation: &LegacyConversation<'_>,
        history: &mut HistoryBuilder,
    ) {
        let mut clock =
            MessageClock::starting_at_first(conversation.responses.iter().map(|row| row_time(row)));
        let mut messages: Vec<DraftMessage> = Vec::new();
        let mut model = conversation.model.clone();
        for response in &conversation.responses {
            let created = clock.advance(row_time(response));
            let count =
                |groups: &Groups<'_>| response.text("id").and_then(|id| groups.get(&id)).map_or(0, Vec::len);
            let tool_count = count(&self.tool_calls) + count(&self.tool_results);
            history.skip_many(TOOLS, tool_count);
            history.skip_many(FILES, count(&self.prompt_attachments));
            history.skip_many(SYSTEM, usize::from(response.text("system").is_some()));
            history.skip_many(THOUGHTS, usize::from(response.text("reasoning").is_some()));
            let prompt = self.prompt(response);
            let answer = response.text("response").unwrap_or_default();
            let is_empty = prompt.trim().is_empty() && answer.trim().is_empty() && tool_count == 0;
            history.skip_many(EMPTY, usize::from(is_empty));
            if !prompt.trim().is_empty() {
                messages.push(drafts::user(created, prompt.trim()));
            }
            if !answer.trim().is_empty() {
                messages.push(drafts::assistant(created, answer.trim()));
            }
            model = response.text("model").or(model);
        }
        history.add(build(id, conversation.name.as_deref(), model, messages));
    }

    /// Returns a prompt with the fragments in front of it.
    fn prompt(&self, response: &Record) -> String {
        let mut rows =
            response.text("id").and_then(|id| self.prompt_fragments.get(&id)).cloned().unwrap_or_default();
        rows.sort_by_key(|row| row.number("order").unwrap_or_default() as i64);
        let fragments = rows.iter().filter_map(|row| self.fragments.get(&row.text("fragment_id")?).cloned());
        fragments.chain(response.text("prompt")).collect::<Vec<_>>().join("\n")
    }
}

/// Messages that point to the message before them, as versions since 0.32 store them.
struct MessageChains<'a> {
    messages: HashMap<String, ChainMessage>,
    parts: Groups<'a>,
    fragments: HashMap<String, String>,
    /// Calls of a model by their last message and by their prompt.
    turns_by_tip: Groups<'a>,
    turns_by_parent: Groups<'a>,
}

struct ChainMessage {
    parent: Option<String>,
    role: String,
}

impl<'a> MessageChains<'a> {
    fn new(tables: &'a Tables) -> Self {
        let message = |row: &Record| {
            let role = row.text("role").unwrap_or_default();
            Some((row.text("hash")?, ChainMessage { parent: row.text("parent_hash"), role }))
        };
        let mut parts = group_by(&tables.parts, "message_hash");
        for rows in parts.values_mut() {
            rows.sort_by_key(|row| row.number("position").unwrap_or_default() as i64);
        }
        Self {
            messages: tables.messages.iter().filter_map(message).collect(),
            parts,
            fragments: tables.fragment_texts(),
            turns_by_tip: group_by(&tables.turns, "tip_message_hash"),
            turns_by_parent: group_by(&tables.turns, "parent_message_hash"),
        }
    }

    fn add_thread(
        &self,
        id: &str,
        thread: &Record,
        legacy: Option<&LegacyConversation<'_>>,
        history: &mut HistoryBuilder,
    ) {
        let tip = thread.text("tip_message_hash").unwrap_or_default();
        let parent_of = |hash: &str| {
            self.messages.get(hash)?.parent.as_deref().filter(|hash| self.messages.contains_key(*hash))
        };
        // The closure borrows from `self`, so the path must too.
        let tip = self.messages.get_key_value(&tip).map(|(hash, _)| hash.as_str());
        let path = tip.map(|tip| branch::path_to_leaf(tip, parent_of)).unwrap_or_default();
        let responses = legacy.map_or(&[][..], |legacy| legacy.responses.as_slice());
        let mut answer_count = 0;
        let (mut messages, mut model) = (Vec::new(), legacy.and_then(|legacy| legacy.model.clone()));
        let times: Vec<Option<Timestamp>> = path
            .iter()
            .map(|hash| {
                let turn = self.turn(hash, id);
                let response = responses.get(answer_count).copied();
                answer_count += usize::from(self.messages[*hash].role == "assistant");
                turn.or(response).and_then(row_time)
            })
            .collect();
        let started = row_time(thread);
        let mut clock = MessageClock::starting_at_first(times.iter().copied().chain([started]));
        for (hash, time) in path.iter().zip(times) {
            let created = clock.advance(time);
            let role = self.messages[*hash].role.as_str();
            if let Some(turn) = self.turn(hash, id) {
                model = turn.text("model").or(model);
            }
            let Some(text) = self.text(hash, role, history) else { continue };
            match role {
                "user" => messages.push(drafts::user(created, text)),
                _ => messages.push(drafts::assistant(created, text)),
            }
        }
        let name = legacy.and_then(|legacy| legacy.name.clone()).or_else(|| thread.text("name"));
        history.add(build(id, name.as_deref(), model, messages));
    }

    /// Returns the call that a message is the prompt or the answer of, preferably in the same thread.
    fn turn(&self, hash: &str, thread: &str) -> Option<&'a Record> {
        let groups = [self.turns_by_tip.get(hash), self.turns_by_parent.get(hash)];
        let turns = || groups.into_iter().flatten().flatten().copied();
        turns()
            .find(|turn| turn.text("thread_id").as_deref() == Some(thread))
            .or_else(|| turns().min_by_key(|turn| row_time(turn)))
    }

    /// Returns the text of a prompt or an answer, or `None` if the message is skipped.
    fn text(&self, hash: &str, role: &str, history: &mut HistoryBuilder) -> Option<String> {
        match role {
            "user" | "assistant" => {}
            "system" => {
                history.skip(SYSTEM);
                return None;
            }
            _ => {
                history.skip(TOOLS);
                return None;
            }
        }
        let (mut text, mut skip_count) = (String::new(), 0);
        for part in self.parts.get(hash).into_iter().flatten() {
            let kind = match part.text("type").as_deref() {
                Some("text") => {
                    text.push_str(&self.part_text(part));
                    continue;
                }
                Some("reasoning") => THOUGHTS,
                Some("attachment") => FILES,
                _ => TOOLS,
            };
            history.skip(kind);
            skip_count += 1;
        }
        let text = text.trim();
        history.skip_many(EMPTY, usize::from(text.is_empty() && skip_count == 0));
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Returns the text of a part, which may refer to fragments.
    fn part_text(&self, part: &Record) -> String {
        if let Some(text) = part.text("text") {
            return text;
        }
        let payload: Value =
            part.text("payload").and_then(|payload| serde_json::from_str(&payload).ok()).unwrap_or_default();
        let pieces = payload.get("text_ref").and_then(Value::as_array).into_iter().flatten();
        pieces
            .filter_map(|piece| match piece.get("fragment") {
                Some(id) => self.fragments.get(&id.to_string()).map(String::as_str),
                None => piece.get("literal")?.as_str(),
            })
            .collect()
    }
}

fn build(
    id: &str,
    name: Option<&str>,
    model: Option<String>,
    messages: Vec<DraftMessage>,
) -> ImportedConversation {
    ImportedConversation {
        title: choose_title(name, &messages),
        origin: format!("llm/{id}"),
        name: String::new(),
        scope: "llm".into(),
        model: model.unwrap_or_else(|| UNKNOWN_MODEL.into()),
        has_times: true,
        is_open: false,
        messages,
    }
}
