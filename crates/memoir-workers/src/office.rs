//! What all workers share.

use std::sync::{Arc, Mutex, PoisonError};

use memoir_core::{Clock, ConversationId, Purpose, TimeZone, Timestamp, Usd};
use memoir_models::ChatModel;
use memoir_recall::Recall;
use memoir_store::{Claim, CostFilter, Result, Store};

/// How long work is believed to go on once it was begun: longer than any call takes.
const LEASE_MS: i64 = 10 * 60 * 1000;

/// What all workers share.
#[derive(Clone)]
pub struct Office {
    /// Where work is found, and filed.
    pub store: Arc<dyn Store>,
    /// What gives messages their vectors.
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
    /// The claim of a worker, now.
    pub fn claim(&self, worker: memoir_core::WorkerKind) -> Claim<'_> {
        let now = self.clock.now();
        Claim {
            worker,
            except: *self.current.lock().unwrap_or_else(PoisonError::into_inner),
            redo_extracts: self.summarizer.is_some(),
            owner: &self.owner,
            now,
            until: Timestamp::from_millis(now.as_millis() + LEASE_MS),
        }
    }

    /// What summaries have cost today.
    pub async fn spent_today(&self) -> Result<Usd> {
        let today = CostFilter { since: Some(self.clock.now().start_of_day(&self.zone)), conversation: None };
        let lines = self.store.cost_lines(&today).await?;
        let summaries = lines.iter().filter(|line| line.purpose == Purpose::Summary.as_str());
        Ok(summaries.map(|line| line.summary.cost).sum())
    }
}
