//! Asking memory: runs the stages and returns what they found.

use std::sync::Arc;

use memoir_core::{Clock, Purpose, Recollection, TimeZone};
use memoir_models::{EmbedTask, Embedder, ModelError};
use memoir_store::{Filter, RecallStore, StoreError, VectorSearch};
use tokio::sync::Mutex;

use crate::{Inquiry, QueryKind, RankedMessage, RecallSettings, ScopeRule, StageName};

/// The stages that choose what is worth a prompt's room. Ranking alone does without them.
const CHOOSING: [StageName; 4] =
    [StageName::SearchDocuments, StageName::Abstain, StageName::Diversify, StageName::Budget];

/// Why memory could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum RecallError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The question could not be embedded.
    #[error(transparent)]
    Embedding(#[from] ModelError),
    /// A stage failed where all are needed.
    #[error("{0}")]
    Stage(String),
}

struct LastQuery {
    model: String,
    text: String,
    vector: Vec<f32>,
}

/// Memory, to be asked.
#[derive(Clone)]
pub struct Recall {
    /// What there is.
    pub store: Arc<dyn RecallStore>,
    /// What tells the meaning of a text.
    pub embedder: Arc<dyn Embedder>,
    /// What time it is, for "yesterday".
    pub clock: Arc<dyn Clock>,
    /// Where, for the same.
    pub zone: TimeZone,
    /// The project that one is in.
    pub scope: Option<String>,
    /// How it is asked.
    pub settings: RecallSettings,
    /// The vector of the last question: one prompt asks about other conversations and about its own.
    last_query: Arc<Mutex<Option<LastQuery>>>,
}

impl Recall {
    /// Memory, to be asked in the usual way.
    pub fn new(
        store: Arc<dyn RecallStore>,
        embedder: Arc<dyn Embedder>,
        clock: Arc<dyn Clock>,
        zone: TimeZone,
    ) -> Self {
        Self {
            store,
            embedder,
            clock,
            zone,
            scope: None,
            settings: RecallSettings::default(),
            last_query: Arc::default(),
        }
    }

    /// Returns what memory says about `text`; empty if nothing is relevant.
    ///
    /// It does not fail: a stage that fails is skipped, and described in [`Recollection::notices`].
    pub async fn ask(&self, text: &str, kind: QueryKind, filter: Filter) -> Recollection {
        let inquiry = self.run(Inquiry::new(text, kind, filter), &self.settings.stages).await;
        let nothing_found =
            inquiry.passages.is_empty() && inquiry.documents.is_empty() && !inquiry.asks_nothing();
        let behind = if nothing_found && inquiry.filter.within.is_none() {
            self.count_unembedded().await.unwrap_or_else(|error| {
                // It only adds a remark to an empty answer.
                tracing::debug!(%error, "could not count the texts without embeddings");
                0
            })
        } else {
            0
        };
        Recollection {
            conversations: inquiry.related,
            passages: inquiry.passages,
            documents: inquiry.documents,
            behind,
            notices: inquiry.notices,
        }
    }

    /// Returns the embedding of a question. A second caller with the same question waits for the first one's result.
    pub(crate) async fn embed_query(&self, text: String) -> Result<Option<Vec<f32>>, RecallError> {
        let mut last = self.last_query.lock().await;
        let model = self.embedder.name();
        if let Some(known) = last.as_ref().filter(|known| known.model == model && known.text == text) {
            return Ok(Some(known.vector.clone()));
        }
        let sent = self.fit_to_send(text.clone());
        let embedded = self.embedder.embed(&[sent], EmbedTask::Query).await?;
        self.note_cost(Purpose::Query, embedded.usage, None).await?;
        let vector = embedded.vectors.into_iter().next();
        *last = vector.clone().map(|vector| LastQuery { model: model.to_owned(), text, vector });
        Ok(vector)
    }

    /// A search for what is near to `vector`, as memory is asked.
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

    /// Returns the messages that best answer `text`, best first, whether they are relevant or not.
    ///
    /// # Errors
    ///
    /// Fails if a stage fails. [`Recall::ask`] skips such a stage instead.
    pub async fn rank(
        &self,
        text: &str,
        filter: Filter,
        limit: usize,
    ) -> Result<Vec<RankedMessage>, RecallError> {
        let stages: Vec<StageName> =
            self.settings.stages.iter().copied().filter(|name| !CHOOSING.contains(name)).collect();
        let mut inquiry = self.run(Inquiry::new(text, QueryKind::Search, filter), &stages).await;
        if let Some(notice) = inquiry.notices.pop() {
            return Err(RecallError::Stage(notice));
        }
        inquiry.ranked.truncate(limit);
        Ok(inquiry.ranked)
    }

    /// Runs some stages, each once and in this order. A stage that fails adds a notice and is skipped.
    pub async fn run(&self, mut inquiry: Inquiry, stages: &[StageName]) -> Inquiry {
        inquiry.scope.clone_from(&self.scope);
        inquiry.zone = self.zone.clone();
        // Enforce the scope restriction regardless of which stages are enabled.
        if self.settings.scope == ScopeRule::Only && inquiry.filter.scope.is_none() {
            inquiry.filter.scope.clone_from(&self.scope);
        }
        for name in StageName::each_once(stages) {
            if let Err(error) = name.stage().run(&mut inquiry, self).await {
                // Less is found without it, but an answer is still possible.
                tracing::warn!(stage = %name, %error, "skipped a recall stage that failed");
                inquiry.notices.push(format!("Recall went on without {name}: {error}."));
            }
        }
        inquiry
    }
}
