//! Conversations: lists of them, and what was said in one.

use std::path::PathBuf;

use memoir_core::{Conversation, ConversationId, Exchange, ExchangeId, Message, Summary};
use memoir_store::{ConversationList, Conversations, Digests, Exchanges, Summaries};
use serde::{Deserialize, Serialize};

use crate::{failure::Failure, scope::scope_of};

/// Which conversations to list.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ConversationsRequest {
    /// Only those whose title contains this text.
    pub matching: Option<String>,
    /// Only those of the project that contains this directory.
    pub project: Option<PathBuf>,
    /// Maximum number of conversations.
    pub limit: u32,
}

/// A list of conversations. It is serialized as an array.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct ConversationsReport {
    /// The conversations, the latest first.
    pub conversations: Vec<Conversation>,
}

/// One conversation with everything said in it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ConversationReport {
    /// The conversation.
    pub conversation: Conversation,
    /// Its summary, if one was made.
    pub summary: Option<Summary>,
    /// What has left its window, if anything has.
    pub digest: Option<DigestReport>,
    /// Its exchanges, oldest first. Those of a fork begin with the ones that it shares with its parent.
    pub exchanges: Vec<ExchangeReport>,
}

/// What has left the window of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DigestReport {
    /// The last exchange that has left.
    pub through: ExchangeId,
    /// What was said up to there, in short.
    pub summary: String,
    /// The user's standing instructions from there, word by word.
    pub pinned: Vec<String>,
}

/// One exchange with its messages.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExchangeReport {
    /// The exchange.
    pub exchange: Exchange,
    /// Its summary, if one was made.
    pub summary: Option<Summary>,
    /// Its messages in order, redacted ones included.
    pub messages: Vec<Message>,
}

/// Lists conversations, the latest first.
///
/// # Errors
///
/// Fails if the store does.
pub async fn list(
    request: &ConversationsRequest,
    store: &(impl Conversations + ?Sized),
) -> Result<ConversationsReport, Failure> {
    let list = ConversationList {
        scope: request.project.as_deref().map(scope_of),
        matching: request.matching.clone(),
        limit: request.limit,
        said_here: false,
    };
    Ok(ConversationsReport { conversations: store.conversations(&list).await? })
}

/// Returns the latest conversation of a scope, if it has any.
///
/// # Errors
///
/// Fails if the store does.
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
/// Fails if there is none.
pub async fn find(
    id: ConversationId,
    store: &(impl Conversations + ?Sized),
) -> Result<Conversation, Failure> {
    store.conversation(id).await?.ok_or_else(|| {
        Failure::usage(format!("there is no conversation {id}")).hint("memoir conversations list shows them.")
    })
}

/// Returns a conversation with everything said in it.
///
/// # Errors
///
/// Fails if there is none with this id.
pub async fn show(
    id: ConversationId,
    store: &(impl Conversations + Exchanges + Summaries + Digests + ?Sized),
) -> Result<ConversationReport, Failure> {
    let mut report = read(find(id, store).await?, store).await?;
    for exchange in &mut report.exchanges {
        exchange.summary = store.exchange_summary(exchange.exchange.id).await?;
    }
    report.summary = store.conversation_summary(id).await?.map(|written| written.summary);
    report.digest = store.digest(id).await?.map(|digest| DigestReport {
        through: digest.through,
        summary: digest.summary,
        pinned: digest.pinned,
    });
    Ok(report)
}

/// Returns everything said in `conversation`, without summaries.
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
///
/// # Errors
///
/// Fails if there is none with this id.
pub async fn show_exchange(
    id: ExchangeId,
    store: &(impl Exchanges + Summaries + ?Sized),
) -> Result<ExchangeReport, Failure> {
    let exchange = store.exchange(id).await?.ok_or_else(|| unknown_exchange(id))?;
    let summary = store.exchange_summary(id).await?;
    let messages = store.exchange_messages(id).await?;
    Ok(ExchangeReport { exchange, summary, messages })
}

/// The failure of an operation on an exchange that does not exist.
pub(super) fn unknown_exchange(id: ExchangeId) -> Failure {
    Failure::usage(format!("there is no exchange {id}"))
        .hint("Search shows the numbers of exchanges beside what it finds, and so do /why and /history.")
}
