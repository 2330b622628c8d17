//! A program that is ready to talk. `opening.rs` puts it together.

use std::sync::Arc;

use memoir_agent::{Agent, ContextReport, CurrentConversation};
use memoir_core::{ExchangeId, Recalled, RunId, TimeZone, WorkerKind};
use memoir_models::ChatModel;
use memoir_recall::Recall;
use memoir_workers::{Runner, WorkerContext, WorkerSettings};

use crate::{
    failure::Failure,
    home::Home,
    models::{Choice, Models},
    repl::{self, Told},
    servers::Servers,
    tasks::TaskEngine,
    tooling::Summaries,
    trace::Verbosity,
};

/// Whose memory it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    /// The user's.
    Always,
    /// None: nothing of this is kept, and nothing from before is read.
    Never,
    /// A throw-away one with a made-up history.
    Demo,
}

/// A program that is ready to talk.
pub(crate) struct App {
    pub(crate) agent: Agent,
    pub(crate) conversation: CurrentConversation,
    /// The project that the program was started in.
    pub(crate) project: String,
    pub(crate) home: Home,
    /// Whose memory it is.
    pub(crate) kept: Kept,
    /// A prompt that got no answer, and the exchange that its answer was to replace.
    pub(crate) unanswered: Option<(String, Option<ExchangeId>)>,
    /// The last answer, as it was written.
    pub(crate) last_answer: Option<String>,
    pub(crate) models: Arc<Models>,
    pub(crate) choice: Choice,
    pub(crate) verbosity: Verbosity,
    /// What memory put into the last prompt.
    pub(crate) last_recalled: Recalled,
    /// How large the layers of its request were.
    pub(crate) last_context: Option<ContextReport>,
    pub(crate) zone: TimeZone,
    /// Who summarises; without one, summaries are made of quotations.
    pub(crate) summarizer: Option<Arc<dyn ChatModel>>,
    /// Who works in the background.
    pub(crate) workers: Runner,
    /// Servers whose tools are offered, too.
    pub(crate) servers: Servers,
    /// What the model is told of them.
    pub(crate) summaries: Summaries,
    /// Where what they do is told.
    pub(crate) told: Told,
    pub(crate) worker_settings: WorkerSettings,
    /// Who runs tasks.
    pub(crate) tasks: Arc<TaskEngine>,
    /// The last report that the user was told of.
    pub(crate) announced: Option<RunId>,
    /// Whether the user told them to wait.
    pub(crate) workers_paused: bool,
}

impl App {
    /// Memory, to be asked as it is set now, whether it is asked by itself or not.
    pub(crate) fn recall(&self) -> &Recall {
        &self.agent.tool_context.recall
    }

    /// Has the workers begin anew, with what is set now.
    pub(crate) async fn restart_workers(&mut self) {
        self.workers.stop_all().await;
        // The same process still: what it holds stays its own.
        let before = self.workers.context();
        let recall = self.agent.tool_context.recall.clone();
        let budget = self.worker_settings.daily_budget();
        let mut office = WorkerContext::new(recall, self.summarizer.clone(), budget).owned_by(&before.owner);
        office.current = Arc::clone(&before.current);
        self.summaries.set(office.clone());
        self.workers = Runner::new(office, Some(self.told.listener()));
        repl::start_workers(self).await;
    }

    /// Whether a worker should run: it is switched on, and can do its work.
    pub(crate) fn should_run(&self, kind: WorkerKind) -> bool {
        let can = match kind {
            WorkerKind::EmbeddingGenerator => self.recall().embedder.is_available(),
            // Of what is not kept no summary is wanted.
            _ => self.kept != Kept::Never,
        };
        can && self.worker_settings.is_on(kind)
    }

    /// Leaves to the workers what takes a server: nobody who talks waits for that.
    pub(crate) fn share_out_work(&mut self) {
        self.agent.asks_for_digests = self.summarizer.is_some() && self.kept != Kept::Never;
        let at_once = self.recall().embedder.is_local();
        self.agent.embeds_at_once = at_once && self.should_run(WorkerKind::EmbeddingGenerator);
    }

    /// Has another model tell the meaning of texts.
    pub(crate) async fn switch_embedder(&mut self) -> Result<(), Failure> {
        let embedder = self.models.connect_embedder(self.agent.store.as_ref()).await?;
        self.agent.tool_context.recall.embedder = Arc::clone(&embedder);
        if let Some(recall) = &mut self.agent.recall {
            recall.embedder = embedder;
        }
        self.restart_workers().await;
        Ok(())
    }

    /// Goes on with another conversation, or begins one.
    pub(crate) async fn enter(&mut self, conversation: CurrentConversation) {
        self.conversation = conversation;
        repl::let_workers_go_on(self).await;
        (self.last_recalled, self.last_context) = (Recalled::default(), None);
        (self.last_answer, self.unanswered) = (None, None);
    }

    /// Talks to another model from now on.
    pub(crate) async fn switch_model(&mut self, mut choice: Choice) -> Result<(), Failure> {
        self.agent.model = self.models.connect(&mut choice).await?;
        self.choice = choice;
        // It was another's request, at another price.
        self.last_context = None;
        Ok(())
    }
}
