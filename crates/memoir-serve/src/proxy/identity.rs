//! Recognizes the conversation that a request continues.
//!
//! A program names it in a header or by the id of the last response; otherwise the conversation so far does. Each turn
//! has a key: a hash of what the user and the model have said up to it, and of who asks.

use memoir_core::ConversationId;
use memoir_runtime::{
    Failure,
    view::{MemoryView, Thread},
};
use sha2::{Digest as _, Sha256};

use super::request::{ChatCall, Speaker};

/// The conversation of a request.
#[derive(Debug)]
pub(super) struct Identity {
    owner: String,
    /// A key for each turn.
    keys: Vec<String>,
    /// Position of the user's last message.
    prompt: Option<usize>,
    pub(super) thread: Thread,
    /// Name that the program gave the conversation.
    name: Option<String>,
}

impl Identity {
    /// Looks up the conversation of a request.
    pub(super) async fn find(
        owner: &str,
        call: &ChatCall,
        name: Option<&str>,
        view: &MemoryView,
    ) -> Result<Self, Failure> {
        let prompt = call.turns.iter().rposition(|turn| turn.speaker == Speaker::User);
        let mut identity = Self {
            owner: owner.to_owned(),
            keys: chain(owner, call),
            prompt,
            thread: Thread::New,
            name: name.map(str::to_owned),
        };
        identity.thread = identity.find_thread(call, view).await?;
        Ok(identity)
    }

    async fn find_thread(&self, call: &ChatCall, view: &MemoryView) -> Result<Thread, Failure> {
        if let Some(name) = &self.name {
            // A program may also send the id that an earlier reply had.
            let id = name.parse().map(ConversationId::new);
            if let Ok(id) = id
                && let Some(conversation) = view.conversation(id).await?
                && conversation.scope == view.project()
            {
                return Ok(Thread::In(id));
            }
            let last = view.find_continuation(&self.named_key("conversation", name)).await?;
            return Ok(last.map_or(Thread::New, |last| Thread::In(last.conversation_id)));
        }
        if let Some(response) = &call.previous_response {
            let last = view.find_continuation(&self.named_key("response", response)).await?;
            return Ok(last.map_or(Thread::New, Thread::After));
        }
        let before = self.prompt.and_then(|prompt| prompt.checked_sub(1));
        let last = match before {
            Some(before) => view.find_continuation(&self.keys[before]).await?,
            None => None,
        };
        Ok(last.map_or(Thread::New, Thread::After))
    }

    /// Returns the position of the user's last message.
    pub(super) fn prompt(&self) -> Option<usize> {
        self.prompt
    }

    /// Returns the position of the user's last message, if it waits for an answer.
    pub(super) fn new_prompt(&self) -> Option<usize> {
        self.prompt.filter(|prompt| prompt + 1 == self.keys.len())
    }

    /// Returns the key of the conversation up to a turn.
    pub(super) fn key_of(&self, turn: usize) -> &str {
        &self.keys[turn]
    }

    /// Returns the conversation that is continued.
    pub(super) fn conversation(&self) -> Option<ConversationId> {
        match self.thread {
            Thread::New => None,
            Thread::After(last) => Some(last.conversation_id),
            Thread::In(conversation) => Some(conversation),
        }
    }

    /// Returns a text that is the same for all requests of a conversation.
    pub(super) fn session(&self) -> String {
        match (&self.name, self.keys.first()) {
            (Some(name), _) => name.clone(),
            (None, Some(first)) => first[..16].to_owned(),
            (None, None) => String::new(),
        }
    }

    /// Returns the keys by which a request can continue after an answer.
    pub(super) fn keys_after(&self, answer: &str, response: Option<&str>) -> Vec<String> {
        let last = self.keys.last().map_or("", String::as_str);
        let mut keys = vec![extend(last, "assistant", answer)];
        keys.extend(self.name.as_ref().map(|name| self.named_key("conversation", name)));
        keys.extend(response.map(|response| self.named_key("response", response)));
        keys
    }

    fn named_key(&self, kind: &str, name: &str) -> String {
        extend(&self.owner, kind, name)
    }
}

/// Returns a key for each turn. Tools are left out, because programs shorten their results later.
fn chain(owner: &str, call: &ChatCall) -> Vec<String> {
    let mut last = extend(owner, "owner", "");
    let next = |turn: &super::request::Turn| {
        last = match turn.speaker {
            Speaker::User => extend(&last, "user", &turn.text),
            Speaker::Assistant if turn.text.trim().is_empty() => last.clone(),
            Speaker::Assistant => extend(&last, "assistant", &turn.text),
            Speaker::Tool(_) => last.clone(),
        };
        last.clone()
    };
    call.turns.iter().map(next).collect()
}

/// Returns the key of what follows another key. Programs may change spaces at line ends.
fn extend(key: &str, speaker: &str, text: &str) -> String {
    let mut hash = Sha256::new();
    for part in [key, speaker] {
        hash.update(part);
        hash.update([0]);
    }
    for word in text.split_whitespace() {
        hash.update(word);
        hash.update([b' ']);
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
