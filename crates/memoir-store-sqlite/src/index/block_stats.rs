//! Statistics on a block of embeddings, which let a search skip or accept the whole block at once.

use super::messages::Messages;

/// Bounds on the messages of a block of consecutive embeddings.
#[derive(Debug, Clone, Copy)]
pub(super) struct BlockStats {
    /// Earliest and latest time.
    pub(super) created: (i64, i64),
    /// Lowest and highest conversation number.
    pub(super) conversations: (u32, u32),
    /// Whether every embedding has a message.
    pub(super) all_have_messages: bool,
}

impl Default for BlockStats {
    fn default() -> Self {
        Self { created: (i64::MAX, i64::MIN), conversations: (u32::MAX, 0), all_have_messages: true }
    }
}

impl BlockStats {
    /// Adds an embedding, given the row of its message.
    pub(super) fn add(&mut self, message: Option<usize>, messages: &Messages) {
        let Some(row) = message else {
            self.all_have_messages = false;
            return;
        };
        let (created, conversation) = (messages.created[row], messages.conversations[row]);
        self.created = (self.created.0.min(created), self.created.1.max(created));
        self.conversations = (self.conversations.0.min(conversation), self.conversations.1.max(conversation));
    }
}
