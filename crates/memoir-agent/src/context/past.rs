//! What was said before in the conversation: how far it is in the window, and what is noted of the rest.

use memoir_core::{Digest, ExchangeId};

use super::{
    build_input::BuiltFor,
    digest,
    notices::Notices,
    window::{self, PastExchange},
};
use crate::{TurnError, active_turn::ActiveTurn};

/// So many exchanges are looked at when a window grows back.
const MOST_GROWN_BACK: u32 = 200;

/// What was said before in this conversation.
#[derive(Default)]
pub(crate) struct Past {
    pub(crate) digest: Option<Digest>,
    /// How far the digest goes that is kept.
    seen: Option<ExchangeId>,
    /// Whether another session has added exchanges that this one has not seen.
    has_unseen: bool,
    pub(crate) exchanges: Vec<PastExchange>,
}

impl Past {
    fn sizes(&self) -> Vec<u64> {
        self.exchanges.iter().map(|exchange| exchange.tokens).collect()
    }

    /// How many exchanges leave when those leave for which there is a summary.
    fn prepared(&self) -> Option<usize> {
        let prepared = self.digest.as_ref()?.prepared.as_ref()?;
        let place = self.exchanges.iter().position(|exchange| exchange.id == prepared.through)?;
        Some(place + 1)
    }

    /// Whether anything has left the window.
    pub(crate) fn has_left(&self) -> bool {
        self.digest.as_ref().is_some_and(|digest| digest.through.get() > 0)
    }

    /// The first exchange that stays, and whether a digest is sent, when `room` is there for window and digest together.
    pub(crate) fn first_kept(&self, room: u64, for_digest: u64) -> usize {
        let sizes = self.sizes();
        if !self.has_left() && sizes.iter().sum::<u64>() <= room {
            return 0;
        }
        window::first_kept(&sizes, room.saturating_sub(for_digest), self.prepared())
    }
}

impl ActiveTurn<'_> {
    /// The conversation as it is kept.
    pub(crate) async fn read_past(self, longest: u64) -> Result<Past, TurnError> {
        let conversation = &self.state.conversation;
        if let Some(runs) = &self.state.runs {
            let exchanges = runs.iter().flat_map(|run| window::exchanges(run.clone(), longest)).collect();
            return Ok(Past { exchanges, ..Past::default() });
        }
        let Some(id) = conversation.id() else { return Ok(Past::default()) };
        let digest = self.agent.store.digest(id).await?;
        let seen = digest.as_ref().map(|digest| digest.through);
        let mut messages = self.agent.store.shown_messages(id, seen).await?;
        let (newest, last_seen) =
            (messages.last().map(|message| message.exchange_id), conversation.last_seen());
        // Ids have no order. If the newest exchange is not the last one seen, which may have been deleted, only the store knows
        // whether anything was committed after that.
        let has_unseen =
            newest != last_seen && !self.agent.store.shown_messages(id, last_seen).await?.is_empty();
        messages.retain(|message| Some(message.exchange_id) != conversation.replacing());
        Ok(Past { digest, seen, has_unseen, exchanges: window::exchanges(messages, longest) })
    }

    /// Fails if another session has added to the conversation. The commit would be refused, so the model is not asked.
    pub(crate) fn refuse_unseen(self, past: &Past) -> Result<(), TurnError> {
        match self.state.conversation.id() {
            Some(conversation) if past.has_unseen => Err(TurnError::Conflict { conversation, answer: None }),
            _ => Ok(()),
        }
    }

    /// The past with exchanges that left the window back in it, where there is much room again: a long prompt or a small
    /// model had taken it.
    pub(crate) async fn grow_back(self, mut past: Past, longest: u64, room: u64) -> Result<Past, TurnError> {
        let conversation = &self.state.conversation;
        let (Some(id), Some(digest)) = (conversation.id(), past.digest.as_mut()) else { return Ok(past) };
        let held: u64 = past.exchanges.iter().map(|exchange| exchange.tokens).sum();
        if digest.through.get() == 0 || held.saturating_mul(2) >= room {
            return Ok(past);
        }
        let mut exchanges = window::exchanges(self.agent.store.messages(id, MOST_GROWN_BACK).await?, longest);
        let all_read = exchanges.len() < MOST_GROWN_BACK as usize;
        exchanges.retain(|exchange| Some(exchange.id) != conversation.replacing());
        let sizes: Vec<u64> = exchanges.iter().map(|exchange| exchange.tokens).collect();
        let first = window::first_kept(&sizes, room - room / 4, None);
        if exchanges.len() - first > past.exchanges.len() {
            digest.through = match first.checked_sub(1) {
                Some(last) => exchanges[last].id,
                None if all_read => ExchangeId::new(0),
                None => return Ok(past),
            };
            digest.prepared = None;
            past.exchanges = exchanges.into_iter().skip(first).collect();
        }
        Ok(past)
    }

    /// The digest after `first` exchanges have left, kept for the next time.
    pub(crate) async fn move_digest(
        self,
        past: &Past,
        first: usize,
        built_for: BuiltFor,
        notices: &mut Notices,
    ) -> Option<Digest> {
        let (before, left) = (past.digest.as_ref(), &past.exchanges[..first]);
        let digest =
            digest::moved(before, left, self.state.context.summary_tokens).or_else(|| past.digest.clone())?;
        let moved = past.seen != Some(digest.through);
        if let (true, BuiltFor::Sending, Some(id)) = (moved, built_for, self.state.conversation.id()) {
            let known = before.map_or(&[][..], |digest| &digest.pinned);
            for pinned in digest.pinned.iter().filter(|pinned| !known.contains(pinned)) {
                let notice = format!(
                    "Pinned, since it leaves the window: \"{pinned}\" (/memory release lets go of it)"
                );
                notices.important.push(notice);
            }
            // Another process may have been first: then its digest is the one that is kept, and this request goes with ours.
            if let Err(error) =
                self.agent.store.put_digest(id, past.seen, &digest, self.agent.clock.now()).await
            {
                notices.details.push(format!("What left the window could not be noted: {error}."));
            }
        }
        Some(digest)
    }
}
