//! Changes that another program may make: remembering a statement, and forgetting after the user agreed.

use memoir_core::{
    Answer, Clock as _, ConversationTarget, DraftMessage, Exchange, ExchangeDraft, ExchangeId,
    ExchangeSource, ExchangeStatus, MessageBody, NewConversation, Provenance, Quotation, RecalledPassages,
    SystemClock, Visibility, count_tokens,
};
use memoir_models::ModelName;
use memoir_store::{CommittedExchange, NewImport, StoreError};
use sha2::{Digest as _, Sha256};

use super::{ItemId, MemoryView, Reach};
use crate::{
    failure::{Failure, FailureKind},
    operations::forgetting::{self, Deletion, ForgetRequest, ForgetTarget},
};

/// Maximum length of a statement, in bytes.
const MAX_STATEMENT_BYTES: usize = 16 * 1024;

/// Maximum number of things that are forgotten at once, so that the user can read what the question lists.
const MAX_FORGOTTEN: usize = 50;

/// Beginning of the origins of statements that have a key.
const KEY_ORIGIN: &str = "statement/";

/// A statement to remember.
#[derive(Debug, Clone)]
pub struct NewStatement {
    /// The statement, in words that make sense later.
    pub text: String,
    /// Whether programs that work for other projects may see it. Only a program that sees everything may share.
    pub is_shared: bool,
    /// Program and session that it comes from.
    pub source: ExchangeSource,
    /// Identifies the statement, so that it is stored once however often it is sent.
    pub key: Option<String>,
}

/// The result of remembering a statement.
#[derive(Debug, Clone, PartialEq)]
pub struct RememberReport {
    /// Exchange that holds the statement.
    pub exchange: ExchangeId,
    /// Statements that it contradicts.
    pub supersedes: Vec<Quotation>,
}

/// What would be forgotten.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForgetPlan {
    targets: Vec<ForgetTarget>,
    /// A line for each item: its id and title.
    pub items: Vec<String>,
    /// Number of messages of conversations that would be deleted.
    pub messages: u64,
    /// Number of documents that would be deleted.
    pub documents: u64,
}

impl ForgetPlan {
    /// Returns a text that differs from that of every other plan, by which a program names what its user agreed to.
    pub fn fingerprint(&self) -> String {
        digest(&format!("{self:?}"))
    }
}

impl MemoryView {
    /// Stores a statement in the project of the program. It counts as written by others, because the program may repeat
    /// what a page or a tool said.
    ///
    /// # Errors
    ///
    /// Fails if the statement is empty or too long, if the program may not share it, or if the store cannot be written.
    pub async fn remember(&self, statement: &NewStatement) -> Result<RememberReport, Failure> {
        let text = statement.text.trim();
        if text.is_empty() {
            return Err(Failure::usage("the statement is empty").hint("Write what is to be remembered."));
        }
        if text.len() > MAX_STATEMENT_BYTES {
            return Err(Failure::usage("the statement is longer than 16 KiB")
                .hint("Shorten it, or add a longer text as a document with `memoir docs add FILE`."));
        }
        if statement.is_shared && self.reach == Reach::Project {
            return Err(Failure::usage("this program may store statements only in its project").hint(
                "Do not share it. The user can share a conversation with `memoir conversations share ID`.",
            ));
        }
        let supersedes = match self.recall.acknowledge(text).await.answer {
            Some(Answer::Noted { supersedes }) => supersedes,
            _ => Vec::new(),
        };
        let store = self.runtime.store();
        let conversation = NewConversation::titled_after(text, self.project());
        let draft = draft(text, &statement.source);
        let committed = match &statement.key {
            Some(key) => self.store_once(key, &conversation, &draft).await?,
            None => store.commit_exchange(&ConversationTarget::New(conversation), &draft).await?,
        };
        if statement.is_shared {
            store.set_shared(committed.conversation_id, true).await?;
        }
        self.embed_stored(committed.exchange_id).await;
        Ok(RememberReport { exchange: committed.exchange_id, supersedes })
    }

    /// Stores a statement under a key, or finds the one that was stored under it before.
    async fn store_once(
        &self,
        key: &str,
        conversation: &NewConversation,
        draft: &ExchangeDraft,
    ) -> Result<CommittedExchange, Failure> {
        let store = self.runtime.store();
        let origin = format!("{KEY_ORIGIN}{key}");
        let checksum = digest(&format!("{}\n{}", conversation.scope, draft.user_message));
        let new = NewImport {
            origin: &origin,
            conversation,
            previous: None,
            last_seen: None,
            exchanges: std::slice::from_ref(draft),
            messages: draft.messages.len() as u64,
            checksum: &checksum,
            through: Some(draft.completed),
        };
        let earlier = || async {
            Ok::<_, StoreError>(
                store.imports(&origin).await?.into_iter().find(|import| import.origin == origin),
            )
        };
        let conversation_id = match earlier().await? {
            Some(import) if import.checksum == checksum => Some(import.conversation_id),
            Some(_) => {
                return Err(Failure::usage("another statement was sent with this key")
                    .hint("Send each statement with a key of its own."));
            }
            None if store.forgotten_at(&origin).await?.is_some() => None,
            None => match store.put_import(&new).await? {
                Some(stored) => Some(stored),
                // The same statement was stored at the same time.
                None => earlier().await?.map(|import| import.conversation_id),
            },
        };
        let exchange = match conversation_id {
            Some(id) => store.exchanges(id, 1).await?.pop(),
            None => None,
        };
        let exchange = exchange.ok_or_else(|| {
            Failure::new(
                FailureKind::Missing,
                "the statement was stored before, and has been forgotten since",
            )
        })?;
        Ok(CommittedExchange { conversation_id: exchange.conversation_id, exchange_id: exchange.id })
    }

