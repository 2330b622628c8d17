//! Listing conversations, and showing a conversation or an exchange.

use memoir_core::{Conversation, ConversationId, Exchange, ExchangeId, Message, Summary};
use memoir_store::{ConversationList, Conversations, Digests, Exchanges, Summaries};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// Selects the conversations to list.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ConversationsRequest {
    /// Only list conversations whose title contains this text.
    pub matching: Option<String>,
    /// Only list conversations of this project.
    pub scope: Option<String>,
    /// Maximum number of conversations.
    pub limit: u32,
}

/// A list of conversations, serialized as an array.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct ConversationsReport {
    /// Conversations, most recently updated first.
    pub conversations: Vec<Conversation>,
    /// Whether there are more than were requested.
    #[serde(skip)]
    pub has_more: bool,
}

/// A conversation with its exchanges and summaries.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConversationReport {
    /// Metadata of the conversation.
    pub conversation: Conversation,
    /// Summary of the conversation, if one was written.
    pub summary: Option<Summary>,
    /// Digest of the exchanges that left the context window, if there are any.
    pub digest: Option<DigestReport>,
    /// Exchanges, oldest first. A fork starts with the exchanges that it shares with its parent.
    pub exchanges: Vec<ExchangeReport>,
}

/// Digest of the exchanges that left the context window of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DigestReport {
    /// Last exchange covered by the digest.
    pub through: ExchangeId,
    /// Summary of the exchanges up to `through`.
    pub summary: String,
    /// The user's standing instructions from those exchanges, verbatim.
    pub pinned: Vec<String>,
}

/// An exchange with its messages.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExchangeReport {
    /// Metadata of the exchange.
    pub exchange: Exchange,
    /// Summary of the exchange, if one was written.
    pub summary: Option<Summary>,
    /// Messages in order, including hidden ones.
    pub messages: Vec<Message>,
}

/// Returns conversations, latest first.
pub async fn list(
    request: &ConversationsRequest,
    store: &(impl Conversations + ?Sized),
) -> Result<ConversationsReport, Failure> {
    let list = ConversationList {
        scope: request.scope.clone(),
        matching: request.matching.clone(),
        limit: request.limit.saturating_add(1),
        ..ConversationList::default()
    };
    let mut conversations = store.conversations(&list).await?;
    let has_more = conversations.len() as u64 > u64::from(request.limit);
    conversations.truncate(request.limit as usize);
    Ok(ConversationsReport { conversations, has_more })
}

/// Returns the latest conversation of a scope, or `None` if the scope has no conversations.
pub async fn find_latest(
    scope: &str,
    store: &(impl Conversations + ?Sized),
) -> Result<Option<ConversationId>, Failure> {
    let list = ConversationList { scope: Some(scope.to_owned()), limit: 1, ..ConversationList::default() };
    Ok(store.conversations(&list).await?.first().map(|conversation| conversation.id))
}

/// Returns the conversation with this id.
///
/// # Errors
///
/// Fails if the conversation does not exist.
pub async fn find(
    id: ConversationId,
    store: &(impl Conversations + ?Sized),
) -> Result<Conversation, Failure> {
    store.conversation(id).await?.ok_or_else(|| {
        Failure::usage(format!("there is no conversation {id}"))
            .hint("Run `memoir conversations list` to see all conversations.")
    })
}

/// Returns a conversation with its exchanges and summaries.
pub async fn show(
    id: ConversationId,
    store: &(impl Conversations + Exchanges + Summaries + Digests + ?Sized),
) -> Result<ConversationReport, Failure> {
    let mut report = read(find(id, store).await?, store).await?;
    for exchange in &mut report.exchanges {
        exchange.summary = store.exchange_summary(exchange.exchange.id).await?;
    }
    report.summary = store.conversation_summary(id).await?.map(|stored| stored.summary);
    report.digest = store.digest(id).await?.map(|digest| DigestReport {
        through: digest.through,
        summary: digest.summary,
        pinned: digest.pinned,
    });
    Ok(report)
}

/// Returns `conversation` with its exchanges and messages, without summaries.
pub(super) async fn read(
    conversation: Conversation,
    store: &(impl Exchanges + ?Sized),
) -> Result<ConversationReport, Failure> {
    let mut exchanges = Vec::new();
    for exchange in store.exchanges(conversation.id, u32::MAX).await? {
        let messages = store.exchange_messages(exchange.id).await?;
        exchanges.push(ExchangeReport { exchange, summary: None, messages });
    }
    Ok(ConversationReport { conversation, summary: None, digest: None, exchanges })
}

/// Returns an exchange with its messages.
pub async fn show_exchange(
    id: ExchangeId,
    store: &(impl Exchanges + Summaries + ?Sized),
) -> Result<ExchangeReport, Failure> {
    let exchange = store.exchange(id).await?.ok_or_else(|| unknown_exchange(id))?;
    let summary = store.exchange_summary(id).await?;
    let messages = store.exchange_messages(id).await?;
    Ok(ExchangeReport { exchange, summary, messages })
}

pub(super) fn unknown_exchange(id: ExchangeId) -> Failure {
    Failure::usage(format!("there is no exchange {id}"))
        .hint("`memoir search`, `/why` and `/history` show the IDs of exchanges.")
}
