//! The earlier exchanges of the conversation, and the digest of those that have left the window.

use memoir_core::{Digest, ExchangeId};
use memoir_store::StoreError;

use super::{
    build_input::BuildPurpose,
    digest,
    notices::Notices,
    window::{self, PastExchange},
};
use crate::{TurnError, active_turn::ActiveTurn};

/// Maximum number of exchanges that are read to restore them to the window.
const MAX_RESTORED: u32 = 200;

#[derive(Default)]
pub(crate) struct History {
    /// Digest of the exchanges that have left the window.
    pub(crate) digest: Option<Digest>,
    /// Last exchange that the stored digest covers.
    stored_through: Option<ExchangeId>,
    /// Whether another session has added exchanges that this one has not seen.
    has_unseen: bool,
    /// Exchanges that the digest does not cover.
    pub(crate) exchanges: Vec<PastExchange>,
}

impl History {
    fn sizes(&self) -> Vec<u64> {
        self.exchanges.iter().map(|exchange| exchange.tokens).collect()
    }

    /// Returns the number of exchanges that the prepared summary covers.
    fn prepared_count(&self) -> Option<usize> {
        let prepared = self.digest.as_ref()?.prepared.as_ref()?;
        let index = self.exchanges.iter().position(|exchange| exchange.id == prepared.through)?;
        Some(index + 1)
    }

    /// Returns the exchanges that a compaction summarizes: all but the last.
    fn compactable(&self) -> &[PastExchange] {
        self.exchanges.split_last().map_or(&[], |(_, earlier)| earlier)
    }

    pub(crate) fn has_earlier_exchanges(&self) -> bool {
        self.digest.as_ref().is_some_and(|digest| digest.through.get() > 0)
    }

    /// Returns the index of the first exchange that stays in the window. `room` includes the `digest_budget`, which
    /// is only used if exchanges leave.
    pub(crate) fn window_start(&self, room: u64, digest_budget: u64) -> usize {
        let sizes = self.sizes();
        if !self.has_earlier_exchanges() && sizes.iter().sum::<u64>() <= room {
            return 0;
        }
        window::window_start(&sizes, room.saturating_sub(digest_budget), self.prepared_count())
    }
}

