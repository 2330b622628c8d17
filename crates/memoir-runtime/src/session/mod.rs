//! Sessions: one conversation at a time, with its own model, permissions and settings.
//!
//! This file starts sessions and runs turns. Each submodule covers one area that users can change between turns.

mod approvals;
mod conversations;
mod models;
mod personas;
mod settings;
mod workers;

use std::{path::PathBuf, sync::Arc};

use memoir_agent::{
    Agent, AgentState, ApprovalPrompter, ContextReport, Observer, RuleEffect, TurnError, TurnReport,
};
use memoir_core::{ConversationId, ExchangeId, RecalledPassages, TurnInput};
use memoir_mcp::Questioner;
use memoir_recall::Recall;
use memoir_store::{Store, StoreError};
use memoir_tools::ToolSet;
use memoir_workers::Listener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::{
    background::Background, care::Care, demo, failure::Failure, follower::Follower, hub::HubMemory,
    models::HOW_TO_CONNECT, models::ModelChoice, operations::servers::ServerList, persistence::Persistence,
    runtime::Runtime, server_offers::ServerOffers, servers::Servers, tools,
};

pub use approvals::ApprovalReport;
pub use conversations::{CompactReport, Fork};
pub use personas::PersonaList;
pub use settings::ChangedSetting;
pub use workers::{
    BackgroundReport, EmbeddingsReport, FailedJobs, ModelEmbeddings, RebuildReport, WorkerProgressReport,
};

/// Least time limit for building the context of a request with the memory of another machine.
const HUB_DEADLINE_MS: u64 = 8000;

/// Tools that work with the whole memory, which must be on this machine.
const LOCAL_TOOLS: [&str; 6] = [
    "agent_summarizer",
    "core_memory",
    "database_query",
    "database_schema",
    "database_tables",
    "fetch_document",
];

/// Which conversation a session resumes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Resume {
    /// None: start a new conversation.
    #[default]
    New,
    /// The latest conversation of this project, or a new one if there is none.
    Latest,
    /// The conversation with this id.
    Conversation(ConversationId),
    /// A fork of the latest conversation of this project.
    ForkOfLatest,
    /// A fork of the conversation with this id.
    Fork(ConversationId),
}

/// Options for starting a session.
#[derive(Clone, Default)]
pub struct SessionOptions {
    /// Which conversation to resume.
    pub conversation: Resume,
    /// Name of the model. Uses the configured model if `None`.
    pub model: Option<String>,
    /// Name of the approval mode. Uses the configured mode if `None`.
    pub approval: Option<String>,
    /// Additional directories that tools may access.
    pub directories: Vec<PathBuf>,
    /// Asks the user for approval. If `None`, everything that needs approval is denied.
    pub prompter: Option<Arc<dyn ApprovalPrompter>>,
    /// Receives the progress of the workers.
    pub listener: Option<Listener>,
    /// Names of the MCP servers for which the first turn waits, or `all`.
    pub awaited_servers: Vec<String>,
    /// Whether the first turn also waits for servers whose tools a rule allows.
    pub awaits_allowed_servers: bool,
}

/// A prompt that got no answer.
#[derive(Debug, Clone)]
struct Unanswered {
    input: TurnInput,
    /// The exchange that the answer would have replaced.
    replacing: Option<ExchangeId>,
}

/// One conversation at a time, with its own model, permissions and settings.
///
/// Several sessions of one [`Runtime`] can run turns at the same time.
pub struct Session {
    /// The runtime that the session belongs to.
    pub runtime: Runtime,
    /// The agent that runs the turns. It stays the same for the whole session.
    pub agent: Arc<Agent>,
    /// State that may change between turns: model, tools, permissions, settings and conversation.
    pub state: AgentState,
    /// Scope of new conversations.
    pub project: String,
    /// The chat model, and why it was chosen.
    pub choice: ModelChoice,
    /// Passages recalled for the last prompt.
    pub last_recalled: RecalledPassages,
    /// Size of each context layer of the last request.
    pub last_context: Option<ContextReport>,
    /// The last answer, as the model wrote it.
    last_answer: Option<String>,
    /// The last prompt, if it got no answer.
    unanswered: Option<Unanswered>,
    /// The workers of this session.
    pub background: Background,
    /// Messages for the user, in whole sentences. The front end shows and clears them.
    pub notices: Vec<String>,
    /// The tools without those of servers.
    tools: ToolSet,
    servers: Servers,
    care: Care,
    follower: Follower,
}

