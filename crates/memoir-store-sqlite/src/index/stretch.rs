//! What is known of the vectors of a stretch, so that a search can skip or take all of them at once.

use super::messages::Messages;

/// What is known of vectors that stand together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stretch {
    /// The earliest and the latest moment.
    pub(super) created: (i64, i64),
    /// The lowest and the highest number of a conversation.
    pub(super) conversations: (u32, u32),
    /// Whether each has a message.
    pub(super) placed: bool,
}

impl Default for Stretch {
    fn default() -> Self {
        Self { created: (i64::MAX, i64::MIN), conversations: (u32::MAX, 0), placed: true }
    }
}

impl Stretch {
    /// Adds a vector, given its message's row.
    pub(super) fn add(&mut self, message: Option<usize>, messages: &Messages) {
        let Some(row) = message else {
            self.placed = false;
            return;
        };
        let (created, conversation) = (messages.created[row], messages.conversations[row]);
        self.created = (self.created.0.min(created), self.created.1.max(created));
        self.conversations = (self.conversations.0.min(conversation), self.conversations.1.max(conversation));
    }
}
