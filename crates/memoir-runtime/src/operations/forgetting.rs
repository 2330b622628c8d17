//! Deleting messages, exchanges, conversations, periods and documents, with everything derived from them.
//!
//! [`preview`] describes the deletion and returns a [`ForgetTarget`] to pass to [`forget`]. A date such as
//! `yesterday` is resolved only once, by the preview, so exactly what the user confirmed is deleted.

use std::path::PathBuf;

use memoir_core::{ConversationId, Document, ExchangeId, MessageId, Timestamp};
use memoir_docs::{Library, remove_post_file};
use memoir_recall::Recall;
use memoir_store::{Documents, Forget, ForgetOutcome, Forgetting, Store};
use serde::{Deserialize, Serialize};

use crate::{
    copies::{self, CopyDeletion},
    dates,
    failure::Failure,
    home::Home,
};

/// Request to delete something from memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForgetRequest {
    /// Delete a message, and its exchange if no other messages remain in it.
    Message(MessageId),
    /// Delete an exchange, and its conversation if no other exchanges remain in it.
    Exchange(ExchangeId),
    /// Delete a conversation with all its exchanges.
    Conversation(ConversationId),
    /// Delete a document, given its name or ID.
    Document(String),
    /// Delete every exchange of a period. Dates can be written as `2026-05-01`, `yesterday` or `last week`.
    Period {
        /// First day of the period. Unlimited if `None`.
        since: Option<String>,
        /// Last day of the period. Unlimited if `None`, which requires `since` to be set.
        until: Option<String>,
    },
}

/// A [`ForgetRequest`] whose dates have been resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForgetTarget {
    /// Message to delete, with its exchange if no other messages remain in it.
    Message(MessageId),
    /// Exchange to delete, with its conversation if no other exchanges remain in it.
    Exchange(ExchangeId),
    /// Conversation to delete, with all its exchanges.
    Conversation(ConversationId),
    /// Name or ID of the document to delete.
    Document(String),
    /// Period whose exchanges are deleted. An exchange belongs to the period in which it started.
    Period {
        /// Start of the period, inclusive.
        since: Option<Timestamp>,
        /// End of the period, exclusive.
        until: Option<Timestamp>,
    },
}

/// Preview of a deletion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ForgetPreview {
    /// Target to pass to [`forget`].
    pub target: ForgetTarget,
    /// Description of what would be deleted.
    #[serde(flatten)]
    pub deletion: Deletion,
}

/// Result of a deletion.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ForgetReport {
    /// Description of what was deleted.
    #[serde(flatten)]
    pub deletion: Deletion,
    /// Whether another process was reading the database, so deleted text may remain on disk until it is next opened.
    pub traces_remain: bool,
    /// Copies of the memory, made by a restore or a repair, that may still contain the text. Daily backups never do.
    pub copies: Vec<PathBuf>,
}

/// Description of what is deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Deletion {
    /// Messages, exchanges or conversations.
    Conversations(ConversationDeletion),
    /// A document with its chunks.
    Document {
        /// Metadata of the document.
        document: Document,
        /// Whether the file was deleted too, which only happens for posts. Always `false` in a preview.
        file_deleted: bool,
    },
}

/// Counts of deleted records. Their embeddings and search index entries are deleted with them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ConversationDeletion {
    /// Number of deleted conversations.
    pub conversations: u64,
    /// Number of deleted exchanges.
    pub exchanges: u64,
    /// Number of deleted messages.
    pub messages: u64,
    /// Number of deleted summaries. They are rebuilt from the remaining messages.
    pub summaries: u64,
    /// Number of deleted lines of the command history.
    pub command_lines: u64,
    /// Number of other answers that quote the deleted text verbatim.
    pub quoting_answers: u64,
    /// Exchanges whose prompts contained the deleted text. They are kept, and their answers may paraphrase it.
    pub prompted_exchanges: Vec<ExchangeId>,
    /// Posts that were written from the deleted text, which are deleted too.
    pub posts: Vec<Document>,
}

impl From<ForgetOutcome> for ConversationDeletion {
    fn from(deleted: ForgetOutcome) -> Self {
        Self {
            conversations: deleted.conversations,
            exchanges: deleted.exchanges,
            messages: deleted.messages,
            summaries: deleted.summaries,
            command_lines: deleted.lines,
            quoting_answers: deleted.quotations,
            prompted_exchanges: deleted.prompted_exchanges,
            posts: deleted.posts,
        }
    }
}

/// Returns a description of what [`forget`] would delete, without changing anything.
///
/// # Errors
///
/// Fails if nothing matches the request, if a date is invalid, or if a period has neither a start nor an end.
pub async fn preview(
    request: &ForgetRequest,
    store: &dyn Forgetting,
    recall: &Recall,
) -> Result<ForgetPreview, Failure> {
    let target = resolve(request, recall)?;
    let deletion = match to_selection(&target)? {
        Selection::Document(name) => {
            let document = find_document(name, recall.store.as_ref()).await?;
            Deletion::Document { document, file_deleted: false }
        }
        Selection::Conversations(records) => {
            let plan = store.preview_forget(records).await?;
            if plan.is_empty() {
                return Err(Failure::usage("no stored message, exchange or conversation matches").hint(
                    "`memoir search` shows exchange IDs, and `memoir memory show ID` shows the message IDs of an exchange.",
                ));
            }
            Deletion::Conversations(plan.into())
        }
    };
    Ok(ForgetPreview { target, deletion })
}

