//! The workers of a session: when they run, pause and start again.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use memoir_core::{ConversationId, Timestamp, WorkerKind, lock};
use memoir_models::ChatModel;
use memoir_recall::Recall;
use memoir_store::WorkerStore;
use memoir_tools::{Summarizing, ToolError};
use memoir_workers::{
    Listener, Runner, WorkerContext, WorkerProgress, WorkerSettings, embed_for_a_while, prepare_digests,
    run_until_idle,
};

use crate::{persistence::Persistence, worker_text};

/// How long other processes leave a conversation alone after its last turn if its own process dies unnoticed.
const HELD_MS: i64 = 12 * 60 * 60 * 1000;

/// How long [`Background::finish_turn`] waits for a summary that the next turn needs.
const PATIENCE: Duration = Duration::from_secs(10);

/// The workers of a session. They run only after [`Background::start`].
pub struct Background {
    /// The running workers.
    pub runner: Runner,
    /// Which workers are switched on, and what they may spend.
    pub settings: WorkerSettings,
    /// The model that summarizes; without one, summaries are made of quotations.
    pub summarizer: Option<Arc<dyn ChatModel>>,
    /// Whether the user paused the workers.
    pub is_paused: bool,
    is_started: bool,
    summaries: SummaryReporter,
    listener: Option<Listener>,
}

impl Background {
    pub(crate) fn new(
        store: Arc<dyn WorkerStore>,
        recall: Recall,
        summarizer: Option<Arc<dyn ChatModel>>,
        settings: WorkerSettings,
        listener: Option<Listener>,
    ) -> Self {
        let context = WorkerContext::new(store, recall, summarizer.clone(), settings.daily_budget());
        Self {
            summaries: SummaryReporter(Arc::new(Mutex::new(context.clone()))),
            runner: Runner::new(context, listener.clone()),
            settings,
            summarizer,
            is_paused: false,
            is_started: false,
            listener,
        }
    }

    /// Returns what all workers share.
    pub fn context(&self) -> &WorkerContext {
        self.runner.context()
    }

    /// Returns the summaries of the present workers, for the tool that reports and makes them.
    pub(crate) fn summaries(&self) -> SummaryReporter {
        self.summaries.clone()
    }

    /// Replaces the workers by stopped ones with the present models and settings.
    pub(crate) async fn renew(&mut self, recall: Recall) {
        self.runner.stop_all().await;
        // It is the same process: what it holds stays its own.
        let before = self.runner.context();
        let (store, budget) = (Arc::clone(&before.store), self.settings.daily_budget());
        let mut context =
            WorkerContext::new(store, recall, self.summarizer.clone(), budget).owned_by(&before.owner);
        context.current = Arc::clone(&before.current);
        *lock(&self.summaries.0) = context.clone();
        self.runner = Runner::new(context, self.listener.clone());
    }

    pub(crate) async fn start(&mut self, persistence: Persistence, conversation: Option<ConversationId>) {
        self.is_started = true;
        if self.is_paused {
            self.runner.pause().await;
        }
        self.resume_after_turn(conversation).await;
        for kind in WorkerKind::ALL {
            if self.should_run(kind, persistence) {
                self.runner.start(kind);
            }
        }
    }

    /// Returns whether a worker is switched on and can do its work.
    pub fn should_run(&self, kind: WorkerKind, persistence: Persistence) -> bool {
        let is_able = match kind {
            WorkerKind::EmbeddingGenerator => self.context().recall.embedder.is_available(),
            // What is not stored needs no summary.
            WorkerKind::ExchangeSummarizer | WorkerKind::ConversationSummarizer => {
                persistence != Persistence::Incognito
            }
        };
        is_able && self.settings.is_on(kind)
    }

    pub(crate) fn makes_digests(&self, persistence: Persistence) -> bool {
        self.summarizer.is_some() && persistence != Persistence::Incognito
    }

    pub(crate) fn embeds_locally(&self, persistence: Persistence) -> bool {
        self.context().recall.embedder.is_local()
            && self.should_run(WorkerKind::EmbeddingGenerator, persistence)
    }

    /// Waits until no worker calls a model or writes.
    pub async fn pause_for_turn(&self) {
        self.runner.pause().await;
    }

    /// Lets the workers continue, unless the user paused them. They leave `conversation` alone, in other processes too.
    pub async fn resume_after_turn(&self, conversation: Option<ConversationId>) {
        let context = self.context();
        let has_changed = context.set_current(conversation) != conversation;
        if !self.is_started {
            return;
        }
        if has_changed {
            let until = Timestamp::from_millis(context.clock.now().as_millis() + HELD_MS);
            let held = context.store.hold_conversation(&context.owner, conversation, until).await;
            if let Err(error) = held {
                tracing::warn!(%error, "the conversation is not reserved; other processes may summarize it early");
            }
        }
        if !self.is_paused {
            self.runner.resume();
            self.runner.wake();
        }
    }

    /// Does what the next turn would miss when no worker keeps running: its summary and its embeddings.
    pub async fn finish_turn(&self, persistence: Persistence) {
        if self.should_run(WorkerKind::ConversationSummarizer, persistence)
            && let Err(error) = prepare_digests(self.context(), PATIENCE).await
        {
            tracing::debug!(%error, "the next summary is made later");
        }
        if !self.should_run(WorkerKind::EmbeddingGenerator, persistence) {
            return;
        }
        let recall = &self.context().recall;
        let outcome = match recall.embedder.is_local() {
            true => recall.catch_up().await.map(drop).map_err(|error| error.to_string()),
            false => embed_for_a_while(self.context(), PATIENCE / 2)
                .await
                .map(drop)
                .map_err(|error| error.to_string()),
        };
        if let Err(error) = outcome {
            tracing::debug!(error, "new messages are embedded later");
        }
    }

    pub(crate) async fn stop(mut self) {
        if !self.is_started {
            return;
        }
        self.runner.stop_all().await;
        let context = self.runner.context();
        let released = context.store.hold_conversation(&context.owner, None, context.clock.now()).await;
        if let Err(error) = released {
            tracing::debug!(%error, "the conversation stays reserved until its lease expires");
        }
    }
}

/// The summaries of the workers that run now, for the tool `agent_summarizer`.
#[derive(Clone)]
pub(crate) struct SummaryReporter(Arc<Mutex<WorkerContext>>);

const SUMMARIZERS: [WorkerKind; 2] = [WorkerKind::ExchangeSummarizer, WorkerKind::ConversationSummarizer];

#[async_trait]
impl Summarizing for SummaryReporter {
    async fn report(&self) -> Result<String, ToolError> {
        let context = lock(&self.0).clone();
        let mut text = String::new();
        for kind in SUMMARIZERS {
            let pending = context.store.pending(&context.claim(kind)).await?;
            text.push_str(&format!("{}: {pending} to do\n", kind.as_str()));
        }
        let failed = context.store.failed_count().await?;
        let by = context.summarizer.as_ref().map_or("quotation", |model| model.name());
        text.push_str(&format!("failed for good: {failed}\nsummaries are made by {by}\n"));
        Ok(text)
    }

    async fn run(&self) -> Result<String, ToolError> {
        let context = lock(&self.0).clone();
        let mut lines = Vec::new();
        let mut note = |kind, progress: &WorkerProgress| lines.extend(worker_text::progress(kind, progress));
        run_until_idle(&context, &SUMMARIZERS, &mut note).await?;
        match lines.is_empty() {
            true => Ok("Nothing was due.".into()),
            false => Ok(memoir_tools::cap(&lines.join("\n"), memoir_tools::LONGEST_OUTPUT)),
        }
    }
}
