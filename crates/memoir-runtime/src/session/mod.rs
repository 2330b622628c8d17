//! A session: one conversation at a time, with the model, approvals and settings that hold for it.
//!
//! This file starts sessions and runs turns. What a user changes between two turns has a file for each area.

mod approvals;
mod conversations;
mod models;
mod personas;
mod settings;
mod workers;

use std::{path::PathBuf, sync::Arc};

use memoir_agent::{Agent, AgentState, Asker, ContextReport, Observer, TurnError, TurnReport};
use memoir_core::{ConversationId, ExchangeId, Recalled, TurnInput};
use memoir_recall::Recall;
use memoir_store::Store;
use memoir_tools::ToolSet;
use memoir_workers::Listener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::{
    background::Background, demo, failure::Failure, models::ModelChoice, persistence::Persistence,
    runtime::Runtime, servers::Servers, tools,
};

pub use approvals::ApprovalReport;
pub use conversations::Fork;
pub use personas::PersonaList;
pub use settings::ChangedSetting;
pub use workers::{
    BackgroundReport, EmbeddingsReport, FailedJobs, ModelVectors, RebuildReport, WorkerProgressReport,
};

/// Which conversation a session resumes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Resume {
    /// None: it starts a new one.
    #[default]
    New,
    /// The latest of this project, or a new one if there is none.
    Latest,
    /// The one with this id.
    Conversation(ConversationId),
    /// A fork of the latest of this project.
    ForkOfLatest,
    /// A fork of the one with this id.
    Fork(ConversationId),
}

/// How a session starts.
#[derive(Clone, Default)]
pub struct SessionOptions {
    /// The conversation to resume.
    pub conversation: Resume,
    /// The model, by name; the configured one if `None`.
    pub model: Option<String>,
    /// The approval mode, by name; the configured one if `None`.
    pub approval: Option<String>,
    /// Further directories that tools may work in.
    pub directories: Vec<PathBuf>,
    /// Who is asked for approval; without one, whatever needs approval is refused.
    pub asker: Option<Arc<dyn Asker>>,
    /// What is told about the progress of background workers.
    pub listener: Option<Listener>,
}

/// A prompt that got no answer.
#[derive(Debug, Clone)]
struct Unanswered {
    input: TurnInput,
    /// The exchange that its answer was to replace.
    replacing: Option<ExchangeId>,
}

/// A session: one conversation at a time, with the model, approvals and settings that hold for it.
///
/// Several sessions of one [`Runtime`] can run turns at the same time.
pub struct Session {
    /// The runtime it belongs to.
    pub runtime: Runtime,
    /// The agent that runs its turns. It never changes.
    pub agent: Arc<Agent>,
    /// What may change between two turns: the model, the tools, the approvals, the settings and the conversation.
    pub state: AgentState,
    /// The scope of conversations that it starts.
    pub project: String,
    /// The model, and why it was chosen.
    pub choice: ModelChoice,
    /// What memory added to the last prompt.
    pub last_recalled: Recalled,
    /// The size of each layer of the last request.
    pub last_context: Option<ContextReport>,
    /// The last answer, as the model wrote it.
    last_answer: Option<String>,
    /// The last prompt, if it got no answer.
    unanswered: Option<Unanswered>,
    /// The workers of this session.
    pub background: Background,
    /// What the user should know about how the session started, in whole sentences. The front end shows and clears them.
    pub notices: Vec<String>,
    servers: Servers,
}

impl Runtime {
    /// Starts a session in this runtime's project.
    ///
    /// # Errors
    ///
    /// Fails if the model, the conversation or a directory that the options name does not exist.
    pub async fn session(&self, options: SessionOptions) -> Result<Session, Failure> {
        Session::start(self.clone(), options).await
    }
}