impl Runtime {
    /// Starts a session in this runtime's project.
    ///
    /// # Errors
    ///
    /// Fails if the model, the conversation or a directory in `options` does not exist.
    pub async fn session(&self, options: SessionOptions) -> Result<Session, Failure> {
        Session::start(self.clone(), options).await
    }
}

impl Session {
    async fn start(runtime: Runtime, options: SessionOptions) -> Result<Self, Failure> {
        let mut notices = Vec::new();
        if let Some(reason) = runtime.store().damage() {
            notices.push(Failure::from(StoreError::Damaged { reason }).sentence());
        }
        let (models, store) = (Arc::clone(runtime.models()), Arc::clone(runtime.store()));
        let mut choice = models.choose(options.model.as_deref(), store.as_ref()).await?;
        let model = models.connect(&mut choice).await?;
        if choice.is_fallback {
            notices.push(HOW_TO_CONNECT.to_owned());
        }
        let recall = open_recall(&runtime, &mut notices).await?;
        let directories = require_directories(options.directories)?;
        let limits = crate::settings::read(&models.config, "agent", store.as_ref(), &mut notices).await?;
        let places = (runtime.project(), directories.as_slice());
        let (agent, mut state) = tools::create_agent(store.clone(), model, recall, places, limits, &models)?;
        state.context =
            crate::settings::read(&models.config, "context", store.as_ref(), &mut notices).await?;
        if runtime.hub().is_some() {
            state.context.deadline_ms = state.context.deadline_ms.max(HUB_DEADLINE_MS);
        }
        state.approvals = approvals::open(&runtime, options.approval.as_deref(), &mut notices).await?;
        state.approvals.prompter = options.prompter;
        let persona = crate::personas::read_in_use(store.as_ref(), runtime.home(), &mut notices).await?;
        state.persona = persona.map(|(_, text)| text);
        let summarizer = models.connect_summarizer(store.as_ref(), &mut notices).await?;
        let background = Background::new(
            store.clone(),
            state.recall.clone(),
            summarizer,
            runtime.worker_settings(&mut notices).await?,
            options.listener,
        );
        notices.extend(models.config.problems.iter().cloned());
        state.follows_project = runtime.trusted_project().is_some();
        notices.extend(runtime.hub().and_then(HubMemory::notice));
        if !runtime.undecided_files().is_empty() {
            notices.push(
                "The instructions, skills and config of this project are not used, because you have not trusted it. Run `memoir trust` to use them."
                    .to_owned(),
            );
        }
        let skills = tools::read_skills(runtime.trusted_project(), runtime.home());
        notices.extend(skills.problems.iter().map(|fault| format!("A skill was skipped: {fault}.")));
        let mut servers = Servers::connect(&models, runtime.project(), |_| true);
        servers.wait_for(options.awaited_servers)?;
        if options.awaits_allowed_servers {
            let rules = state.approvals.policy().rules;
            let allowed = rules.iter().filter(|rule| rule.effect == RuleEffect::Allow);
            servers.wait_for_tools(allowed.map(ToString::to_string));
        }
        let summaries = Arc::new(background.summaries());
        let mut tools =
            ToolSet::all().for_store(store.as_ref()).with_summaries(summaries).with_skills(&skills);
        if runtime.hub().is_some() {
            // What they show and change is not the memory of the hub.
            tools = LOCAL_TOOLS.iter().fold(tools, |tools, name| tools.without(name));
        }
        state.tools = Arc::new(tools.clone());
        let project = runtime.scope();
        state.conversation = conversations::open(&runtime, options.conversation, &mut notices).await?;
        let mut session = Self {
            agent,
            state,
            project,
            choice,
            last_recalled: RecalledPassages::default(),
            last_context: None,
            last_answer: None,
            unanswered: None,
            background,
            notices,
            tools,
            servers,
            care: Care::new(runtime.clone()),
            follower: Follower::new(runtime.clone()),
            runtime,
        };
        session.assign_work();
        tracing::info!(model = %session.choice.name, notices = session.notices.len(), "a session started");
        Ok(session)
    }

