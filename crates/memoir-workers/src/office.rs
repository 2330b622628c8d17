//! What all workers share.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use memoir_core::{Clock, ConversationId, Purpose, TimeZone, Timestamp, Usage, Usd, WorkerKind};
use memoir_models::ChatModel;
use memoir_recall::Recall;
use memoir_store::{Claim, CostFilter, Result, Store};

use crate::Broke;

/// How long work is believed to go on once it was begun: longer than it takes. Of one who died on this machine that is
/// known sooner.
const LEASE_MS: i64 = 30 * 60 * 1000;

/// What all workers share.
#[derive(Clone)]
pub struct Office {
    /// Where work is found, and filed.
    pub store: Arc<dyn Store>,
    /// What gives texts their vectors.
    pub recall: Recall,
    /// Who summarises; without one, summaries are made of quotations.
    pub summarizer: Option<Arc<dyn ChatModel>>,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Where, for what a day is.
    pub zone: TimeZone,
    /// The conversation that is going on: nothing of it is summarised yet.
    pub current: Arc<Mutex<Option<ConversationId>>>,
    /// Who works here: another for every process.
    pub owner: String,
    /// What may be spent in a day; as much as it takes, if nothing is said.
    pub daily_budget: Option<Usd>,
    /// What was already summarised of something long, by what was asked: who is interrupted need not pay again.
    pub(crate) parts: Arc<Mutex<HashMap<u64, String>>>,
}

impl Office {
    /// The office of this process.
    pub fn new(recall: Recall, summarizer: Option<Arc<dyn ChatModel>>, daily_budget: Option<Usd>) -> Self {
        Self {
            store: Arc::clone(&recall.store),
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

    /// The same under another name: for one process that goes on with other models.
    pub fn owned_by(mut self, owner: impl Into<String>) -> Self {
        self.owner = owner.into();
        self
    }

    /// Another conversation is going on from now on, or none. Says which it was before.
    pub fn set_current(&self, conversation: Option<ConversationId>) -> Option<ConversationId> {
        std::mem::replace(&mut *self.current.lock().unwrap_or_else(PoisonError::into_inner), conversation)
    }

    /// The claim of a worker, now.
    pub fn claim(&self, worker: WorkerKind) -> Claim<'_> {
        let now = self.clock.now();
        Claim {
            worker,
            except: *self.current.lock().unwrap_or_else(PoisonError::into_inner),
            only: None,
            with_model: self.summarizer.is_some(),
            embeddable: self.recall.embeddable(),
            owner: &self.owner,
            now,
            until: self.lease_end(),
        }
    }

    /// Gives back what processes of this machine were at that are no more.
    pub(crate) async fn take_back_from_the_dead(&self) -> Result<()> {
        for holder in self.store.lease_holders().await? {
            if crate::is_dead(&holder, &self.owner) {
                self.store.release_all_of(&holder).await?;
            }
        }
        Ok(())
    }

    /// What work in the background has cost today.
    pub async fn spent_today(&self) -> Result<Usd> {
        let today = CostFilter { since: Some(self.clock.now().start_of_day(&self.zone)), conversation: None };
        let lines = self.store.cost_lines(&today).await?;
        let background = [Purpose::Summary, Purpose::Embedding].map(Purpose::as_str);
        let paid = lines.iter().filter(|line| background.contains(&line.purpose.as_str()));
        Ok(paid.map(|line| line.summary.cost).sum())
    }

    /// Why a worker may spend nothing more today, if so. What costs nothing goes on.
    pub async fn broke(&self, worker: WorkerKind) -> Result<Option<Broke>> {
        let Some(budget) = self.daily_budget else { return Ok(None) };
        let some = Usage { input_tokens: 1, ..Usage::default() };
        let (is_free, price) = match (worker, &self.summarizer) {
            (WorkerKind::EmbeddingGenerator, _) => {
                (self.recall.embedder.is_free(), self.recall.embedder.cost(&some))
            }
            (_, Some(model)) => (model.is_free(), model.cost(&some)),
            (_, None) => return Ok(None),
        };
        Ok(match price {
            _ if is_free => None,
            None => Some(Broke::NoPrice),
            Some(_) => (self.spent_today().await? >= budget).then_some(Broke::Spent),
        })
    }

    /// What came of a part that was asked for before.
    pub(crate) fn part(&self, key: u64) -> Option<String> {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned()
    }

    pub(crate) fn keep_part(&self, key: u64, summary: &str) {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner).insert(key, summary.to_owned());
    }

    pub(crate) fn forget_parts(&self, keys: &[u64]) {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        parts.retain(|key, _| !keys.contains(key));
    }

    /// Until when something that is begun, or goes on, now is believed to go on.
    pub(crate) fn lease_end(&self) -> Timestamp {
        Timestamp::from_millis(self.clock.now().as_millis() + LEASE_MS)
    }
}
