//! Asking ahead of time for a summary of what will leave the window next. Who makes it is not known here.

use memoir_core::ConversationId;
use memoir_store::Result;

use super::window;
use crate::Agent;

impl Agent {
    /// Asks for the summary for the next time the window moves, if that is near. `room` is what the window had.
    pub(crate) async fn ask_for_digest(&self, conversation: ConversationId, room: u64) -> Result<()> {
        let digest = self.store.digest(conversation).await?;
        if digest.as_ref().is_some_and(|digest| digest.prepared.is_some() || digest.wanted.is_some()) {
            return Ok(());
        }
        let after = digest.as_ref().map(|digest| digest.through);
        let exchanges = window::exchanges(self.store.shown_messages(conversation, after).await?, room / 4);
        let sizes: Vec<u64> = exchanges.iter().map(|exchange| exchange.tokens).collect();
        let total: u64 = sizes.iter().sum();
        if total * 5 < room.saturating_mul(4) {
            return Ok(());
        }
        // What leaves when the window is just too full.
        let leaving = window::first_kept(&sizes, total.saturating_sub(1).min(room), None)
            .min(exchanges.len().saturating_sub(1));
        let Some(through) = leaving.checked_sub(1).map(|last| exchanges[last].id) else { return Ok(()) };
        self.store.want_digest(conversation, after, through, self.clock.now()).await
    }
}
