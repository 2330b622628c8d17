//! Core memory, marks on exchanges, and the standing instructions of a conversation.

use memoir_core::{ConversationId, CoreEntry, Exchange, ExchangeId, Mark, Timestamp};
use memoir_store::{CoreMemory, Digests, Exchanges, Marks};
use serde::{Deserialize, Serialize};

use super::conversations::unknown_exchange;
use crate::failure::Failure;

/// Selects the memory to show.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct MemoryRequest {
    /// Project whose core memory is shown.
    pub project: String,
    /// Conversation whose instructions are shown, if one is open.
    pub conversation: Option<ConversationId>,
}

/// Core memory, instructions and marked exchanges.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MemoryReport {
    /// Blocks that are part of every request, in the order in which they are sent.
    pub core_memory: Vec<CoreEntry>,
    /// Instructions that left the context window of the conversation but are still sent.
    pub instructions: Vec<String>,
    /// Exchanges that recall ranks higher, most recently marked first.
    pub pinned: Vec<MarkedExchange>,
    /// Exchanges that recall ranks lower, most recently marked first.
    pub wrong: Vec<MarkedExchange>,
}

/// An exchange with a mark.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MarkedExchange {
    /// Time at which the exchange was marked.
    #[serde(rename = "since")]
    pub marked_at: Timestamp,
    /// Metadata of the exchange.
    pub exchange: Exchange,
}

/// Returns core memory, instructions and marked exchanges.
pub async fn list(
    request: &MemoryRequest,
    store: &(impl CoreMemory + Digests + Exchanges + Marks + ?Sized),
) -> Result<MemoryReport, Failure> {
    let instructions = match request.conversation {
        Some(id) => store.digest(id).await?.map(|digest| digest.pinned).unwrap_or_default(),
        None => Vec::new(),
    };
    let mut report = MemoryReport {
        core_memory: store.core_memory(&request.project).await?,
        instructions,
        pinned: Vec::new(),
        wrong: Vec::new(),
    };
    for mark in store.marks().await? {
        let Some(exchange) = store.exchange(mark.exchange_id).await? else { continue };
        let exchanges = match mark.mark {
            Mark::Pinned => &mut report.pinned,
            Mark::Wrong => &mut report.wrong,
        };
        exchanges.push(MarkedExchange { marked_at: mark.created, exchange });
    }
    Ok(report)
}

/// Request to set or remove a mark.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct MarkRequest {
    /// Exchange that gets or loses the mark.
    pub exchange: ExchangeId,
    /// Mark to set or remove.
    pub mark: Mark,
}

/// Result of setting or removing a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MarkReport {
    /// Exchange from the request.
    pub exchange: ExchangeId,
    /// Mark from the request.
    pub mark: Mark,
    /// Whether the mark was set or removed.
    pub outcome: MarkOutcome,
}

/// Outcome of setting or removing a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkOutcome {
    /// The mark was set and replaced any other mark.
    Set,
    /// The mark was removed.
    Removed,
    /// The exchange did not have the mark.
    WasNotSet,
}

/// Marks an exchange, replacing any other mark.
pub async fn mark(request: &MarkRequest, store: &dyn Marks, now: Timestamp) -> Result<MarkReport, Failure> {
    let MarkRequest { exchange, mark } = *request;
    if !store.set_mark(exchange, Some(mark), now).await? {
        return Err(unknown_exchange(exchange));
    }
    Ok(MarkReport { exchange, mark, outcome: MarkOutcome::Set })
}

/// Removes a mark from an exchange. A mark of another kind is kept.
pub async fn unmark(
    request: &MarkRequest,
    store: &(impl Exchanges + Marks + ?Sized),
    now: Timestamp,
) -> Result<MarkReport, Failure> {
    let MarkRequest { exchange, mark } = *request;
    if store.exchange(exchange).await?.is_none() {
        return Err(unknown_exchange(exchange));
    }
    let is_set = store.exchange_marks(&[exchange]).await?.iter().any(|existing| existing.mark == mark);
    if !is_set {
        return Ok(MarkReport { exchange, mark, outcome: MarkOutcome::WasNotSet });
    }
    if !store.set_mark(exchange, None, now).await? {
        return Err(unknown_exchange(exchange));
    }
    Ok(MarkReport { exchange, mark, outcome: MarkOutcome::Removed })
}

