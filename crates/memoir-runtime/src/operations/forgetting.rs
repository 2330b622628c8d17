//! Forgetting: messages, exchanges, conversations, periods and documents, with everything derived from them.
//!
//! [`preview`] returns what would be deleted together with a [`ForgetTarget`]; [`forget`] takes that target. A date such as
//! `yesterday` is resolved once, by the preview, so that what the user confirms is what is deleted.

use memoir_core::{ConversationId, Document, ExchangeId, MessageId, Timestamp};
use memoir_docs::{Library, remove_post_file};
use memoir_recall::Recall;
use memoir_store::{Documents, Forget, Forgetting, Forgotten};
use serde::{Deserialize, Serialize};

use crate::{dates, failure::Failure, home::Home};

/// What the user wants to forget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForgetRequest {
    /// A message; its exchange too, if nothing else is in it.
    Message(MessageId),
    /// An exchange; its conversation too, if nothing else is in it.
    Exchange(ExchangeId),
    /// A conversation.
    Conversation(ConversationId),
    /// A document, by its name or number.
    Document(String),
    /// Every exchange of a period. Dates are as people write them: `2026-05-01`, `yesterday`, `last week`.
    Period {
        /// First day; from the beginning if `None`.
        since: Option<String>,
        /// Last day; until now if `None`. At least one of both must be given.
        until: Option<String>,
    },
}

/// What is deleted: a request whose dates have been resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ForgetTarget {
    /// A message.
    Message(MessageId),
    /// An exchange.
    Exchange(ExchangeId),
    /// A conversation.
    Conversation(ConversationId),
    /// A document, by its name or number.
    Document(String),
    /// The exchanges that started in a period.
    Period {
        /// Nothing from before this moment.
        since: Option<Timestamp>,
        /// Nothing from this moment on.
        until: Option<Timestamp>,
    },
}

/// What would be deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ForgetPreview {
    /// Pass this to [`forget`] to delete it.
    pub target: ForgetTarget,
    /// What would be deleted.
    #[serde(flatten)]
    pub deletion: Deletion,
}

/// What was deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ForgetReport {
    /// What was deleted.
    #[serde(flatten)]
    pub deletion: Deletion,
    /// Whether deleted text may remain on disk until the memory is opened next, because another process is reading it.
    pub traces_remain: bool,
}

/// Something that is deleted, with everything derived from it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Deletion {
    /// Parts of conversations.
    Conversations(ConversationDeletion),
    /// A document.
    Document {
        /// The document.
        document: Document,
        /// Whether its file is deleted too, as that of a post is. Always `false` in a preview.
        file_deleted: bool,
    },
}

/// Parts of conversations that are deleted, with their embeddings and search index entries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ConversationDeletion {
    /// Number of conversations.
    pub conversations: u64,
    /// Number of exchanges.
    pub exchanges: u64,
    /// Number of messages.
    pub messages: u64,
    /// Number of summaries. They are rebuilt from what is left.
    pub summaries: u64,
    /// Number of lines of the command history.
    pub command_lines: u64,
    /// Number of answers that quote the deleted text literally.
    pub quoting_answers: u64,
    /// Exchanges that stay although the deleted text was in their prompts: their answers may paraphrase it.
    pub prompted_exchanges: Vec<ExchangeId>,
    /// Posts that were written from the deleted text, and are deleted with it.
    pub posts: Vec<Document>,
}

impl From<Forgotten> for ConversationDeletion {
    fn from(forgotten: Forgotten) -> Self {
        Self {
            conversations: forgotten.conversations,
            exchanges: forgotten.exchanges,
            messages: forgotten.messages,
            summaries: forgotten.summaries,
            command_lines: forgotten.lines,
            quoting_answers: forgotten.quotations,
            prompted_exchanges: forgotten.told,
            posts: forgotten.posts,
        }
    }
}

/// Returns what [`forget`] would delete. Nothing is changed.
///
/// # Errors
///
/// Fails if there is nothing of the kind, if a date cannot be read, or if a period has neither a beginning nor an end.
pub async fn preview(
    request: &ForgetRequest,
    store: &dyn Forgetting,
    recall: &Recall,
) -> Result<ForgetPreview, Failure> {
    let target = resolve(request, recall)?;
    let deletion = match selection(&target)? {
        Selection::Document(name) => {
            let document = find_document(name, recall.store.as_ref()).await?;
            Deletion::Document { document, file_deleted: false }
        }
        Selection::Conversations(what) => {
            let plan = store.would_forget(what).await?;
            if plan.is_nothing() {
                return Err(Failure::usage("there is nothing like that").hint(
                    "memoir search shows numbers of exchanges, memoir memory show N those of its messages.",
                ));
            }
            Deletion::Conversations(plan.into())
        }
    };
    Ok(ForgetPreview { target, deletion })
}

