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

use super::{
    additions::Additions,
    request::{ChatCall, Speaker, Turn},
};

/// The keys of a request.
struct Keys {
    /// A key for each turn.
    of_turns: Vec<String>,
    /// Hash of the last message of the user and of what the model has said since, between calls of tools.
    answer: Sha256,
}

/// Maximum number of earlier answers that are looked up.
const MAX_LOOKUPS: usize = 4;

/// The conversation of a request.
pub(super) struct Identity {
    owner: String,
    keys: Keys,
    /// Position of the user's last message.
    prompt: Option<usize>,
    pub(super) thread: Thread,
    /// Name that the program gave the conversation.
    name: Option<String>,
}

impl Identity {
    /// Looks up the conversation of a request. If it sends only the results of tools, adds the turns that it continues.
    pub(super) async fn find(
        owner: &str,
        call: &mut ChatCall,
        name: Option<&str>,
        view: &MemoryView,
        additions: &Additions,
    ) -> Result<Self, Failure> {
        let response = call.previous_response.as_ref().map(|id| name_key(owner, "response", id));
        let open = response.as_ref().and_then(|key| additions.find_open(key));
        let thread = open.as_ref().map(|open| open.thread);
        if let Some(open) = open {
            call.turns.splice(..0, open.turns.iter().cloned());
        }
        let prompt = call.turns.iter().rposition(|turn| turn.speaker == Speaker::User);
        let mut identity = Self {
            owner: owner.to_owned(),
            keys: chain(owner, call),
            prompt,
            thread: Thread::New,
            name: name.map(str::to_owned),
        };
        identity.thread = match thread {
            Some(thread) => thread,
            None => identity.find_thread(call, response, view).await?,
        };
        Ok(identity)
    }

    async fn find_thread(
        &self,
        call: &ChatCall,
        response: Option<String>,
        view: &MemoryView,
    ) -> Result<Thread, Failure> {
        if let Some(name) = &self.name {
            // A program may also send the id that an earlier reply to it had.
            for kind in ["conversation", "id"] {
                if let Some(last) = view.find_continuation(&self.named_key(kind, name)).await? {
                    return Ok(Thread::In(last.conversation_id));
                }
            }
            return Ok(Thread::New);
        }
        if let Some(response) = response {
            let last = view.find_continuation(&response).await?;
            return Ok(last.map_or(Thread::New, Thread::After));
        }
        // An answer may have been cut off, or the program may send two messages in a row.
        let ends = call.turns.iter().zip(&self.keys.of_turns).take(self.prompt.unwrap_or(0));
        let ends: Vec<&String> =
            ends.filter(|(turn, _)| turn.speaker == Speaker::Assistant).map(|(_, key)| key).collect();
        for key in ends.into_iter().rev().take(MAX_LOOKUPS) {
            if let Some(last) = view.find_continuation(key).await? {
                return Ok(Thread::After(last));
            }
        }
        Ok(Thread::New)
    }

    /// Returns the position of the user's last message.
    pub(super) fn prompt(&self) -> Option<usize> {
        self.prompt
    }

    /// Returns the position of the user's last message, if it waits for an answer.
    pub(super) fn new_prompt(&self) -> Option<usize> {
        self.prompt.filter(|prompt| prompt + 1 == self.keys.of_turns.len())
    }

    /// Returns the key of the conversation up to a turn.
    pub(super) fn key_of(&self, turn: usize) -> &str {
        &self.keys.of_turns[turn]
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
        match (&self.name, self.keys.of_turns.first()) {
            (Some(name), _) => name.clone(),
            (None, Some(first)) => first[..16].to_owned(),
            (None, None) => String::new(),
        }
    }

    /// Returns the keys by which a request can continue after an answer.
    pub(super) fn keys_after(
        &self,
        answer: &str,
        response: Option<&str>,
        conversation: ConversationId,
    ) -> Vec<String> {
        let mut hash = self.keys.answer.clone();
        add_words(&mut hash, &without_thoughts(answer));
        let mut keys = vec![to_key(hash), self.named_key("id", &conversation.to_string())];
        keys.extend(self.name.as_ref().map(|name| self.named_key("conversation", name)));
        keys.extend(response.map(|response| self.response_key(response)));
        keys
    }

    /// Looks the conversation up again if the program named it, because another request may have begun it by now.
    pub(super) async fn refresh(&mut self, view: &MemoryView) -> Result<(), Failure> {
        if let (Thread::New, Some(name)) = (self.thread, &self.name)
            && let Some(last) = view.find_continuation(&self.named_key("conversation", name)).await?
        {
            self.thread = Thread::In(last.conversation_id);
        }
        Ok(())
    }

    /// Returns whether the program named the conversation.
    pub(super) fn is_named(&self) -> bool {
        self.name.is_some()
    }

    /// Returns the key of a response.
    pub(super) fn response_key(&self, id: &str) -> String {
        self.named_key("response", id)
    }

    fn named_key(&self, kind: &str, name: &str) -> String {
        name_key(&self.owner, kind, name)
    }
}

/// Returns the keys of a request. Tools are left out, because programs shorten their results later. Consecutive texts of
/// the model count as one, because APIs divide them differently.
fn chain(owner: &str, call: &ChatCall) -> Keys {
    let mut last = to_key(begin(owner, "owner"));
    let mut answer = begin(&last, "assistant");
    let next = |turn: &Turn| {
        match turn.speaker {
            Speaker::User => {
                let mut hash = begin(&last, "user");
                add_words(&mut hash, &turn.text);
                last = to_key(hash);
                answer = begin(&last, "assistant");
            }
            Speaker::Assistant if !turn.text.trim().is_empty() => {
                add_words(&mut answer, &without_thoughts(&turn.text));
                last = to_key(answer.clone());
            }
            Speaker::Assistant | Speaker::Tool(_) => {}
        }
        last.clone()
    };
    let of_turns = call.turns.iter().map(next).collect();
    Keys { of_turns, answer }
}

/// Returns a text without what models write between `<think>` and `</think>`.
fn without_thoughts(text: &str) -> String {
    let mut rest = text;
    let mut said = String::new();
    while let Some((before, thoughts)) = rest.split_once("<think>") {
        said.push_str(before);
        rest = thoughts.split_once("</think>").map_or("", |(_, after)| after);
    }
    said + rest
}

/// Begins the hash of what follows another key.
fn begin(key: &str, kind: &str) -> Sha256 {
    let mut hash = Sha256::new();
    for part in [key, kind] {
        hash.update(part);
        hash.update([0]);
    }
    hash
}

/// Adds a text to a hash, without white space, which programs change.
fn add_words(hash: &mut Sha256, text: &str) {
    text.split_whitespace().for_each(|word| hash.update(word));
}

fn to_key(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the key of a name that a program or a provider has chosen.
fn name_key(owner: &str, kind: &str, name: &str) -> String {
    let mut hash = begin(owner, kind);
    hash.update(name);
    to_key(hash)
}
