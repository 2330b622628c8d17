//! Sharing conversations and documents with programs that work for other projects.

use memoir_core::{Conversation, ConversationId, Document};
use memoir_store::{Conversations, Documents};
use serde::Serialize;

use super::{conversations, documents};
use crate::failure::Failure;

/// The result of sharing a conversation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SharedConversation {
    /// Metadata of the conversation.
    pub conversation: Conversation,
}

/// The result of sharing a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SharedDocument {
    /// Metadata of the document.
    pub document: Document,
}

/// Shares a conversation with programs that work for any project, or stops that.
///
/// # Errors
///
/// Fails if the conversation does not exist.
pub async fn share_conversation(
    id: ConversationId,
    is_shared: bool,
    store: &(impl Conversations + ?Sized),
) -> Result<SharedConversation, Failure> {
    store.set_shared(id, is_shared).await?;
    Ok(SharedConversation { conversation: conversations::find(id, store).await? })
}

/// Shares a document with programs that work for any project, or stops that.
///
/// # Errors
///
/// Fails if the document does not exist.
pub async fn share_document(
    name: &str,
    is_shared: bool,
    store: &dyn Documents,
) -> Result<SharedDocument, Failure> {
    let document = documents::find(name, store).await?;
    store.set_document_shared(document.id, is_shared).await?;
    Ok(SharedDocument { document: Document { is_shared, ..document } })
}