/// Deletes `target` with everything derived from it. Costs and core memory stay.
///
/// # Errors
///
/// Fails if there is no such document, if the store does, or if the file of a post cannot be deleted.
pub async fn forget(
    target: &ForgetTarget,
    store: &dyn Forgetting,
    recall: &Recall,
    home: &Home,
) -> Result<ForgetReport, Failure> {
    let posts = home.posts();
    match selection(target)? {
        Selection::Document(name) => {
            let document = find_document(name, recall.store.as_ref()).await?;
            let file_deleted = Library { recall }.remove(&document, &posts).await?;
            Ok(ForgetReport { deletion: Deletion::Document { document, file_deleted }, traces_remain: false })
        }
        Selection::Conversations(what) => {
            let forgotten = store.forget(what).await?;
            for post in &forgotten.posts {
                remove_post_file(post, &posts)?;
            }
            let traces_remain = forgotten.traces_are_left;
            Ok(ForgetReport { deletion: Deletion::Conversations(forgotten.into()), traces_remain })
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
            since: dates::since(since.as_deref(), recall)?,
            until: dates::until(until.as_deref(), recall)?,
        },
    })
}

/// A target, as what carries it out needs it.
enum Selection<'a> {
    Conversations(Forget),
    Document(&'a str),
}

fn selection(target: &ForgetTarget) -> Result<Selection<'_>, Failure> {
    Ok(Selection::Conversations(match target {
        ForgetTarget::Message(id) => Forget::Message(*id),
        ForgetTarget::Exchange(id) => Forget::Exchange(*id),
        ForgetTarget::Conversation(id) => Forget::Conversation(*id),
        ForgetTarget::Document(name) => return Ok(Selection::Document(name)),
        // To the store, a period without limits is everything.
        ForgetTarget::Period { since: None, until: None } => return Err(nothing_named()),
        ForgetTarget::Period { since, until } => Forget::Span { since: *since, until: *until },
    }))
}

fn nothing_named() -> Failure {
    Failure::usage("say what to forget").hint(
        "--message, --exchange or --conversation with a number, --document with a name, or --since and --until.",
    )
}

async fn find_document(name: &str, store: &dyn Documents) -> Result<Document, Failure> {
    store.document(name).await?.ok_or_else(|| {
        Failure::usage(format!("there is no document \"{name}\"")).hint("memoir docs list shows all of them.")
    })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;
    use crate::failure::FailureKind;
    use crate::operations::test_support::{recall_on, store_with};

    #[tokio::test]
    async fn a_preview_changes_nothing_and_its_target_is_what_is_deleted() {
        let folder = tempfile::tempdir().unwrap();
        let (store, said) = store_with(&["The gate code.", "The night train."]).await;
        let recall = recall_on(&store);
        let request = ForgetRequest::Exchange(said[0].exchange_id);
        let before = preview(&request, &store, &recall).await.unwrap();
        let Deletion::Conversations(planned) = &before.deletion else { unreachable!("not a document") };
        assert_eq!((planned.conversations, planned.exchanges, planned.messages), (1, 1, 2));
        assert_eq!(preview(&request, &store, &recall).await.unwrap(), before);
        let report = forget(&before.target, &store, &recall, &Home::in_one(folder.path())).await.unwrap();
        let Deletion::Conversations(deleted) = &report.deletion else { unreachable!("not a document") };
        assert_eq!(deleted.exchanges, 1);
        let failure = preview(&request, &store, &recall).await.unwrap_err();
        assert_eq!(failure.message, "there is nothing like that");
    }

    #[tokio::test]
    async fn a_period_without_limits_is_refused() {
        let (store, _) = store_with(&["The gate code."]).await;
        let recall = recall_on(&store);
        let request = ForgetRequest::Period { since: None, until: None };
        assert_eq!(preview(&request, &store, &recall).await.unwrap_err().message, "say what to forget");
        let target = ForgetTarget::Period { since: None, until: None };
        let home = Home::in_one("/nonexistent");
        assert_eq!(forget(&target, &store, &recall, &home).await.unwrap_err().message, "say what to forget");
    }

    #[tokio::test]
    async fn dates_are_resolved_by_the_preview() {
        let (store, _) = store_with(&["The gate code."]).await;
        let recall = recall_on(&store);
        let period = |since: &str| ForgetRequest::Period { since: Some(since.into()), until: None };
        let resolved = preview(&period("2020-01-01"), &store, &recall).await.unwrap().target;
        assert!(matches!(resolved, ForgetTarget::Period { since: Some(_), until: None }), "{resolved:?}");
        assert_eq!(preview(&period("soon"), &store, &recall).await.unwrap_err().kind, FailureKind::Usage);
    }
}
