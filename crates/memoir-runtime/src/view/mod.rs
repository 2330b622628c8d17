//! What another program sees of the memory: everything, or one project and what the user shares.
//!
//! Servers and hooks read and change memory only through a [`MemoryView`], which never returns anything that its program
//! may not see. Something that exists elsewhere is reported exactly like something that does not exist.

mod brief;
mod capture;
mod changes;
mod citation;
mod conversing;
mod documents;
mod facts;
mod injection;
mod item_id;
mod prompting;
mod relayed;

use std::{num::NonZero, sync::Arc, thread::available_parallelism};

use memoir_core::{Conversation, ConversationId, Document, Exchange, ExchangeId, Message, Recollection};
use memoir_recall::{QueryKind, Recall, ScopeRule};
use memoir_store::{ConversationList, Filter, ListPosition};
use tokio::sync::Semaphore;

use crate::{
    dates,
    failure::Failure,
    operations::{documents::assign_projects, search},
    runtime::Runtime,
};

pub use brief::{ProjectBrief, QuotedSentence, SessionDigest};
pub use changes::{ForgetPlan, NewStatement, RememberReport};
pub use citation::Citation;
pub use conversing::Thread;
pub use documents::AddedDocument;
pub use facts::{ChangedFact, FactPage, StatedFact};
pub use injection::{InjectedQuotation, InjectionReport};
pub use item_id::{InvalidItemId, ItemId};
pub use prompting::{injected_exchange, list_injected};
pub use relayed::RelayedExchange;

/// How much of the memory a program may see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The project that the program works for, and what the user shares with all projects.
    Project,
    /// Everything.
    All,
}

/// Request to look something up.
#[derive(Debug, Clone, Default)]
pub struct LookUp {
    /// Question or keywords.
    pub question: String,
    /// Whether to leave out what other projects share.
    pub only_project: bool,
    /// Only what was said in this project.
    pub project: Option<String>,
    /// Only what was said in this program, such as `claude-code`, or `memoir` itself.
    pub program: Option<String>,
    /// Only what this person said, in imported conversations between people.
    pub person: Option<String>,
    /// Only search messages from this day on, such as `2026-05-01`, `yesterday` or `last week`.
    pub since: Option<String>,
    /// Only search messages up to the end of this day or period.
    pub until: Option<String>,
}

/// The text of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentText {
    /// Metadata of the document.
    pub document: Document,
    /// The whole text.
    pub text: String,
    /// Number of parts that are not found by meaning yet.
    pub unembedded: u64,
}

/// The memory as another program sees it.
#[derive(Clone)]
pub struct MemoryView {
    runtime: Runtime,
    recall: Recall,
    reach: Reach,
    project: String,
    /// One permit for each processor. A search keeps one busy and needs megabytes, so more at once would be no faster.
    searches: Arc<Semaphore>,
}

impl MemoryView {
    /// Returns the view of a program that works for the runtime's project. Adds a notice if a feature is unavailable.
    ///
    /// # Errors
    ///
    /// Fails if the settings of recall cannot be read.
    pub async fn new(runtime: &Runtime, reach: Reach, notices: &mut Vec<String>) -> Result<Self, Failure> {
        let recall = runtime.recall(notices).await?;
        assign_projects(runtime.store().as_ref(), |directory| runtime.find_scope(directory)).await?;
        let project = runtime.scope();
        let processors = available_parallelism().map_or(1, NonZero::get);
        let view = Self {
            runtime: runtime.clone(),
            recall,
            reach: Reach::All,
            project: project.clone(),
            searches: Arc::new(Semaphore::new(processors)),
        };
        Ok(match reach {
            Reach::Project => view.for_project(project),
            Reach::All => view,
        })
    }

    /// Returns the view of a program that works for a project: that project, and what the user shares.
    pub fn for_project(&self, project: String) -> Self {
        let mut recall = self.recall.clone();
        recall.scope = Some(project.clone());
        recall.visible_to = Some(project.clone());
        Self { recall, reach: Reach::Project, project, ..self.clone() }
    }

    /// Returns the project that the program works for.
    pub fn project(&self) -> &str {
        &self.project
    }

    /// Returns the recall that searches what the program may see.
    pub fn recall(&self) -> &Recall {
        &self.recall
    }

    /// Answers a question with a quotation and the passages that support it, within a budget of tokens.
    ///
    /// # Errors
    ///
    /// Fails if a date is invalid.
    pub async fn look_up(&self, request: &LookUp, max_tokens: u64) -> Result<Recollection, Failure> {
        let (mut recall, filter) = self.prepare(request)?;
        recall.settings.token_budget = recall.settings.token_budget.min(max_tokens);
        let _turn = self.searches.acquire().await;
        Ok(recall.look_up(&request.question, filter).await)
    }

    /// Returns what matches a search, best first, within a budget of tokens.
    ///
    /// # Errors
    ///
    /// Fails if a date is invalid.
    pub async fn search(
        &self,
        request: &LookUp,
        limit: usize,
        max_tokens: u64,
    ) -> Result<Recollection, Failure> {
        let (mut recall, filter) = self.prepare(request)?;
        recall.settings.token_budget = max_tokens;
        recall.settings.exchange_capacity = limit;
        recall.settings.exchanges_per_conversation = limit;
        recall.settings.conversation_limit = limit;
        let turn = self.searches.acquire().await;
        let mut recollection = recall.ask(&request.question, QueryKind::Search, filter).await;
        drop(turn);
        if let Some(program) = &request.program {
            search::keep_program(program, &mut recollection, self.runtime.store().as_ref()).await?;
        }
        if request.person.is_some() {
            recollection.passages.retain(|passage| passage.author == request.person);
            recollection.documents.clear();
        }
        Ok(recollection)
    }

