//! What is read of a file, piece by piece, and the words for what is left out of it.

use std::collections::BTreeMap;

use memoir_core::{DraftMessage, NewConversation, Role, Timestamp};
use serde::de::DeserializeOwned;

use crate::{Talk, Thread, json};

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

/// What was read so far.
#[derive(Debug, Default)]
pub(crate) struct Gathering {
    threads: Vec<Thread>,
    skipped: BTreeMap<&'static str, u64>,
}

impl Gathering {
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
    pub(crate) fn keep(&mut self, thread: Thread) {
        if thread.messages.is_empty() {
            self.skip(EMPTY_CONVERSATIONS);
        } else {
            self.threads.push(thread);
        }
    }

    /// All of it, oldest first.
    pub(crate) fn into_talk(mut self) -> Talk {
        self.threads.sort_by_key(|thread| thread.messages.first().map(|message| message.created));
        Talk { threads: self.threads, skipped: self.skipped.into_iter().collect() }
    }
}

/// The conversations of an array, each made into a thread by `thread`; one that cannot be does not keep the others. Nothing, if there is
/// none at all.
pub(crate) fn of_array<C: DeserializeOwned + Default>(
    text: &str,
    thread: &dyn Fn(&C, &mut Gathering) -> Option<Thread>,
) -> Option<Talk> {
    let elements = json::elements(text)?;
    let mut gathering = Gathering::default();
    gathering.skip_many(BAD_CONVERSATIONS, usize::from(elements.broken));
    let mut any = false;
    for element in elements.read {
        let conversation: C = serde_json::from_str(element.get()).unwrap_or_default();
        match thread(&conversation, &mut gathering) {
            Some(thread) => {
                any = true;
                gathering.keep(thread);
            }
            None => gathering.skip(BAD_CONVERSATIONS),
        }
    }
    any.then(|| gathering.into_talk())
}

/// A title on one line: the one that was given, or the first line of the first prompt.
pub(crate) fn title(given: Option<&str>, messages: &[DraftMessage]) -> String {
    let given = given.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    if !given.is_empty() {
        return given;
    }
    let by_user = messages.iter().find(|message| message.body.role() == Role::User);
    let first = by_user.or(messages.first()).map_or("", |message| message.body.text());
    NewConversation::titled_after(first, "").title
}

/// The clock of a conversation: what has no time of its own was said when what stands before it was.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock(Timestamp);

impl Clock {
    /// A clock that stands at the first time that is told.
    pub(crate) fn starting(told: impl IntoIterator<Item = Option<Timestamp>>) -> Self {
        Self(told.into_iter().flatten().next().unwrap_or(Timestamp::from_millis(0)))
    }

    /// The time of the next message.
    pub(crate) fn at(&mut self, told: Option<Timestamp>) -> Timestamp {
        self.0 = told.unwrap_or(self.0);
        self.0
    }
}