impl Session {
    async fn start(runtime: Runtime, options: SessionOptions) -> Result<Self, Failure> {
        let mut notices = Vec::new();
        let (models, store) = (Arc::clone(runtime.models()), Arc::clone(runtime.store()));
        let mut choice = models.choose(options.model.as_deref(), store.as_ref()).await?;
        let model = models.connect(&mut choice).await?;
        let recall = open_recall(&runtime, &mut notices).await?;
        let directories = existing_directories(options.directories)?;
        let (agent, mut state) =
            tools::agent(store.clone(), model, recall, (runtime.project(), &directories), &models)?;
        state.context =
            crate::settings::read(&models.config, "context", store.as_ref(), &mut notices).await?;
        state.approvals = approvals::open(&runtime, options.approval.as_deref(), &mut notices).await?;
        state.approvals.asker = options.asker;
        let persona = crate::personas::in_use(store.as_ref(), runtime.home(), &mut notices).await?;
        state.persona = persona.map(|(_, text)| text);
        let summarizer = models.connect_summarizer(store.as_ref(), &mut notices).await?;
        let background = Background::new(
            store.clone(),
            state.recall.clone(),
            summarizer,
            runtime.worker_settings(&mut notices).await?,
            options.listener,
        );
        let skills = tools::skills(runtime.project(), runtime.home());
        notices.extend(skills.faults.iter().map(|fault| format!("A skill was left out: {fault}.")));
        let servers = Servers::reach(&models.config.mcp, &agent.sandbox.variables);
        let summaries = Arc::new(background.summaries());
        state.tools =
            Arc::new(ToolSet::all().for_store(store.as_ref()).with_summaries(summaries).with_skills(&skills));
        let project = runtime.scope();
        state.conversation = conversations::open(&runtime, options.conversation, &mut notices).await?;
        let mut session = Self {
            agent,
            state,
            project,
            choice,
            last_recalled: Recalled::default(),
            last_context: None,
            last_answer: None,
            unanswered: None,
            background,
            notices,
            servers,
            runtime,
        };
        session.divide_work();
        tracing::info!(model = %session.choice.name, notices = session.notices.len(), "a session started");
        Ok(session)
    }

    /// Runs one turn: from the prompt to a stored exchange, or to nothing. `observer` is told what happens as it happens.
    ///
    /// # Errors
    ///
    /// Fails if the model does, if `cancel` is triggered, or if the answer cannot be stored. Nothing of the exchange is
    /// stored then but what it cost, and [`Self::retry`] returns the prompt.
    pub async fn turn(
        &mut self,
        input: impl Into<TurnInput> + Send,
        observer: Observer<'_>,
        cancel: &CancellationToken,
    ) -> Result<TurnReport, TurnError> {
        let input = input.into();
        let prepared = async {
            self.state.tools = self.servers.join(&self.state.tools, observer).await;
            // While a turn runs, nothing else calls a model or writes.
            self.background.pause_for_turn().await;
        };
        tokio::select! {
            () = prepared => {}
            () = cancel.cancelled() => {}
        }
        let result = self.agent.run_turn(&mut self.state, input.clone(), observer, cancel).await;
        self.background.resume_after_turn(self.state.conversation.id()).await;
        match &result {
            Ok(report) => {
                self.last_recalled = report.recalled.clone();
                self.last_context.clone_from(&report.context);
                (self.last_answer, self.unanswered) = (Some(report.text.clone()), None);
            }
            Err(_) => {
                let replacing = self.state.conversation.replacing();
                self.unanswered = Some(Unanswered { input, replacing });
                self.state.conversation.replace(None);
            }
        }
        result
    }

    /// Returns the store that the session writes to.
    pub fn store(&self) -> &dyn Store {
        self.runtime.store().as_ref()
    }

    /// Returns the id of the conversation, once it has one.
    pub fn conversation(&self) -> Option<ConversationId> {
        self.state.conversation.id()
    }

    /// Returns memory as this session searches it, whether it is searched automatically or not.
    pub fn recall(&self) -> &Recall {
        &self.state.recall
    }

    /// Reads what a search needs in the background, so that the first question does not wait for it.
    pub fn warm_up(&self) -> JoinHandle<()> {
        let recall = self.recall().clone();
        tokio::spawn(async move {
            if recall.settings.enabled
                && let Err(error) = recall.get_ready().await
            {
                // The first question reports what is wrong.
                tracing::debug!(%error, "memory was not read ahead");
            }
        })
    }

    /// Ends the session: stops its workers and gives up its claim on the conversation.
    pub async fn close(self) {
        self.background.stop().await;
    }
}

/// Returns memory as the session searches it. The demo is filled first, and nothing of it is sent anywhere, whatever is set.
async fn open_recall(runtime: &Runtime, notices: &mut Vec<String>) -> Result<Recall, Failure> {
    let mut recall = runtime.recall(notices).await?;
    if runtime.persistence() == Persistence::Demo {
        recall.embedder = Arc::new(demo::PreparedEmbedder::sample());
        demo::fill(runtime.store(), &recall).await?;
    }
    Ok(recall)
}

fn existing_directories(named: Vec<PathBuf>) -> Result<Vec<PathBuf>, Failure> {
    match named.iter().find(|directory| !directory.is_dir()) {
        None => Ok(named),
        Some(missing) => Err(Failure::usage(format!("{} is no folder", missing.display()))
            .hint("--add-dir names a folder that exists.")),
    }
}