/// Deletes `target` and everything derived from it. Recorded costs and core memory are kept.
///
/// # Errors
///
/// Fails if the document does not exist, if the store cannot be written, or if the file of a post cannot be deleted.
pub async fn forget(
    target: &ForgetTarget,
    store: &dyn Store,
    recall: &Recall,
    home: &Home,
) -> Result<ForgetReport, Failure> {
    let posts = home.posts();
    match to_selection(target)? {
        Selection::Document(name) => {
            let document = find_document(name, recall.store.as_ref()).await?;
            let deletion = CopyDeletion::Document(document.id);
            let delete = async { Ok(Library { recall }.remove(&document, &posts).await?) };
            let (file_deleted, copies) = copies::forget(home, &deletion, delete).await?;
            let deletion = Deletion::Document { document, file_deleted };
            Ok(ForgetReport { deletion, traces_remain: false, copies })
        }
        Selection::Conversations(records) => {
            let deletion = CopyDeletion::of(records, store).await?;
            let delete = async { Ok(store.forget(records).await?) };
            let (deleted, copies) = copies::forget(home, &deletion, delete).await?;
            for post in &deleted.posts {
                remove_post_file(post, &posts)?;
            }
            let traces_remain = deleted.traces_remain;
            Ok(ForgetReport { deletion: Deletion::Conversations(deleted.into()), traces_remain, copies })
        }
    }
}

fn resolve(request: &ForgetRequest, recall: &Recall) -> Result<ForgetTarget, Failure> {
    Ok(match request {
        ForgetRequest::Message(id) => ForgetTarget::Message(*id),
        ForgetRequest::Exchange(id) => ForgetTarget::Exchange(*id),
        ForgetRequest::Conversation(id) => ForgetTarget::Conversation(*id),
        ForgetRequest::Document(name) => ForgetTarget::Document(name.clone()),
        ForgetRequest::Period { since, until } => ForgetTarget::Period {
            since: dates::parse_since(since.as_deref(), recall)?,
            until: dates::parse_until(until.as_deref(), recall)?,
        },
    })
}

/// A [`ForgetTarget`], grouped by the component that deletes it.
enum Selection<'a> {
    Conversations(Forget),
    Document(&'a str),
}

fn to_selection(target: &ForgetTarget) -> Result<Selection<'_>, Failure> {
    Ok(Selection::Conversations(match target {
        ForgetTarget::Message(id) => Forget::Message(*id),
        ForgetTarget::Exchange(id) => Forget::Exchange(*id),
        ForgetTarget::Conversation(id) => Forget::Conversation(*id),
        ForgetTarget::Document(name) => return Ok(Selection::Document(name)),
        // The store would interpret an unlimited period as everything.
        ForgetTarget::Period { since: None, until: None } => return Err(missing_target()),
        ForgetTarget::Period { since, until } => Forget::Span { since: *since, until: *until },
    }))
}

fn missing_target() -> Failure {
    Failure::usage("specify what to delete").hint(
        "Use `--message`, `--exchange`, `--conversation` or `--document`, or a period with `--since` and `--until`.",
    )
}

async fn find_document(name: &str, store: &dyn Documents) -> Result<Document, Failure> {
    store.document(name).await?.ok_or_else(|| {
        Failure::usage(format!("there is no document \"{name}\""))
            .hint("Run `memoir docs list` to see all documents.")
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;
    use crate::failure::FailureKind;
    use crate::operations::test_support::{recall_on, store_with};

    #[tokio::test]
    async fn a_preview_changes_nothing_and_its_target_can_be_deleted() {
        let directory = tempfile::tempdir().unwrap();
        let (store, committed) = store_with(&["The gate code.", "The night train."]).await;
        let recall = recall_on(&store);
        let request = ForgetRequest::Exchange(committed[0].exchange_id);
        let before = preview(&request, &store, &recall).await.unwrap();
        let Deletion::Conversations(planned) = &before.deletion else { unreachable!("not a document") };
        assert_eq!((planned.conversations, planned.exchanges, planned.messages), (1, 1, 2));
        assert_eq!(preview(&request, &store, &recall).await.unwrap(), before);
        let report =
            forget(&before.target, &store, &recall, &Home::in_directory(directory.path())).await.unwrap();
        let Deletion::Conversations(deleted) = &report.deletion else { unreachable!("not a document") };
        assert_eq!(deleted.exchanges, 1);
        let failure = preview(&request, &store, &recall).await.unwrap_err();
        assert_eq!(failure.message, "no stored message, exchange or conversation matches");
    }

    #[tokio::test]
    async fn an_unlimited_period_is_rejected() {
        let (store, _) = store_with(&["The gate code."]).await;
        let recall = recall_on(&store);
        let request = ForgetRequest::Period { since: None, until: None };
        assert_eq!(preview(&request, &store, &recall).await.unwrap_err().message, "specify what to delete");
        let target = ForgetTarget::Period { since: None, until: None };
        let home = Home::in_directory("/nonexistent");
        assert_eq!(
            forget(&target, &store, &recall, &home).await.unwrap_err().message,
            "specify what to delete"
        );
    }

    #[tokio::test]
    async fn dates_are_resolved_by_the_preview() {
        let (store, _) = store_with(&["The gate code."]).await;
        let recall = recall_on(&store);
        let period = |since: &str| ForgetRequest::Period { since: Some(since.into()), until: None };
        let target = preview(&period("2020-01-01"), &store, &recall).await.unwrap().target;
        assert!(matches!(target, ForgetTarget::Period { since: Some(_), until: None }), "{target:?}");
        assert_eq!(preview(&period("soon"), &store, &recall).await.unwrap_err().kind, FailureKind::Usage);
    }
}
