//! What all workers share.

use std::sync::{Arc, Mutex, PoisonError};

use memoir_core::{Clock, ConversationId, Purpose, TimeZone, Timestamp, Usd, WorkerKind};
use memoir_models::ChatModel;
use memoir_recall::Recall;
use memoir_store::{Claim, CostFilter, Result, Store};

use crate::owner;

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
            owner: owner::of_this_process(recall.clock.now()),
            daily_budget,
            recall,
        }
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
            until: Timestamp::from_millis(now.as_millis() + LEASE_MS),
        }
    }

    /// Gives back what processes of this machine were at that are no more.
    pub(crate) async fn take_back_from_the_dead(&self) -> Result<()> {
        for holder in self.store.lease_holders().await? {
            if owner::is_dead(&holder, &self.owner) {
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

    /// Whether a worker may spend nothing more today. What costs nothing goes on.
    pub(crate) async fn is_over_budget(&self, worker: WorkerKind) -> Result<bool> {
        let Some(budget) = self.daily_budget else { return Ok(false) };
        let is_free = match worker {
            WorkerKind::EmbeddingGenerator => self.recall.embedder.is_local(),
            WorkerKind::ExchangeSummarizer | WorkerKind::ConversationSummarizer => {
                self.summarizer.as_ref().is_none_or(|model| model.is_free())
            }
        };
        Ok(!is_free && self.spent_today().await? >= budget)
    }
}
