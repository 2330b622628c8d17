//! Builds an imported history piece by piece, and names what is left out of it.

use std::collections::BTreeMap;

use memoir_core::{DraftMessage, NewConversation, Role, Timestamp};
use serde::de::DeserializeOwned;

use crate::{ImportedConversation, ImportedHistory, json};

pub(crate) const BAD_CONVERSATIONS: &str = "conversations that could not be read";
pub(crate) const BAD_LINES: &str = "lines that could not be read";
pub(crate) const BAD_MESSAGES: &str = "messages that could not be read";
pub(crate) const CONTEXT: &str = "instructions and context that the program sent";
pub(crate) const EMPTY: &str = "empty messages";
pub(crate) const EMPTY_CONVERSATIONS: &str = "conversations in which nothing was said";
pub(crate) const FILES: &str = "pictures, recordings and other files";
pub(crate) const HIDDEN: &str = "hidden messages";
pub(crate) const LEFT: &str = "messages of branches that were left";
pub(crate) const OTHER: &str = "messages of other kinds";
pub(crate) const PROGRAM: &str = "lines of the program itself";
pub(crate) const REPEATED: &str = "lines that stand there twice";
pub(crate) const SUB_AGENTS: &str = "messages of sub-agents";
pub(crate) const SYSTEM: &str = "system messages";
pub(crate) const THOUGHTS: &str = "thoughts";
pub(crate) const TOOLS: &str = "tool calls and their results";

/// A history that is being read.
#[derive(Debug, Default)]
pub(crate) struct HistoryBuilder {
    conversations: Vec<ImportedConversation>,
    skipped: BTreeMap<&'static str, u64>,
}

impl HistoryBuilder {
    /// Counts something that is left out.
    pub(crate) fn skip(&mut self, what: &'static str) {
        self.skip_many(what, 1);
    }

    /// Counts several things that are left out.
    pub(crate) fn skip_many(&mut self, what: &'static str, count: usize) {
        if count > 0 {
            *self.skipped.entry(what).or_default() += count as u64;
        }
    }

    /// Keeps a conversation, if anything was said in it.
    pub(crate) fn keep(&mut self, conversation: ImportedConversation) {
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

/// Reads a JSON array of conversations, each converted by `build`. A conversation that cannot be converted is counted and left out.
/// Returns `None` if there is not a single one.
pub(crate) fn read_array<C: DeserializeOwned + Default>(
    text: &str,
    build: &dyn Fn(&C, &mut HistoryBuilder) -> Option<ImportedConversation>,
) -> Option<ImportedHistory> {
    let elements = json::elements(text)?;
    let mut history = HistoryBuilder::default();
    history.skip_many(BAD_CONVERSATIONS, usize::from(elements.broken));
    let mut any = false;
    for element in elements.read {
        let conversation: C = serde_json::from_str(element.get()).unwrap_or_default();
        match build(&conversation, &mut history) {
            Some(conversation) => {
                any = true;
                history.keep(conversation);
            }
            None => history.skip(BAD_CONVERSATIONS),
        }
    }
    any.then(|| history.finish())
}

/// A title on one line: the one that was given, or the first line of the first prompt.
pub(crate) fn choose_title(given: Option<&str>, messages: &[DraftMessage]) -> String {
    let given = given.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    if !given.is_empty() {
        return given;
    }
    let by_user = messages.iter().find(|message| message.body.role() == Role::User);
    let first = by_user.or(messages.first()).map_or("", |message| message.body.text());
    NewConversation::titled_after(first, "").title
}

/// The clock of a conversation: a message without a time gets the time of the message before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MessageClock(Timestamp);

impl MessageClock {
    /// Creates a clock that shows the first known time.
    pub(crate) fn starting(times: impl IntoIterator<Item = Option<Timestamp>>) -> Self {
        Self(times.into_iter().flatten().next().unwrap_or(Timestamp::from_millis(0)))
    }

    /// Moves the clock to the time of the next message, if that is known, and returns what it shows.
    pub(crate) fn advance(&mut self, time: Option<Timestamp>) -> Timestamp {
        self.0 = time.unwrap_or(self.0);
        self.0
    }
}
