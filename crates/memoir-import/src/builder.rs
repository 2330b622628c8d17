//! Builds an imported history while a file is read, and counts the skipped parts.

use std::collections::{BTreeMap, HashMap, hash_map::Entry};

use memoir_core::{DraftMessage, NewConversation, Role, Timestamp};
use serde::de::DeserializeOwned;
use sha2::{Digest as _, Sha256};

use crate::{ImportedConversation, ImportedHistory, json};

pub(crate) const ABANDONED: &str = "messages on abandoned branches";
pub(crate) const BAD_CONVERSATIONS: &str = "conversations that could not be read";
pub(crate) const BAD_LINES: &str = "lines that could not be read";
pub(crate) const BAD_MESSAGES: &str = "messages that could not be read";
pub(crate) const CONTEXT: &str = "instructions and context added by the program";
pub(crate) const EMPTY: &str = "empty messages";
pub(crate) const EMPTY_CONVERSATIONS: &str = "empty conversations";
pub(crate) const FILES: &str = "pictures, recordings and other files";
pub(crate) const HIDDEN: &str = "hidden messages";
pub(crate) const OTHER: &str = "messages of other kinds";
pub(crate) const PROGRAM: &str = "lines written by the program";
pub(crate) const REPEATED: &str = "repeated lines";
pub(crate) const SUB_AGENTS: &str = "sub-agent messages";
pub(crate) const SUMMARIES: &str = "summaries written by the program";
pub(crate) const SYSTEM: &str = "system messages";
pub(crate) const THOUGHTS: &str = "thoughts";
pub(crate) const TOOLS: &str = "tool calls and results";

#[derive(Debug, Default)]
pub(crate) struct HistoryBuilder {
    conversations: Vec<ImportedConversation>,
    skipped: BTreeMap<&'static str, u64>,
}

impl HistoryBuilder {
    /// Counts one skipped item of a kind.
    pub(crate) fn skip(&mut self, kind: &'static str) {
        self.skip_many(kind, 1);
    }

    pub(crate) fn skip_many(&mut self, kind: &'static str, count: usize) {
        if count > 0 {
            *self.skipped.entry(kind).or_default() += count as u64;
        }
    }

    /// Adds a conversation, or counts it as skipped if it has no messages.
    pub(crate) fn add(&mut self, conversation: ImportedConversation) {
        if conversation.messages.is_empty() {
            self.skip(EMPTY_CONVERSATIONS);
        } else {
            self.conversations.push(conversation);
        }
    }

    /// Returns the history, with its conversations oldest first.
    pub(crate) fn finish(mut self) -> ImportedHistory {
        self.conversations
            .sort_by_key(|conversation| conversation.messages.first().map(|message| message.created));
        ImportedHistory { conversations: self.conversations, skipped: self.skipped.into_iter().collect() }
    }
}

/// Joins the histories of several files. Of a conversation that is in more than one, the longest copy is used.
pub(crate) fn merge(histories: Vec<ImportedHistory>) -> ImportedHistory {
    let mut merged = HistoryBuilder::default();
    let mut positions: HashMap<(String, String), usize> = HashMap::new();
    for history in histories {
        for (kind, count) in history.skipped {
            *merged.skipped.entry(kind).or_default() += count;
        }
        for conversation in history.conversations {
            match positions.entry((conversation.origin.clone(), conversation.name.clone())) {
                Entry::Vacant(entry) => {
                    entry.insert(merged.conversations.len());
                    merged.conversations.push(conversation);
                }
                Entry::Occupied(entry) => {
                    let first = &mut merged.conversations[*entry.get()];
                    if first.messages.len() < conversation.messages.len() {
                        *first = conversation;
                    }
                }
            }
        }
    }
    merged.finish()
}

/// Reads a JSON array of conversations, each converted by `build`. A conversation that cannot be converted is
/// counted as skipped. Returns `None` if none can be converted.
pub(crate) fn read_array<C: DeserializeOwned + Default>(
    text: &str,
    build: &dyn Fn(&C, &mut HistoryBuilder) -> Option<ImportedConversation>,
) -> Option<ImportedHistory> {
    let elements = json::elements(text)?;
    let mut history = HistoryBuilder::default();
    history.skip_many(BAD_CONVERSATIONS, usize::from(elements.is_truncated));
    let mut has_conversation = false;
    for element in elements.values {
        let conversation: C = serde_json::from_str(element.get()).unwrap_or_default();
        match build(&conversation, &mut history) {
            Some(conversation) => {
                has_conversation = true;
                history.add(conversation);
            }
            None => history.skip(BAD_CONVERSATIONS),
        }
    }
    has_conversation.then(|| history.finish())
}

/// Returns the file's title on one line, or a title made from the first prompt if the file has none.
pub(crate) fn choose_title(file_title: Option<&str>, messages: &[DraftMessage]) -> String {
    let title = file_title.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    if !title.is_empty() {
        return title;
    }
    let first_prompt = messages.iter().find(|message| message.body.role() == Role::User);
    let text = first_prompt.or(messages.first()).map_or("", |message| message.body.text());
    NewConversation::titled_after(text, "").title
}

/// Dates the messages of a conversation: a message without a time gets the time of the message before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MessageClock(Timestamp);

impl MessageClock {
    /// Creates a clock set to the first time that is present.
    pub(crate) fn starting_at_first(times: impl IntoIterator<Item = Option<Timestamp>>) -> Self {
        Self(times.into_iter().flatten().next().unwrap_or(Timestamp::from_millis(0)))
    }

    /// Sets the clock to the time of the next message, if it has one, and returns the clock's time.
    pub(crate) fn advance(&mut self, time: Option<Timestamp>) -> Timestamp {
        self.0 = time.unwrap_or(self.0);
        self.0
    }
}

/// Returns a short checksum, to identify a conversation that has no id.
pub(crate) fn short_hash(text: &str) -> String {
    Sha256::digest(text).iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}