impl ActiveTurn<'_> {
    /// Reads the conversation from the store, or the previous runs of a sub-agent. Messages of more than
    /// `max_message_tokens` are truncated.
    pub(crate) async fn read_history(self, max_message_tokens: u64) -> Result<History, TurnError> {
        let conversation = &self.state.conversation;
        if let Some(runs) = &self.state.previous_runs {
            let exchanges = runs
                .iter()
                .flat_map(|run| window::group_exchanges(run.clone(), max_message_tokens))
                .collect();
            return Ok(History { exchanges, ..History::default() });
        }
        let Some(id) = conversation.id() else { return Ok(History::default()) };
        let digest = self.agent.store.digest(id).await?;
        let stored_through = digest.as_ref().map(|digest| digest.through);
        let mut messages = self.agent.store.shown_messages(id, stored_through).await?;
        let (newest, last_seen) =
            (messages.last().map(|message| message.exchange_id), conversation.last_seen());
        // Ids are not ordered, and the last exchange seen may have been deleted. Unless it is the newest one, only
        // the store knows whether anything was committed after it.
        let has_unseen =
            newest != last_seen && !self.agent.store.shown_messages(id, last_seen).await?.is_empty();
        messages.retain(|message| Some(message.exchange_id) != conversation.replacing());
        let exchanges = window::group_exchanges(messages, max_message_tokens);
        Ok(History { digest, stored_through, has_unseen, exchanges })
    }

    /// Fails if another session has added to the conversation. The commit would be rejected, so the model is not asked.
    pub(crate) fn check_conflict(self, history: &History) -> Result<(), TurnError> {
        match self.state.conversation.id() {
            Some(conversation) if history.has_unseen => {
                Err(TurnError::Conflict { conversation, answer: None })
            }
            _ => Ok(()),
        }
    }

    /// Restores exchanges to the window if less than half of it is used, as after a long prompt or a smaller model.
    pub(crate) async fn restore_exchanges(
        self,
        mut history: History,
        max_message_tokens: u64,
        room: u64,
    ) -> Result<History, TurnError> {
        let conversation = &self.state.conversation;
        let (Some(id), Some(digest)) = (conversation.id(), history.digest.as_mut()) else {
            return Ok(history);
        };
        let used: u64 = history.exchanges.iter().map(|exchange| exchange.tokens).sum();
        if digest.is_compact || digest.through.get() == 0 || used.saturating_mul(2) >= room {
            return Ok(history);
        }
        let messages = self.agent.store.messages(id, MAX_RESTORED).await?;
        let mut exchanges = window::group_exchanges(messages, max_message_tokens);
        let is_complete = exchanges.len() < MAX_RESTORED as usize;
        exchanges.retain(|exchange| Some(exchange.id) != conversation.replacing());
        let sizes: Vec<u64> = exchanges.iter().map(|exchange| exchange.tokens).collect();
        let first = window::window_start(&sizes, room - room / 4, None);
        if exchanges.len() - first > history.exchanges.len() {
            digest.through = match first.checked_sub(1) {
                Some(last) => exchanges[last].id,
                None if is_complete => ExchangeId::new(0),
                None => return Ok(history),
            };
            digest.prepared = None;
            history.exchanges = exchanges.into_iter().skip(first).collect();
        }
        Ok(history)
    }

    /// Returns the digest after the first `count` exchanges have left the window. Stores it if the context is to be
    /// sent.
    pub(crate) async fn advance_digest(
        self,
        history: &History,
        count: usize,
        purpose: BuildPurpose,
        notices: &mut Notices,
    ) -> Option<Digest> {
        let (current, leaving) = (history.digest.as_ref(), &history.exchanges[..count]);
        let digest = digest::advance(current, leaving, self.state.context.summary_tokens)
            .or_else(|| history.digest.clone())?;
        let has_changed = history.stored_through != Some(digest.through);
        if has_changed && purpose == BuildPurpose::Send {
            let current_pins = current.map_or(&[][..], |digest| &digest.pinned);
            for pinned in digest.pinned.iter().filter(|pinned| !current_pins.contains(pinned)) {
                let notice = format!(
                    "Pinned an instruction that is leaving the window: \"{pinned}\". Use `/memory release` to unpin it."
                );
                notices.important.push(notice);
            }
            // If another process has stored a digest in the meantime, the store keeps that one. This request uses ours.
            if let Err(error) = self.store_digest(history, &digest).await {
                notices.details.push(format!("Could not store the summary of earlier exchanges: {error}."));
            }
        }
        Some(digest)
    }

    /// Stores a digest that follows the one of `history`. Returns `false` if another process was faster.
    async fn store_digest(self, history: &History, digest: &Digest) -> Result<bool, StoreError> {
        let Some(id) = self.state.conversation.id() else { return Ok(false) };
        self.agent.store.put_digest(id, history.stored_through, digest, self.agent.clock.now()).await
    }

    /// Moves all exchanges but the last from the window to the digest, for good. Returns whether there was anything to
    /// move.
    pub(crate) async fn compact(self) -> Result<bool, TurnError> {
        let Some(conversation) = self.state.conversation.id() else { return Ok(false) };
        let history = self.read_history(u64::MAX).await?;
        self.check_conflict(&history)?;
        let leaving = history.compactable();
        let current = history.digest.as_ref();
        let advanced = digest::advance(current, leaving, self.state.context.summary_tokens);
        // The window may have been larger than the digest says.
        let digest = advanced.or_else(|| current.filter(|digest| digest.through.get() > 0).cloned());
        let Some(digest) = digest.filter(|digest| !digest.is_compact || !leaving.is_empty()) else {
            return Ok(false);
        };
        match self.store_digest(&history, &Digest { is_compact: true, ..digest }).await? {
            true => Ok(true),
            false => Err(TurnError::Conflict { conversation, answer: None }),
        }
    }

    /// Requests the summary for a compaction. Returns whether one is needed.
    pub(crate) async fn request_compact_summary(self) -> Result<bool, TurnError> {
        let history = self.read_history(u64::MAX).await?;
        let (Some(id), Some(last)) = (self.state.conversation.id(), history.compactable().last()) else {
            return Ok(false);
        };
        let now = self.agent.clock.now();
        self.agent.store.request_digest(id, history.stored_through, last.id, now).await?;
        Ok(true)
    }
}