/// Request to stop sending an instruction.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct ReleaseRequest {
    /// Conversation that the instruction belongs to.
    pub conversation: Option<ConversationId>,
    /// Position of the instruction in [`MemoryReport::instructions`], starting at 1.
    pub number: usize,
}

/// Result of removing an instruction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReleaseReport {
    /// Instruction that is no longer sent.
    pub instruction: String,
}

/// Removes an instruction from the digest of a conversation, so it is no longer sent.
///
/// # Errors
///
/// Fails if the instruction does not exist, or if another process updated the digest at the same time.
pub async fn release_instruction(
    request: &ReleaseRequest,
    store: &dyn Digests,
    now: Timestamp,
) -> Result<ReleaseReport, Failure> {
    let unknown = || {
        Failure::usage(format!("there is no instruction {}", request.number))
            .hint("Run `/memory show` to list the instructions of this conversation.")
    };
    let conversation = request.conversation.ok_or_else(unknown)?;
    let mut digest = store.digest(conversation).await?.ok_or_else(unknown)?;
    let index = request.number.checked_sub(1).filter(|index| *index < digest.pinned.len());
    let instruction = digest.pinned.remove(index.ok_or_else(unknown)?);
    if store.put_digest(conversation, Some(digest.through), &digest, now).await? {
        Ok(ReleaseReport { instruction })
    } else {
        Err(Failure::failed("another process changed the conversation at the same time").hint("Try again."))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use memoir_core::{Digest, Timestamp};
    use memoir_store::Digests as _;

    use super::*;
    use crate::failure::FailureKind;
    use crate::operations::test_support::{NOW, TestStore, store_with};

    async fn marks(store: &TestStore) -> (usize, usize) {
        let report = list(&MemoryRequest::default(), store).await.unwrap();
        (report.pinned.len(), report.wrong.len())
    }

    #[tokio::test]
    async fn a_mark_replaces_another_and_only_the_same_kind_is_removed() {
        let (store, committed) = store_with(&["The gate code is on the blue card."]).await;
        let exchange = committed[0].exchange_id;
        let pin = MarkRequest { exchange, mark: Mark::Pinned };
        let wrong = MarkRequest { exchange, mark: Mark::Wrong };
        mark(&pin, &store, NOW).await.unwrap();
        assert_eq!(marks(&store).await, (1, 0));
        mark(&wrong, &store, NOW).await.unwrap();
        assert_eq!(marks(&store).await, (0, 1));
        assert_eq!(unmark(&pin, &store, NOW).await.unwrap().outcome, MarkOutcome::WasNotSet);
        assert_eq!(marks(&store).await, (0, 1));
        assert_eq!(unmark(&wrong, &store, NOW).await.unwrap().outcome, MarkOutcome::Removed);
        assert_eq!(marks(&store).await, (0, 0));
    }

    #[tokio::test]
    async fn an_exchange_that_does_not_exist_cannot_be_marked() {
        let (store, _) = store_with(&[]).await;
        let request = MarkRequest { exchange: ExchangeId::new(7), mark: Mark::Pinned };
        let failure = mark(&request, &store, NOW).await.unwrap_err();
        assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Usage, "there is no exchange 7"));
        assert_eq!(unmark(&request, &store, NOW).await.unwrap_err().kind, FailureKind::Usage);
    }

    #[tokio::test]
    async fn instructions_are_removed_by_number() {
        let (store, committed) = store_with(&["Always answer in French."]).await;
        let conversation = Some(committed[0].conversation_id);
        let digest = Digest {
            through: committed[0].exchange_id,
            summary: String::new(),
            pinned: vec!["French.".into(), "Short.".into()],
            prepared: None,
            requested_through: None,
            is_compact: false,
        };
        store.put_digest(committed[0].conversation_id, None, &digest, NOW).await.unwrap();
        for number in [0, 3] {
            let request = ReleaseRequest { conversation, number };
            let failure = release_instruction(&request, &store, NOW).await.unwrap_err();
            assert_eq!(failure.message, format!("there is no instruction {number}"));
        }
        let request = ReleaseRequest { conversation, number: 1 };
        let report = release_instruction(&request, &store, Timestamp::from_millis(1)).await.unwrap();
        assert_eq!(report.instruction, "French.");
        let report = list(&MemoryRequest { conversation, ..MemoryRequest::default() }, &store).await.unwrap();
        assert_eq!(report.instructions, ["Short."]);
    }
}
