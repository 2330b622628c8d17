//! Requests a summary of the exchanges that will leave the window next. A worker writes it.

use memoir_core::ConversationId;
use memoir_store::Result;

use super::window;
use crate::Agent;

impl Agent {
    /// Requests a summary if the window is nearly full. `room` is the maximum size of the window in tokens.
    pub(crate) async fn request_digest(&self, conversation: ConversationId, room: u64) -> Result<()> {
        let digest = self.store.digest(conversation).await?;
        if digest
            .as_ref()
            .is_some_and(|digest| digest.prepared.is_some() || digest.requested_through.is_some())
        {
            return Ok(());
        }
        let after = digest.as_ref().map(|digest| digest.through);
        let exchanges =
            window::group_exchanges(self.store.shown_messages(conversation, after).await?, room / 4);
        let sizes: Vec<u64> = exchanges.iter().map(|exchange| exchange.tokens).collect();
        let total: u64 = sizes.iter().sum();
        if total * 5 < room.saturating_mul(4) {
            return Ok(());
        }
        // Count the exchanges that would leave if the window overflowed now.
        let leaving = window::window_start(&sizes, total.saturating_sub(1).min(room), None)
            .min(exchanges.len().saturating_sub(1));
        let Some(through) = leaving.checked_sub(1).map(|last| exchanges[last].id) else { return Ok(()) };
        self.store.request_digest(conversation, after, through, self.clock.now()).await
    }
}
