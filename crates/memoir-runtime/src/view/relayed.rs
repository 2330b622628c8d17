//! Exchanges that took place in Memoir on another machine.

use memoir_core::{Clock as _, Exchange, ExchangeDraft, NewConversation, SystemClock, Timestamp};
use memoir_redact::without_secrets;
use memoir_store::{CommittedExchange, NewImport, StoreError};

use super::MemoryView;
use crate::failure::{Failure, FailureKind};

/// Beginning of the origins of conversations on other machines.
const ORIGIN: &str = "machine/";

/// How many times an exchange is added to a conversation that another program adds to at the same time.
const MAX_ATTEMPTS: usize = 5;

/// An exchange that took place in Memoir on another machine.
#[derive(Debug, Clone, PartialEq)]
pub struct RelayedExchange {
    /// Key that the machine chose for the conversation, at random.
    pub thread: String,
    /// Number of the exchange in the conversation, from 1. Numbers grow.
    pub number: u64,
    /// The exchange.
    pub draft: ExchangeDraft,
}

impl MemoryView {
    /// Stores an exchange in the project of the program, once however often it is sent. Returns `None` if the program may
    /// not see its conversation.
    ///
    /// # Errors
    ///
    /// Fails if the exchange was stored before and has been forgotten since, or if the store cannot be written.
    pub async fn relay(&self, relayed: &RelayedExchange) -> Result<Option<CommittedExchange>, Failure> {
        let RelayedExchange { thread, number, draft } = relayed;
        let store = self.runtime.store();
        let mut draft = draft.clone();
        // Clocks differ, and what has not happened yet cannot be remembered.
        let (first, now) = (Timestamp::from_millis(0), SystemClock.now());
        (draft.started, draft.completed) =
            (draft.started.clamp(first, now), draft.completed.clamp(first, now));
        draft.messages.iter_mut().for_each(|message| message.created = message.created.clamp(first, now));
        let origin = format!("{ORIGIN}{thread}");
        let title = without_secrets(&draft.user_message);
        let conversation = NewConversation::titled_after(&title, self.project());
        for _ in 0..MAX_ATTEMPTS {
            let earlier = store.imports(&origin).await?.into_iter().find(|import| import.origin == origin);
            let last_seen = match &earlier {
                Some(import) if self.conversation(import.conversation_id).await?.is_none() => {
                    return Ok(None);
                }
                Some(import) if import.messages >= *number => {
                    let stored = store.exchanges(import.conversation_id, u32::MAX).await?;
                    let began = |exchange: &&Exchange| exchange.started == draft.started;
                    // A time that has not come is replaced by that of the attempt.
                    let says = |exchange: &&Exchange| {
                        exchange.started < relayed.draft.started
                            && exchange.user_message == draft.user_message
                            && exchange.assistant_message == draft.assistant_message
                    };
                    let same = stored.iter().find(began).or_else(|| stored.iter().rfind(says));
                    let same = same.ok_or_else(forgotten)?;
                    let (conversation_id, exchange_id) = (same.conversation_id, same.id);
                    return Ok(Some(CommittedExchange { conversation_id, exchange_id }));
                }
                Some(import) => store.exchanges(import.conversation_id, 1).await?.pop().map(|last| last.id),
                None => match store.forgotten_at(&origin).await? {
                    Some(forgotten_at) if draft.started <= forgotten_at => return Err(forgotten()),
                    _ => None,
                },
            };
            let previous = earlier.as_ref().map(|import| (import.messages, import.checksum.as_str()));
            let new = NewImport {
                origin: &origin,
                conversation: &conversation,
                previous,
                last_seen,
                exchanges: std::slice::from_ref(&draft),
                messages: *number,
                checksum: "",
                through: Some(draft.completed),
            };
            match store.put_import(&new).await {
                Ok(Some(conversation_id)) => {
                    let last = store.exchanges(conversation_id, 1).await?.pop().ok_or_else(forgotten)?;
                    self.embed_stored(last.id).await;
                    return Ok(Some(CommittedExchange { conversation_id, exchange_id: last.id }));
                }
                // Somebody has added to the conversation at the same time.
                Ok(None) | Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Failure::failed("others are writing to the conversation").hint("Send the exchange again."))
    }
}

fn forgotten() -> Failure {
    Failure::new(FailureKind::Missing, "the exchange was stored before, and has been forgotten since")
}
