//! What is remembered besides conversations: core memory, marks on exchanges, and instructions that left the window.

use memoir_core::{ConversationId, CoreEntry, Exchange, ExchangeId, Mark, Timestamp};
use memoir_store::{CoreMemory, Digests, Exchanges, Marks};
use serde::{Deserialize, Serialize};

use super::conversations::unknown_exchange;
use crate::failure::Failure;

/// Which memory to show.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct MemoryRequest {
    /// The project whose core memory is shown.
    pub project: String,
    /// The conversation whose instructions are shown, if one is open.
    pub conversation: Option<ConversationId>,
}

/// Core memory, instructions and marks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MemoryReport {
    /// The blocks that are in every request, in the order in which they are sent.
    pub core_memory: Vec<CoreEntry>,
    /// Instructions of the conversation that left its window and are still sent.
    pub instructions: Vec<String>,
    /// Exchanges that are ranked before others, the latest mark first.
    pub pinned: Vec<MarkedExchange>,
    /// Exchanges that are ranked after others, the latest mark first.
    pub wrong: Vec<MarkedExchange>,
}

/// An exchange with a mark.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MarkedExchange {
    /// When it was marked.
    pub since: Timestamp,
    /// The exchange.
    pub exchange: Exchange,
}

/// Returns core memory, instructions and marked exchanges.
///
/// # Errors
///
/// Fails if the store does.
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
    for marked in store.marks().await? {
        let Some(exchange) = store.exchange(marked.exchange_id).await? else { continue };
        let exchanges = match marked.mark {
            Mark::Pinned => &mut report.pinned,
            Mark::Wrong => &mut report.wrong,
        };
        exchanges.push(MarkedExchange { since: marked.created, exchange });
    }
    Ok(report)
}

/// A mark to set or to remove.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct MarkRequest {
    /// The exchange.
    pub exchange: ExchangeId,
    /// The mark.
    pub mark: Mark,
}

/// The result of setting or removing a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MarkReport {
    /// The exchange.
    pub exchange: ExchangeId,
    /// The mark that was to be set or removed.
    pub mark: Mark,
    /// What was done.
    pub outcome: MarkOutcome,
}

/// What was done with a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MarkOutcome {
    /// It was set, in place of any other.
    Set,
    /// It was removed.
    Removed,
    /// It was not there to remove.
    WasNotSet,
}

/// Marks an exchange, in place of any other mark.
///
/// # Errors
///
/// Fails if there is no such exchange.
pub async fn mark(request: &MarkRequest, store: &dyn Marks, now: Timestamp) -> Result<MarkReport, Failure> {
    let MarkRequest { exchange, mark } = *request;
    if !store.mark(exchange, Some(mark), now).await? {
        return Err(unknown_exchange(exchange));
    }
    Ok(MarkReport { exchange, mark, outcome: MarkOutcome::Set })
}

/// Removes a mark from an exchange. A mark of the other kind stays.
///
/// # Errors
///
/// Fails if there is no such exchange.
pub async fn unmark(
    request: &MarkRequest,
    store: &(impl Exchanges + Marks + ?Sized),
    now: Timestamp,
) -> Result<MarkReport, Failure> {
    let MarkRequest { exchange, mark } = *request;
    if store.exchange(exchange).await?.is_none() {
        return Err(unknown_exchange(exchange));
    }
    let is_set = store.marks_of(&[exchange]).await?.iter().any(|marked| marked.mark == mark);
    if !is_set {
        return Ok(MarkReport { exchange, mark, outcome: MarkOutcome::WasNotSet });
    }
    if !store.mark(exchange, None, now).await? {
        return Err(unknown_exchange(exchange));
    }
    Ok(MarkReport { exchange, mark, outcome: MarkOutcome::Removed })
}

/// An instruction that should no longer be sent.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct ReleaseRequest {
    /// The conversation that holds it.
    pub conversation: Option<ConversationId>,
    /// Its position in [`MemoryReport::instructions`], counted from 1.
    pub number: usize,
}

/// The result of releasing an instruction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReleaseReport {
    /// The instruction that is no longer sent.
    pub instruction: String,
}

/// Removes an instruction from a conversation, so that it is no longer sent.
///
/// # Errors
///
/// Fails if there is no such instruction, or if the window of the conversation moved at the same time.
pub async fn release_instruction(
    request: &ReleaseRequest,
    store: &dyn Digests,
    now: Timestamp,
) -> Result<ReleaseReport, Failure> {
    let unknown = || {
        Failure::usage(format!("there is no instruction {}", request.number))
            .hint("/memory show lists those of this conversation.")
    };
    let conversation = request.conversation.ok_or_else(unknown)?;
    let mut digest = store.digest(conversation).await?.ok_or_else(unknown)?;
    let index = request.number.checked_sub(1).filter(|index| *index < digest.pinned.len());
    let instruction = digest.pinned.remove(index.ok_or_else(unknown)?);
    if store.put_digest(conversation, Some(digest.through), &digest, now).await? {
        Ok(ReleaseReport { instruction })
    } else {
        Err(Failure::failed("the conversation has moved on meanwhile").hint("Try again."))
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
    async fn a_mark_replaces_another_and_only_its_own_kind_is_removed() {
        let (store, said) = store_with(&["The gate code is on the blue card."]).await;
        let exchange = said[0].exchange_id;
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
    async fn instructions_are_released_by_their_number() {
        let (store, said) = store_with(&["Always answer in French."]).await;
        let conversation = Some(said[0].conversation_id);
        let digest = Digest {
            through: said[0].exchange_id,
            summary: String::new(),
            pinned: vec!["French.".into(), "Short.".into()],
            prepared: None,
            wanted: None,
        };
        store.put_digest(said[0].conversation_id, None, &digest, NOW).await.unwrap();
        for number in [0, 3] {
            let request = ReleaseRequest { conversation, number };
            let failure = release_instruction(&request, &store, NOW).await.unwrap_err();
            assert_eq!(failure.message, format!("there is no instruction {number}"));
        }
        let request = ReleaseRequest { conversation, number: 1 };
        let report = release_instruction(&request, &store, Timestamp::from_millis(1)).await.unwrap();
        assert_eq!(report.instruction, "French.");
        let left = list(&MemoryRequest { conversation, ..MemoryRequest::default() }, &store).await.unwrap();
        assert_eq!(left.instructions, ["Short."]);
    }
}
