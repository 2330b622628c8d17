//! Running the recall stages.

use std::{sync::Arc, time::Instant};

use memoir_core::{Clock, Purpose, Recollection, TimeZone};
use memoir_models::{EmbedTask, Embedder, ModelError, Reader};
use memoir_store::{Filter, RecallStore, StoreError, VectorSearch};
use tokio::sync::Mutex;

use crate::{Inquiry, QueryKind, RankedMessage, RecallSettings, ScopeRule, StageName, Supplier};

/// Stages that select passages. [`Recall::rank`] skips them.
const SELECTION_STAGES: [StageName; 4] =
    [StageName::SearchDocuments, StageName::Abstain, StageName::Diversify, StageName::Budget];

/// The reason recall failed.
#[derive(Debug, thiserror::Error)]
pub enum RecallError {
    /// The store could not be read, or the cost of a call could not be recorded.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A model failed.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A stage failed in a call that needs all of them.
    #[error("{0}")]
    Stage(String),
}

struct CachedQuery {
    model: String,
    text: String,
    vector: Vec<f32>,
}

/// Recall over a store with an embedding model.
#[derive(Clone)]
pub struct Recall {
    /// Store that is searched and that records the cost of embedding questions.
    pub store: Arc<dyn RecallStore>,
    /// Model that embeds questions. Only embeddings of the same model are searched.
    pub embedder: Arc<dyn Embedder>,
    /// Model that finds the sentence that answers a question. Without one, `memoir/recall` only quotes passages.
    pub reader: Option<Arc<dyn Reader>>,
    /// Memory elsewhere that is asked before the store is searched.
    pub supplier: Option<Arc<dyn Supplier>>,
    /// Clock that resolves expressions such as "yesterday".
    pub clock: Arc<dyn Clock>,
    /// Time zone that resolves the same expressions.
    pub zone: TimeZone,
    /// Current project, which `settings.scope` prefers or requires. `None` searches all projects alike.
    pub scope: Option<String>,
    /// Project of the program that asks, if it may see only that project's memory and what the user shares.
    pub visible_to: Option<String>,
    /// Settings of the search, which the user changes with `/rag set`.
    pub settings: RecallSettings,
    /// Embedding of the last question, because each prompt searches both other conversations and its own.
    last_query: Arc<Mutex<Option<CachedQuery>>>,
}

impl Recall {
    /// Creates a recall with default settings, no reader and no current project.
    pub fn new(
        store: Arc<dyn RecallStore>,
        embedder: Arc<dyn Embedder>,
        clock: Arc<dyn Clock>,
        zone: TimeZone,
    ) -> Self {
        Self {
            store,
            embedder,
            reader: None,
            supplier: None,
            clock,
            zone,
            scope: None,
            visible_to: None,
            settings: RecallSettings::default(),
            last_query: Arc::default(),
        }
    }

    /// Returns the passages relevant to `text`, or an empty result if there are none.
    ///
    /// A stage that fails is skipped and reported in [`Recollection::notices`].
    pub async fn ask(&self, text: &str, kind: QueryKind, filter: Filter) -> Recollection {
        // What was said in a conversation of the store is in the store.
        let problem = if filter.conversation.is_none() { self.supply(text, &filter).await } else { None };
        let inquiry = self.run(Inquiry::new(text, kind, filter), &self.settings.stages).await;
        let mut recollection = self.collect(inquiry).await;
        recollection.notices.extend(problem);
        recollection
    }

    /// Returns the results of an inquiry.
    pub(crate) async fn collect(&self, inquiry: Inquiry) -> Recollection {
        let nothing_found =
            inquiry.passages.is_empty() && inquiry.documents.is_empty() && !inquiry.asks_nothing();
        // The texts without embeddings may be those of other projects.
        let may_count = inquiry.filter.conversation.is_none() && self.visible_to.is_none();
        let pending_embeddings = if nothing_found && may_count {
            self.count_unembedded().await.unwrap_or_else(|error| {
                // The count is only an addition to an empty result.
                tracing::debug!(%error, "could not count texts without embeddings");
                0
            })
        } else {
            0
        };
        Recollection {
            conversations: inquiry.related,
            passages: inquiry.passages,
            documents: inquiry.documents,
            answer: None,
            pending_embeddings,
            notices: inquiry.notices,
        }
    }

    /// Returns the embedding of a question. A concurrent call with the same question waits for the first result.
    pub(crate) async fn embed_query(&self, text: String) -> Result<Option<Vec<f32>>, RecallError> {
        let mut last_query = self.last_query.lock().await;
        let model = self.embedder.name();
        if let Some(cached) =
            last_query.as_ref().filter(|cached| cached.model == model && cached.text == text)
        {
            return Ok(Some(cached.vector.clone()));
        }
        let outgoing = self.prepare_to_send(text.clone());
        let embedded = self.embedder.embed(&[outgoing], EmbedTask::Query).await?;
        self.record_cost(Purpose::Query, embedded.usage, None).await?;
        let vector = embedded.vectors.into_iter().next();
        *last_query = vector.clone().map(|vector| CachedQuery { model: model.to_owned(), text, vector });
        Ok(vector)
    }

    /// Builds a vector search with the configured model and effort.
    pub(crate) fn search<'a>(
        &'a self,
        vector: &'a [f32],
        filter: &'a Filter,
        limit: usize,
    ) -> VectorSearch<'a> {
        VectorSearch {
            model: self.embedder.name(),
            vector,
            filter,
            effort: self.settings.search_effort(),
            limit,
        }
    }

    /// Returns the messages that best match `text`, best first, without checking that they are relevant.
    ///
    /// # Errors
    ///
    /// Fails if any stage fails, unlike [`Recall::ask`], which skips that stage.
    pub async fn rank(
        &self,
        text: &str,
        filter: Filter,
        limit: usize,
    ) -> Result<Vec<RankedMessage>, RecallError> {
        let stages: Vec<StageName> =
            self.settings.stages.iter().copied().filter(|name| !SELECTION_STAGES.contains(name)).collect();
        let mut inquiry = self.run(Inquiry::new(text, QueryKind::Search, filter), &stages).await;
        if let Some(notice) = inquiry.notices.pop() {
            return Err(RecallError::Stage(notice));
        }
        inquiry.ranked.truncate(limit);
        Ok(inquiry.ranked)
    }

    /// Runs `stages` in order, each once. A stage that fails is skipped and adds a notice.
    pub async fn run(&self, mut inquiry: Inquiry, stages: &[StageName]) -> Inquiry {
        inquiry.scope.clone_from(&self.scope);
        inquiry.zone = self.zone.clone();
        inquiry.filter.visible_to.clone_from(&self.visible_to);
        // Enforce the scope restriction regardless of which stages are enabled.
        if self.settings.scope == ScopeRule::Only && inquiry.filter.scope.is_none() {
            inquiry.filter.scope.clone_from(&self.scope);
        }
        for name in StageName::without_duplicates(stages) {
            let started = Instant::now();
            let result = name.stage().run(&mut inquiry, self).await;
            tracing::debug!(stage = %name, elapsed = ?started.elapsed(), "ran a recall stage");
            if let Err(error) = result {
                // The other stages can still find something.
                tracing::warn!(stage = %name, %error, "skipped a recall stage that failed");
                inquiry.notices.push(format!("Recall skipped the stage {name}: {error}."));
            }
        }
        inquiry
    }
}
