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
#[derive(Debug)]
struct Keys {
    /// A key for each turn.
    of_turns: Vec<String>,
    /// The key of the last message of the user.
    last_prompt: String,
    /// What the model has said since, between calls of tools.
    said: String,
}

/// Maximum number of earlier answers that are looked up.
const MAX_LOOKUPS: usize = 4;

/// The conversation of a request.
#[derive(Debug)]
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
        let response = call.previous_response.as_ref().map(|id| extend(owner, "response", id));
        let open = response.as_ref().and_then(|key| additions.take_open(key));
        let thread = open.as_ref().map(|open| open.thread);
        if let Some(open) = open {
            call.turns.splice(..0, open.turns);
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
        let said = format!("{}{}", self.keys.said, without_thoughts(answer));
        let mut keys = vec![
            extend(&self.keys.last_prompt, "assistant", &said),
            self.named_key("id", &conversation.to_string()),
        ];
        keys.extend(self.name.as_ref().map(|name| self.named_key("conversation", name)));
        keys.extend(response.map(|response| self.response_key(response)));
        keys
    }

    /// Returns the key of a response.
    pub(super) fn response_key(&self, id: &str) -> String {
        self.named_key("response", id)
    }

    fn named_key(&self, kind: &str, name: &str) -> String {
        extend(&self.owner, kind, name)
    }
}

/// Returns the keys of a request. Tools are left out, because programs shorten their results later. Consecutive texts of
/// the model count as one, because APIs divide them differently.
fn chain(owner: &str, call: &ChatCall) -> Keys {
    let mut last = extend(owner, "owner", "");
    let (mut last_prompt, mut said) = (last.clone(), String::new());
    let next = |turn: &Turn| {
        match turn.speaker {
            Speaker::User => {
                last = extend(&last, "user", &turn.text);
                (last_prompt, said) = (last.clone(), String::new());
            }
            Speaker::Assistant if !turn.text.trim().is_empty() => {
                said.push_str(&without_thoughts(&turn.text));
                last = extend(&last_prompt, "assistant", &said);
            }
            Speaker::Assistant | Speaker::Tool(_) => {}
        }
        last.clone()
    };
    let of_turns = call.turns.iter().map(next).collect();
    Keys { of_turns, last_prompt, said }
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

/// Returns the key of what follows another key. White space does not count, because programs change it.
fn extend(key: &str, speaker: &str, text: &str) -> String {
    let mut hash = Sha256::new();
    for part in [key, speaker] {
        hash.update(part);
        hash.update([0]);
    }
    text.split_whitespace().for_each(|word| hash.update(word));
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