    /// Returns what forgetting these items would delete.
    ///
    /// # Errors
    ///
    /// Fails if there are too many items, or if one does not exist or the program may not see it.
    pub async fn plan_forgetting(&self, ids: &[ItemId]) -> Result<ForgetPlan, Failure> {
        if ids.is_empty() || ids.len() > MAX_FORGOTTEN {
            return Err(Failure::usage(format!("give between 1 and {MAX_FORGOTTEN} ids")));
        }
        let mut plan = ForgetPlan { targets: Vec::new(), items: Vec::new(), messages: 0, documents: 0 };
        for id in ids {
            let (request, title) = match id {
                ItemId::Exchange(exchange) => {
                    let (_, stored) = self.exchange(*exchange).await?.ok_or_else(|| missing(id))?;
                    (ForgetRequest::Exchange(*exchange), stored.user_message)
                }
                ItemId::Conversation(conversation) => {
                    let stored = self.conversation(*conversation).await?.ok_or_else(|| missing(id))?;
                    (ForgetRequest::Conversation(*conversation), stored.title)
                }
                ItemId::Document(name) => {
                    let stored = self.document(name).await?.ok_or_else(|| missing(id))?;
                    (ForgetRequest::Document(name.clone()), stored.document.title)
                }
            };
            let preview = forgetting::preview(&request, self.runtime.store().as_ref(), &self.recall).await?;
            match preview.deletion {
                Deletion::Conversations(deletion) => {
                    plan.messages += deletion.messages;
                    for post in deletion.posts {
                        let is_visible = self.may_see(&post).await?;
                        let title = if is_visible { post.title } else { "of several projects".to_owned() };
                        plan.documents += 1;
                        plan.items.push(format!("a post written from {id}: {title}"));
                    }
                }
                Deletion::Document { .. } => plan.documents += 1,
            }
            plan.targets.push(preview.target);
            plan.items.push(format!("{id}: {}", NewConversation::titled_after(&title, "").title));
        }
        Ok(plan)
    }

    /// Deletes what a plan lists. The user must have agreed to it. Returns the number of messages and documents.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be written.
    pub async fn forget(&self, plan: &ForgetPlan) -> Result<(u64, u64), Failure> {
        let (mut messages, mut documents) = (0, 0);
        for target in &plan.targets {
            let (store, home) = (self.runtime.store().as_ref(), self.runtime.home());
            match forgetting::forget(target, store, &self.recall, home).await?.deletion {
                Deletion::Conversations(deletion) => messages += deletion.messages,
                Deletion::Document { .. } => documents += 1,
            }
        }
        Ok((messages, documents))
    }
}

fn digest(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn missing(id: &ItemId) -> Failure {
    Failure::new(FailureKind::Missing, format!("there is no {id}"))
        .hint("Use the ids that recall and search return.")
}

/// Returns whether a program has stored the exchange with [`MemoryView::remember`], so that its text may not be the
/// user's.
pub(super) fn is_statement(exchange: &Exchange) -> bool {
    let is_answered = |source: &ExchangeSource| exchange.assistant_message == confirmation(source);
    exchange.model == ModelName::recall().to_string() && exchange.source.as_ref().is_some_and(is_answered)
}

/// Returns the answer to a statement.
fn confirmation(source: &ExchangeSource) -> String {
    format!("Remembered for {}.", source.program)
}

/// Builds the exchange that holds a statement.
fn draft(text: &str, source: &ExchangeSource) -> ExchangeDraft {
    let now = SystemClock.now();
    let message = |body: MessageBody, provenance| DraftMessage {
        author: None,
        by_others: true,
        tokens: count_tokens(body.text()) as u64,
        body,
        visibility: Visibility::Shown,
        provenance,
        created: now,
    };
    let answer = confirmation(source);
    ExchangeDraft {
        status: ExchangeStatus::Completed,
        started: now,
        completed: now,
        user_message: text.to_owned(),
        assistant_message: answer.clone(),
        model: ModelName::recall().to_string(),
        messages: vec![
            message(MessageBody::User { text: text.to_owned() }, Provenance::Original),
            message(MessageBody::Assistant { text: answer, tool_calls: Vec::new() }, Provenance::Derived),
        ],
        calls: Vec::new(),
        recalled: RecalledPassages::default(),
        tool_call_count: 0,
        error: None,
        source: Some(source.clone()),
    }
}