    /// Runs one turn and stores the exchange. Calls `observer` for every event.
    ///
    /// # Errors
    ///
    /// Fails if the model fails, if `cancel` is cancelled, or if the answer cannot be stored. Then only the cost is
    /// stored, and [`Self::retry`] returns the prompt.
    pub async fn turn(
        &mut self,
        input: impl Into<TurnInput> + Send,
        observer: Observer<'_>,
        cancel: &CancellationToken,
    ) -> Result<TurnReport, TurnError> {
        let input = input.into();
        if let Some(reason) = self.store().damage() {
            // The answer could not be stored.
            return Err(StoreError::Damaged { reason }.into());
        }
        let preparation = async {
            self.state.tools = self.servers.join(&self.tools, observer).await;
            // Only the turn itself may call models and write.
            self.background.pause_for_turn().await;
            self.care.stop().await;
        };
        tokio::select! {
            () = preparation => {}
            () = cancel.cancelled() => {}
        }
        let replaced = self.state.conversation.replacing();
        let mut result = self.agent.run_turn(&mut self.state, input.clone(), observer, cancel).await;
        if let (Some(hub), Ok(report)) = (self.runtime.hub(), &result) {
            let stored = hub.keep(report.exchange_id).await;
            if let (Some(replaced), Ok(())) = (replaced, &stored)
                && let Err(failure) = hub.replace(replaced, report.exchange_id).await
            {
                let reason = failure.message;
                self.notices.push(format!("The hub still has the earlier answer, because {reason}."));
            }
            hub.send_in_background();
            if let Err(failure) = stored {
                let source = StoreError::Other(failure.sentence().into());
                result = Err(TurnError::NotStored { answer: report.text.clone(), source });
            }
        }
        self.background.resume_after_turn(self.state.conversation.id()).await;
        if self.background.is_started() {
            self.care.start();
        }
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

    /// Sets the front end that asks the user what MCP servers want to know. Without one, their questions are declined.
    pub fn set_questioner(&self, questioner: Arc<dyn Questioner>) {
        self.servers.questions.set_questioner(questioner);
    }

    /// Returns the prompts and resources of the MCP servers.
    pub fn server_offers(&self) -> ServerOffers {
        self.servers.offers()
    }

    /// Returns the state of the MCP servers.
    pub fn servers(&self) -> ServerList {
        self.servers.report()
    }

    /// Returns the store that the session writes to.
    pub fn store(&self) -> &dyn Store {
        self.runtime.store().as_ref()
    }

    /// Returns the id of the conversation. A new conversation has none until its first exchange is stored.
    pub fn conversation(&self) -> Option<ConversationId> {
        self.state.conversation.id()
    }

    /// Returns the recall of this session, which can be used even if automatic recall is off.
    pub fn recall(&self) -> &Recall {
        &self.state.recall
    }

    /// Loads the search index in the background, so that the first prompt does not wait for it.
    pub fn warm_up(&self) -> JoinHandle<()> {
        let recall = self.recall().clone();
        tokio::spawn(async move {
            if recall.settings.enabled
                && let Err(error) = recall.warm_up().await
            {
                // The first prompt will report the error.
                tracing::debug!(%error, "could not load the search index in advance");
            }
        })
    }

    /// Ends the session: stops its workers and releases its reservation of the conversation.
    pub async fn close(mut self) {
        self.care.stop().await;
        self.follower.stop().await;
        self.background.stop().await;
    }
}

/// Returns the recall of the session. For the demo, imports its history first and uses the local embedder regardless of
/// settings.
async fn open_recall(runtime: &Runtime, notices: &mut Vec<String>) -> Result<Recall, Failure> {
    let mut recall = runtime.recall(notices).await?;
    if runtime.persistence() == Persistence::Demo {
        recall.embedder = Arc::new(demo::PreparedEmbedder::sample());
        demo::fill(runtime.store(), &recall).await?;
    }
    Ok(recall)
}

fn require_directories(directories: Vec<PathBuf>) -> Result<Vec<PathBuf>, Failure> {
    match directories.iter().find(|directory| !directory.is_dir()) {
        None => Ok(directories),
        Some(missing) => Err(Failure::usage(format!("{} is not a directory", missing.display()))
            .hint("`--add-dir` must be an existing directory.")),
    }
}
