//! What was added to prompts. A program sends its history without it, so it is added again: the provider then sees the
//! same beginning as before.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex},
};

use memoir_core::{CallCost, InjectedItem, lock};
use memoir_runtime::view::Thread;

use super::{
    identity::Identity,
    request::{ChatCall, Speaker, Turn},
};

/// Maximum size of all texts, in bytes. Beyond it, the oldest ones are no longer repeated, which costs a cache hit.
const MAX_BYTES: usize = 32 << 20;

/// Maximum number of prompts whose model calls tools at the same time.
const MAX_OPEN_CALLS: usize = 10_000;

/// Maximum number of calls of one prompt whose costs are kept.
const MAX_CALLS: usize = 1000;

/// Maximum number of exchanges whose turns are kept.
const MAX_OPEN_TURNS: usize = 256;

/// What was added to a prompt.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Addition {
    pub(super) text: String,
    pub(super) items: Vec<InjectedItem>,
}

/// What was added to the prompts of all programs, by the hash of the conversation up to the prompt.
#[derive(Default)]
pub(super) struct Additions {
    state: Mutex<State>,
    /// Held while an exchange of a named conversation is stored.
    pub(super) naming: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct State {
    by_key: HashMap<String, Arc<Addition>>,
    oldest_first: VecDeque<String>,
    bytes: usize,
    deletions: i64,
    /// Calls of models that wait for the results of tools. They are part of the exchange that is stored in the end.
    open_calls: HashMap<String, Vec<CallCost>>,
    /// Turns of exchanges whose model waits for the results of tools, by the key of the response.
    open_turns: HashMap<String, Arc<OpenTurns>>,
}

/// The turns of an exchange that a program continues without repeating them.
pub(super) struct OpenTurns {
    pub(super) turns: Vec<Turn>,
    pub(super) thread: Thread,
}

impl Additions {
    /// Drops everything if something has been deleted since, because it may be quoted here.
    pub(super) fn drop_deleted(&self, deletions: i64) {
        let mut state = lock(&self.state);
        if state.deletions != deletions {
            let (open_calls, open_turns) =
                (std::mem::take(&mut state.open_calls), std::mem::take(&mut state.open_turns));
            *state = State { deletions, open_calls, open_turns, ..State::default() };
        }
    }

    pub(super) fn insert(&self, key: &str, addition: Arc<Addition>) {
        let mut state = lock(&self.state);
        state.bytes += addition.text.len();
        if let Some(replaced) = state.by_key.insert(key.to_owned(), addition) {
            state.bytes -= replaced.text.len();
        } else {
            state.oldest_first.push_back(key.to_owned());
        }
        while state.bytes > MAX_BYTES
            && let Some(oldest) = state.oldest_first.pop_front()
        {
            let removed = state.by_key.remove(&oldest).map_or(0, |removed| removed.text.len());
            state.bytes -= removed;
        }
    }

    /// Returns what was added to turns of a request before, with the positions of the turns. A new prompt is left out: the
    /// same words may have begun another conversation, and memory knows more now.
    pub(super) fn of_turns(&self, identity: &Identity, call: &ChatCall) -> Vec<(usize, Arc<Addition>)> {
        let state = lock(&self.state);
        let users =
            call.turns.iter().enumerate().filter(|(index, turn)| {
                turn.speaker == Speaker::User && identity.new_prompt() != Some(*index)
            });
        users
            .filter_map(|(index, _)| Some((index, Arc::clone(state.by_key.get(identity.key_of(index))?))))
            .collect()
    }

    /// Keeps the cost of a call that waits for the results of tools.
    pub(super) fn keep_call(&self, key: &str, cost: CallCost) {
        let mut state = lock(&self.state);
        if state.open_calls.len() >= MAX_OPEN_CALLS {
            // Programs that were closed never send the results.
            state.open_calls.clear();
        }
        let calls = state.open_calls.entry(key.to_owned()).or_default();
        if calls.len() < MAX_CALLS {
            calls.push(cost);
        }
    }

    /// Keeps the turns of an exchange until the program sends the results of tools.
    pub(super) fn keep_open(&self, key: String, open: OpenTurns) {
        let mut state = lock(&self.state);
        if state.open_turns.len() >= MAX_OPEN_TURNS {
            // Programs that were closed never send the results.
            state.open_turns.clear();
        }
        state.open_turns.insert(key, Arc::new(open));
    }

    /// Returns the turns that a program continues. It may do so again if the provider refuses.
    pub(super) fn find_open(&self, key: &str) -> Option<Arc<OpenTurns>> {
        lock(&self.state).open_turns.get(key).cloned()
    }

    /// Returns the costs of the calls that led to an answer, and forgets them.
    pub(super) fn take_calls(&self, key: &str) -> Vec<CallCost> {
        lock(&self.state).open_calls.remove(key).unwrap_or_default()
    }
}
