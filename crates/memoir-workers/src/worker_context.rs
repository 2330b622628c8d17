//! The state that all workers of a process share.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use memoir_core::{Clock, ConversationId, Purpose, TimeZone, Timestamp, Usage, Usd, WorkerKind, lock};
use memoir_models::ChatModel;
use memoir_recall::Recall;
use memoir_store::{
    Claim, CostFilter, Costs, Digests, Embeddings, Exchanges, Jobs, Result, Summaries, WorkerStore,
};
use serde::Serialize;

/// Duration of a lease, longer than any step. Leases of dead processes on this machine are released sooner.
const LEASE_MS: i64 = 30 * 60 * 1000;

/// Why the daily budget stops a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetStop {
    /// The daily budget has been used up.
    Spent,
    /// The price of the model is unknown, so the budget could not be enforced.
    NoPrice,
}

/// The state that all workers of a process share: the store, the models, the clock and the budget.
#[derive(Clone)]
pub struct WorkerContext {
    /// The store that holds jobs and results. Code in this crate uses the narrower accessors below instead.
    pub store: Arc<dyn WorkerStore>,
    /// Computes and stores embeddings.
    pub recall: Recall,
    /// The model that writes summaries. If `None`, summaries quote the messages.
    pub summarizer: Option<Arc<dyn ChatModel>>,
    /// Source of the current time.
    pub clock: Arc<dyn Clock>,
    /// Time zone that decides when a new day of the daily budget starts.
    pub zone: TimeZone,
    /// The active conversation, which is not summarized yet.
    pub current: Arc<Mutex<Option<ConversationId>>>,
    /// Owner name of this process's leases, unique to the process.
    pub owner: String,
    /// Maximum cost of background work per day. Unlimited if `None`.
    pub daily_budget: Option<Usd>,
    /// Cached summaries of parts of a long text, keyed by a hash of the request. An interrupted summary is not paid for
    /// twice.
    pub(crate) parts: Arc<Mutex<HashMap<u64, String>>>,
}

impl WorkerContext {
    /// Creates the context of this process.
    pub fn new(
        store: Arc<dyn WorkerStore>,
        recall: Recall,
        summarizer: Option<Arc<dyn ChatModel>>,
        daily_budget: Option<Usd>,
    ) -> Self {
        Self {
            store,
            clock: Arc::clone(&recall.clock),
            zone: recall.zone.clone(),
            summarizer,
            current: Arc::default(),
            owner: crate::name_this_process(recall.clock.now()),
            daily_budget,
            parts: Arc::default(),
            recall,
        }
    }

    /// Sets the owner of the leases, for a process that switches models but keeps its leases.
    pub fn with_owner(mut self, owner: impl Into<String>) -> Self {
        self.owner = owner.into();
        self
    }

    /// Sets the active conversation and returns the previous one.
    pub fn set_current(&self, conversation: Option<ConversationId>) -> Option<ConversationId> {
        std::mem::replace(&mut *lock(&self.current), conversation)
    }

    /// Returns a claim on the jobs of `worker` that are due now.
    pub fn claim(&self, worker: WorkerKind) -> Claim<'_> {
        let now = self.clock.now();
        Claim {
            worker,
            excluded_conversation: *lock(&self.current),
            subject_kind: None,
            with_model: self.summarizer.is_some(),
            embeddable: self.recall.embeddable(),
            owner: &self.owner,
            now,
            until: self.lease_end(),
        }
    }

    pub(crate) fn jobs(&self) -> &dyn Jobs {
        self.store.as_ref()
    }

    pub(crate) fn exchanges(&self) -> &dyn Exchanges {
        self.store.as_ref()
    }

    pub(crate) fn summaries(&self) -> &dyn Summaries {
        self.store.as_ref()
    }

    pub(crate) fn digests(&self) -> &dyn Digests {
        self.store.as_ref()
    }

    pub(crate) fn embeddings(&self) -> &dyn Embeddings {
        self.store.as_ref()
    }

    pub(crate) fn costs(&self) -> Arc<dyn Costs> {
        self.store.clone()
    }

    /// Releases leases held by processes on this machine that no longer exist.
    pub(crate) async fn release_dead_leases(&self) -> Result<()> {
        let jobs = self.jobs();
        for holder in jobs.lease_holders().await? {
            if crate::is_dead(&holder, &self.owner) {
                tracing::debug!(%holder, "releasing the leases of a process that no longer exists");
                jobs.release_all(&holder).await?;
            }
        }
        Ok(())
    }

    /// Returns the cost of today's background work.
    pub async fn spent_today(&self) -> Result<Usd> {
        let today = CostFilter { since: Some(self.clock.now().start_of_day(&self.zone)), conversation: None };
        let lines = self.costs().cost_lines(&today).await?;
        let is_background = |purpose| matches!(purpose, Purpose::Summary | Purpose::Embedding);
        let background_lines = lines.iter().filter(|line| is_background(line.purpose));
        Ok(background_lines.map(|line| line.summary.cost).sum())
    }

    /// Returns why the budget stops `worker`, or `None` if it may continue. A worker with a free model is never
    /// stopped.
    pub async fn check_budget(&self, worker: WorkerKind) -> Result<Option<BudgetStop>> {
        let Some(budget) = self.daily_budget else { return Ok(None) };
        let one_token = Usage { input_tokens: 1, ..Usage::default() };
        let (is_free, price) = match (worker, &self.summarizer) {
            (WorkerKind::EmbeddingGenerator, _) => {
                (self.recall.embedder.is_free(), self.recall.embedder.cost(&one_token))
            }
            (_, Some(model)) => (model.is_free(), model.cost(&one_token)),
            (_, None) => return Ok(None),
        };
        Ok(match price {
            _ if is_free => None,
            None => Some(BudgetStop::NoPrice),
            Some(_) => (self.spent_today().await? >= budget).then_some(BudgetStop::Spent),
        })
    }

    pub(crate) fn cached_part(&self, key: u64) -> Option<String> {
        lock(&self.parts).get(&key).cloned()
    }

    pub(crate) fn cache_part(&self, key: u64, summary: &str) {
        lock(&self.parts).insert(key, summary.to_owned());
    }

    pub(crate) fn remove_parts(&self, keys: &[u64]) {
        lock(&self.parts).retain(|key, _| !keys.contains(key));
    }

    /// Returns when a lease taken or renewed now expires.
    pub(crate) fn lease_end(&self) -> Timestamp {
        Timestamp::from_millis(self.clock.now().as_millis() + LEASE_MS)
    }
}
