//! What another program adds to a prompt of its user, and the record of it.

use memoir_core::{
    Clock as _, ConversationId, Exchange, ExchangeId, ExchangeSource, InjectedItem, InjectedSubject,
    Injection, Recollection, SystemClock, count_tokens,
};
use memoir_recall::{QueryKind, resolve_follow_up};
use memoir_store::Filter;
use tokio::task::JoinHandle;

use super::MemoryView;
use crate::failure::Failure;

/// Time during which a program that reads the hooks of another one may repeat an event, in milliseconds.
const REPEAT_MS: i64 = 5_000;

impl MemoryView {
    /// Returns what is relevant to a prompt of a session of another program, within a budget of tokens. It is as
    /// selective as recall for a prompt in Memoir, and leaves out the session itself, which the program still has.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub async fn recall_for_prompt(
        &self,
        prompt: &str,
        source: &ExchangeSource,
        max_tokens: u64,
    ) -> Result<Recollection, Failure> {
        let loading = self.start_loading(prompt);
        let session = self.find_session(source).await?;
        self.recall_after(prompt, session, max_tokens, loading).await
    }

    /// Returns what is relevant to a prompt in a conversation, like [`Self::recall_for_prompt`].
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub async fn recall_in(
        &self,
        prompt: &str,
        conversation: Option<ConversationId>,
        max_tokens: u64,
    ) -> Result<Recollection, Failure> {
        self.recall_after(prompt, conversation, max_tokens, self.start_loading(prompt)).await
    }

    async fn recall_after(
        &self,
        prompt: &str,
        conversation: Option<ConversationId>,
        max_tokens: u64,
        loading: Option<JoinHandle<()>>,
    ) -> Result<Recollection, Failure> {
        let mut recall = self.recall.clone();
        recall.settings.token_budget = recall.settings.token_budget.min(max_tokens);
        let previous = match conversation {
            Some(conversation) => self.last_exchange(conversation).await?,
            None => None,
        };
        let question =
            resolve_follow_up(prompt, previous.as_ref().map(|exchange| exchange.user_message.as_str()));
        self.recall.prepare(&question).await;
        if let Some(loading) = loading
            && let Err(error) = loading.await
        {
            tracing::warn!(%error, "could not load the index");
        }
        let filter = Filter { excluded_conversation: conversation, ..Filter::default() };
        let _turn = self.searches.acquire().await;
        Ok(recall.ask(&question, QueryKind::Prompt, filter).await)
    }

    /// Starts to load the search index, unless the prompt needs none. It takes a processor for itself.
    fn start_loading(&self, prompt: &str) -> Option<JoinHandle<()>> {
        let recall = (!self.recall.is_idle(prompt)).then(|| self.recall.clone())?;
        Some(tokio::spawn(async move {
            if let Err(error) = recall.warm_up().await {
                // Recall reports it.
                tracing::debug!(%error, "could not load the index");
            }
        }))
    }

    /// Returns the conversation that a session of another program became, if the program may see it.
    async fn find_session(&self, source: &ExchangeSource) -> Result<Option<ConversationId>, Failure> {
        let origin = format!("{}/{}", source.program, source.session);
        let imports = self.runtime.store().imports(&origin).await?;
        let Some(import) = imports.into_iter().find(|import| import.origin == origin) else {
            return Ok(None);
        };
        Ok(self.conversation(import.conversation_id).await?.map(|conversation| conversation.id))
    }

    /// Returns the exchanges of a session of another program that are stored so far, oldest first.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub async fn session_exchanges(&self, source: &ExchangeSource) -> Result<Vec<Exchange>, Failure> {
        match self.find_session(source).await? {
            Some(session) => Ok(self.runtime.store().exchanges(session, u32::MAX).await?),
            None => Ok(Vec::new()),
        }
    }

    /// Records what was added to a prompt or a session of another program.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be written.
    pub async fn record_injection(
        &self,
        event: &str,
        source: &ExchangeSource,
        items: Vec<InjectedItem>,
    ) -> Result<(), Failure> {
        let injection = Injection {
            source: source.clone(),
            scope: self.project().to_owned(),
            event: event.to_owned(),
            created: SystemClock.now(),
            items,
        };
        Ok(self.runtime.store().record_injection(&injection).await?)
    }

    /// Returns whether the same was added to the same session a moment ago. Some programs also run the hooks of others,
    /// and some report an event twice.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub async fn was_just_injected(
        &self,
        source: &ExchangeSource,
        items: &[InjectedItem],
    ) -> Result<bool, Failure> {
        let latest = self.runtime.store().injections(Some(self.project()), 1).await?;
        let now = SystemClock.now().as_millis();
        Ok(latest.iter().any(|latest| {
            latest.source.session == source.session
                && latest.items == items
                && now.saturating_sub(latest.created.as_millis()) < REPEAT_MS
        }))
    }

    /// Returns what was last added to prompts and sessions of other programs in this project, newest first.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub async fn injections(&self, limit: u32) -> Result<Vec<Injection>, Failure> {
        Ok(self.runtime.store().injections(Some(self.project()), limit).await?)
    }
}

/// Returns the record of the passages of a recollection.
pub fn list_injected(recollection: &Recollection) -> Vec<InjectedItem> {
    let reason = |similarity: f64, coverage: f64| format!("similarity {similarity:.2}, words {coverage:.2}");
    let passages = recollection.passages.iter().map(|passage| InjectedItem {
        subject: InjectedSubject::Exchange(passage.exchange_id),
        reason: reason(passage.similarity, passage.coverage),
        tokens: passage.tokens,
    });
    let documents = recollection.documents.iter().map(|passage| InjectedItem {
        subject: InjectedSubject::Document(passage.document.id),
        reason: reason(passage.similarity, passage.coverage),
        tokens: count_tokens(&passage.text) as u64,
    });
    passages.chain(documents).collect()
}

/// Returns the record of an exchange that was quoted for a reason other than a question.
pub fn injected_exchange(exchange: ExchangeId, reason: &str, text: &str) -> InjectedItem {
    InjectedItem {
        subject: InjectedSubject::Exchange(exchange),
        reason: reason.to_owned(),
        tokens: count_tokens(text) as u64,
    }
}