    fn prepare(&self, request: &LookUp) -> Result<(Recall, Filter), Failure> {
        let filter = Filter {
            since: dates::parse_since(request.since.as_deref(), &self.recall)?,
            until: dates::parse_until(request.until.as_deref(), &self.recall)?,
            scope: request.project.clone(),
            program: request.program.clone(),
            author: request.person.clone(),
            ..Filter::default()
        };
        let mut recall = self.recall.clone();
        if request.only_project {
            recall.settings.scope = ScopeRule::Only;
        }
        Ok((recall, filter))
    }

    /// Returns the project that the view is limited to, if it is.
    pub fn limited_to(&self) -> Option<&str> {
        (self.reach == Reach::Project).then_some(self.project.as_str())
    }

    fn visible_to(&self) -> Option<String> {
        (self.reach == Reach::Project).then(|| self.project.clone())
    }

    /// Returns the latest conversations, or those that come after a position in the list.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub async fn conversations(
        &self,
        matching: Option<&str>,
        only_project: bool,
        after: Option<ListPosition>,
        limit: u32,
    ) -> Result<Vec<Conversation>, Failure> {
        let list = ConversationList {
            scope: only_project.then(|| self.project.clone()),
            visible_to: self.visible_to(),
            matching: matching.map(str::to_owned),
            exclude_lookups: true,
            after,
            limit,
            ..ConversationList::default()
        };
        Ok(self.runtime.store().conversations(&list).await?)
    }

    /// Returns a conversation, or `None` if it does not exist or the program may not see it.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub async fn conversation(&self, id: ConversationId) -> Result<Option<Conversation>, Failure> {
        let conversation = self.runtime.store().conversation(id).await?;
        let project = self.visible_to();
        Ok(conversation.filter(|conversation| {
            project.as_ref().is_none_or(|project| conversation.is_visible_to(project))
        }))
    }

    /// Returns the exchanges of a conversation that the program may see, oldest first. A fork starts with the exchanges
    /// that it shares with its parent.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub async fn exchanges(&self, conversation: &Conversation) -> Result<Vec<Exchange>, Failure> {
        Ok(self.runtime.store().exchanges(conversation.id, u32::MAX).await?)
    }

    /// Returns the last `limit` exchanges of a conversation that the program may see, or the last ones before another, in
    /// order.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub async fn latest_exchanges(
        &self,
        conversation: &Conversation,
        before: Option<ExchangeId>,
        limit: u32,
    ) -> Result<Vec<Exchange>, Failure> {
        let store = self.runtime.store();
        Ok(match before {
            Some(before) => store.exchanges_before(conversation.id, before, limit).await?,
            None => store.exchanges(conversation.id, limit).await?,
        })
    }

    /// Returns the conversations that the program may see and that were forked from another.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub async fn forks(&self, conversation: &Conversation) -> Result<Vec<Conversation>, Failure> {
        let store = self.runtime.store();
        let titles = store.titles().await?;
        let forks = titles.iter().filter(|title| title.forked_from == Some(conversation.id));
        let ids: Vec<ConversationId> = forks.map(|title| title.id).collect();
        let mut forks = store.conversations_by_id(&ids).await?;
        let project = self.visible_to();
        forks.retain(|fork| project.as_ref().is_none_or(|project| fork.is_visible_to(project)));
        forks.sort_by_key(|fork| fork.created);
        Ok(forks)
    }

    /// Returns the messages of an exchange that the program may see, in order, with those of tools.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub async fn messages(&self, exchange: &Exchange) -> Result<Vec<Message>, Failure> {
        Ok(self.runtime.store().exchange_messages(exchange.id).await?)
    }

    /// Returns an exchange and its conversation, or `None` if it does not exist or the program may not see it.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub async fn exchange(&self, id: ExchangeId) -> Result<Option<(Conversation, Exchange)>, Failure> {
        let Some(exchange) = self.runtime.store().exchange(id).await? else { return Ok(None) };
        let conversation = self.conversation(exchange.conversation_id).await?;
        Ok(conversation.map(|conversation| (conversation, exchange)))
    }

    /// Returns the documents that the program may see, newest first.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub async fn documents(&self) -> Result<Vec<Document>, Failure> {
        let mut documents = Vec::new();
        for document in self.runtime.store().documents().await? {
            if self.may_see(&document).await? {
                documents.push(document);
            }
        }
        Ok(documents)
    }

    /// Returns a document by its name, or `None` if it does not exist or the program may not see it.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub async fn document(&self, name: &str) -> Result<Option<DocumentText>, Failure> {
        let store = self.runtime.store();
        let Some(document) = store.document(name).await?.filter(|document| document.slug == name) else {
            return Ok(None);
        };
        if !self.may_see(&document).await? {
            return Ok(None);
        }
        let mut text = String::new();
        for chunk in store.document_chunks(document.id).await? {
            // A chunk begins with the end of the previous one, which is already in the text.
            text.push_str(chunk.text.get(chunk.overlap..).unwrap_or_default());
        }
        let unembedded = store.unembedded_chunk_count(document.id, self.recall.embedder.name()).await?;
        Ok(Some(DocumentText { document, text, unembedded }))
    }

    async fn may_see(&self, document: &Document) -> Result<bool, Failure> {
        Ok(match self.visible_to() {
            Some(project) => self.runtime.store().is_document_visible(document.id, &project).await?,
            None => true,
        })
    }
}
