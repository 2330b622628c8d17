//! Compiles a filter for fast checks of many rows.

use std::ops::Range;

use memoir_core::{ConversationId, ExchangeId};
use memoir_index::{BATCH_ROWS, RowFilter};
use memoir_store::Filter;

use super::{
    block_stats::BlockStats,
    messages::{Messages, NONE},
    vectors::Vectors,
};

/// A filter, and the ids of the conversations in its project if it has one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScopedFilter<'a> {
    pub(crate) filter: &'a Filter,
    pub(crate) in_scope: Option<&'a [i64]>,
}

/// A filter over rows of messages.
#[derive(Debug)]
pub(super) struct Predicate<'a> {
    messages: &'a Messages,
    /// Bit set of the allowed conversation numbers, or `None` if all are allowed.
    conversations: Option<Vec<u64>>,
    since: i64,
    until: i64,
    /// Id of the first exchange that is not allowed.
    before: i64,
}

impl<'a> Predicate<'a> {
    pub(super) fn new(ScopedFilter { filter, in_scope }: ScopedFilter<'_>, messages: &'a Messages) -> Self {
        Self {
            messages,
            conversations: allowed_conversations(filter, in_scope, messages),
            since: filter.since.map_or(i64::MIN, |moment| moment.as_millis()),
            until: filter.until.map_or(i64::MAX, |moment| moment.as_millis()),
            before: filter.before.map_or(i64::MAX, ExchangeId::get),
        }
    }

    /// Returns whether every message is allowed.
    pub(super) fn allows_all(&self) -> bool {
        self.conversations.is_none()
            && self.since == i64::MIN
            && self.until == i64::MAX
            && self.before == i64::MAX
    }

    /// Returns whether a message is allowed.
    #[inline]
    pub(super) fn allows(&self, row: usize) -> bool {
        let created = self.messages.created[row];
        created >= self.since
            && created < self.until
            && self.messages.exchanges[row] < self.before
            && self.conversations.as_ref().is_none_or(|bits| has(bits, self.messages.conversations[row]))
    }

    /// Returns whether the summary of an exchange or a conversation is allowed.
    pub(super) fn allows_summary(&self, conversation: u32, moment: i64, exchange: i64) -> bool {
        moment >= self.since
            && moment < self.until
            && exchange < self.before
            && self.conversations.as_ref().is_none_or(|bits| has(bits, conversation))
    }

    /// Returns `Some(true)` if all messages of a block are allowed, `Some(false)` if none are, and otherwise `None`,
    /// also if checking would take too long.
    fn allows_block(&self, block: &BlockStats) -> Option<bool> {
        let (first, last) = block.created;
        let (lowest, highest) = block.conversations;
        if lowest > highest || last < self.since || first >= self.until {
            return Some(false);
        }
        let every_conversation = match &self.conversations {
            None => true,
            Some(_) if highest - lowest >= MAX_CONVERSATIONS_CHECKED => return None,
            Some(bits) => {
                let allowed = (lowest..=highest).filter(|number| has(bits, *number)).count();
                if allowed == 0 {
                    return Some(false);
                }
                allowed > (highest - lowest) as usize
            }
        };
        let all = every_conversation
            && block.all_have_messages
            && first >= self.since
            && last < self.until
            && self.before == i64::MAX;
        all.then_some(true)
    }
}

fn has(bits: &[u64], number: u32) -> bool {
    bits[number as usize / 64] >> (number % 64) & 1 == 1
}

/// Maximum range of conversation numbers in a block for which each number is checked.
const MAX_CONVERSATIONS_CHECKED: u32 = 32;

/// A filter over rows of embeddings.
pub(super) struct VectorFilter<'a> {
    pub(super) predicate: Predicate<'a>,
    pub(super) vectors: &'a Vectors,
}

impl RowFilter for VectorFilter<'_> {
    #[inline]
    fn accepts(&self, row: u32) -> bool {
        let message = self.vectors.messages[row as usize];
        message != NONE && self.predicate.allows(message as usize)
    }

    fn accepts_range(&self, rows: Range<u32>) -> Option<bool> {
        self.predicate.allows_block(self.vectors.blocks.get(rows.start as usize / BATCH_ROWS)?)
    }
}

/// Returns the bit set of the conversations that a filter allows, or `None` if it allows all.
fn allowed_conversations(filter: &Filter, in_scope: Option<&[i64]>, messages: &Messages) -> Option<Vec<u64>> {
    let number = |id: i64| messages.conversation(ConversationId::new(id));
    let bits = |ids: &mut dyn Iterator<Item = i64>| {
        let mut bits = vec![0_u64; messages.conversation_ids.len().div_ceil(64)];
        ids.filter_map(number).for_each(|number| bits[number as usize / 64] |= 1 << (number % 64));
        bits
    };
    let within = filter.conversation.map(|id| bits(&mut [id.get()].into_iter()));
    let scope = in_scope.map(|ids| bits(&mut ids.iter().copied()));
    let mut allowed = match (within, scope) {
        (Some(within), Some(scope)) => Some(within.iter().zip(scope).map(|(a, b)| a & b).collect()),
        (within, scope) => within.or(scope),
    };
    if let Some(except) = filter.excluded_conversation.and_then(|id| messages.conversation(id)) {
        let all = || vec![u64::MAX; messages.conversation_ids.len().div_ceil(64)];
        allowed.get_or_insert_with(all)[except as usize / 64] &= !(1 << (except % 64));
    }
    allowed
}
