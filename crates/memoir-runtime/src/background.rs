//! The workers of a session. They run between turns and pause during turns.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use memoir_core::{ConversationId, Timestamp, WorkerKind, lock};
use memoir_models::ChatModel;
use memoir_recall::Recall;
use memoir_store::WorkerStore;
use memoir_tools::{Summarizer, ToolError};
use memoir_workers::{
    Listener, Runner, WorkerContext, WorkerProgress, WorkerSettings, embed_within, prepare_digests,
    run_until_idle,
};

use crate::{persistence::Persistence, worker_text};

/// How long a conversation stays reserved for this process. The reservation expires if the process dies without
/// releasing it.
const HOLD_MS: i64 = 12 * 60 * 60 * 1000;

/// Time limit for a summary that the user waits for.
const MAX_SUMMARY_TIME: Duration = Duration::from_secs(60);

/// How long [`Background::finish_turn`] waits for a digest that the next turn needs.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// The workers of a session. They run only after [`Background::start`].
pub struct Background {
    /// Starts, pauses and stops the workers.
    pub runner: Runner,
    /// Which workers are enabled, and their daily budget.
    pub settings: WorkerSettings,
    /// The model that writes summaries. If `None`, summaries quote the messages.
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

    /// Returns the state that all workers share.
    pub fn context(&self) -> &WorkerContext {
        self.runner.context()
    }

    /// Returns the backend of the `agent_summarizer` tool.
    pub(crate) fn summaries(&self) -> SummaryReporter {
        self.summaries.clone()
    }

    /// Stops the workers and replaces them with ones that use the current models and settings.
    pub(crate) async fn replace_workers(&mut self, recall: Recall) {
        self.runner.stop_all().await;
        // Keep the owner, and with it the leases.
        let old = self.runner.context();
        let (store, budget) = (Arc::clone(&old.store), self.settings.daily_budget());
        let mut context =
            WorkerContext::new(store, recall, self.summarizer.clone(), budget).with_owner(&old.owner);
        context.current = Arc::clone(&old.current);
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

    /// Returns whether the session works in the background.
    pub(crate) fn is_started(&self) -> bool {
        self.is_started
    }

    /// Returns whether a worker is enabled and can work in this session.
    pub fn should_run(&self, kind: WorkerKind, persistence: Persistence) -> bool {
        let can_run = match kind {
            WorkerKind::EmbeddingGenerator => self.context().recall.embedder.is_available(),
            // Conversations that are not stored need no summaries.
            WorkerKind::ExchangeSummarizer | WorkerKind::ConversationSummarizer => {
                persistence.keeps_summaries()
            }
        };
        can_run && self.settings.is_on(kind)
    }

    pub(crate) fn makes_digests(&self, persistence: Persistence) -> bool {
        self.summarizer.is_some() && persistence.keeps_summaries()
    }

    pub(crate) fn embeds_locally(&self, persistence: Persistence) -> bool {
        self.context().recall.embedder.is_local()
            && self.should_run(WorkerKind::EmbeddingGenerator, persistence)
    }

    /// Pauses the workers and waits until none of them calls a model or writes.
    pub async fn pause_for_turn(&self) {
        self.runner.pause().await;
    }

    /// Resumes the workers unless the user paused them. Reserves `conversation`, so that no process summarizes it yet.
    pub async fn resume_after_turn(&self, conversation: Option<ConversationId>) {
        let context = self.context();
        let has_changed = context.set_current(conversation) != conversation;
        if !self.is_started {
            return;
        }
        if has_changed {
            let until = Timestamp::from_millis(context.clock.now().as_millis() + HOLD_MS);
            let result = context.store.hold_conversation(&context.owner, conversation, until).await;
            if let Err(error) = result {
                tracing::warn!(%error, "could not reserve the conversation; another process may summarize it early");
            }
        }
        if !self.is_paused {
            self.runner.resume();
            self.runner.wake();
        }
    }

    /// Prepares digests and embeddings for the next turn, for a program that exits after this turn.
    pub async fn finish_turn(&self, persistence: Persistence) {
        if self.should_run(WorkerKind::ConversationSummarizer, persistence) {
            write_digests(self.context(), MAX_WAIT).await;
        }
        if !self.should_run(WorkerKind::EmbeddingGenerator, persistence) {
            return;
        }
        let recall = &self.context().recall;
        let outcome = match recall.embedder.is_local() {
            true => recall.catch_up().await.map(drop).map_err(|error| error.to_string()),
            false => {
                embed_within(self.context(), MAX_WAIT / 2).await.map(drop).map_err(|error| error.to_string())
            }
        };
        if let Err(error) = outcome {
            tracing::debug!(error, "new messages were not embedded yet");
        }
    }

    /// Writes the digests that the user asked for, with `model` unless there is one for summaries.
    pub(crate) async fn summarize_now(&self, model: &Arc<dyn ChatModel>) {
        let mut context = self.context().clone();
        context.summarizer.get_or_insert_with(|| Arc::clone(model));
        write_digests(&context, MAX_SUMMARY_TIME).await;
    }

    pub(crate) async fn stop(mut self) {
        if !self.is_started {
            return;
        }
        self.runner.stop_all().await;
        let context = self.runner.context();
        let result = context.store.hold_conversation(&context.owner, None, context.clock.now()).await;
        if let Err(error) = result {
            tracing::debug!(%error, "the conversation stays reserved until its lease expires");
        }
    }
}

/// Writes the digests that were requested, for at most `time_limit`. Requests contain extracts without them.
async fn write_digests(context: &WorkerContext, time_limit: Duration) {
    if let Err(error) = prepare_digests(context, time_limit).await {
        tracing::debug!(%error, "digests were not prepared");
    }
}

/// The backend of the `agent_summarizer` tool. [`Background::replace_workers`] updates its context.
#[derive(Clone)]
pub(crate) struct SummaryReporter(Arc<Mutex<WorkerContext>>);

const SUMMARIZERS: [WorkerKind; 2] = [WorkerKind::ExchangeSummarizer, WorkerKind::ConversationSummarizer];

#[async_trait]
impl Summarizer for SummaryReporter {
    async fn report(&self) -> Result<String, ToolError> {
        let context = lock(&self.0).clone();
        let mut text = String::new();
        for kind in SUMMARIZERS {
            let pending = context.store.pending(&context.claim(kind)).await?;
            text.push_str(&format!("{}: {pending} to do\n", kind.as_str()));
        }
        let failed = context.store.failed_count().await?;
        let author =
            context.summarizer.as_ref().map_or("none (summaries quote messages)", |model| model.name());
        text.push_str(&format!("permanently failed jobs: {failed}\nsummarizer model: {author}\n"));
        Ok(text)
    }

    async fn run(&self) -> Result<String, ToolError> {
        let context = lock(&self.0).clone();
        let mut lines = Vec::new();
        let mut observe =
            |kind, progress: &WorkerProgress| lines.extend(worker_text::format_progress(kind, progress));
        run_until_idle(&context, &SUMMARIZERS, &mut observe).await?;
        match lines.is_empty() {
            true => Ok("No summaries were due.".into()),
            false => {
                Ok(memoir_tools::truncate_output(&lines.join("\n"), memoir_tools::MAX_TOOL_OUTPUT_BYTES))
            }
        }
    }
}
