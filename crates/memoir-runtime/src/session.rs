//! A session: one conversation at a time, with the model, approvals and settings that hold for it.

use std::{path::PathBuf, sync::Arc};

use memoir_agent::{
    Agent, AgentState, Approvals, Asker, ContextReport, CurrentConversation, Observer, TurnError, TurnReport,
};
use memoir_core::{ConversationId, ExchangeId, Recalled, TurnInput};
use memoir_recall::Recall;
use memoir_store::ConversationList;
use memoir_tools::ToolSet;
use memoir_workers::Listener;
use tokio_util::sync::CancellationToken;

use crate::{
    background::Background,
    demo,
    failure::{Failure, FailureKind},
    models::ModelChoice,
    permissions,
    persistence::Persistence,
    personas,
    runtime::Runtime,
    servers::Servers,
    tools,
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
pub struct Unanswered {
    /// What was asked.
    pub input: TurnInput,
    /// The exchange that its answer was to replace.
    pub replacing: Option<ExchangeId>,
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
    pub last_answer: Option<String>,
    /// The last prompt, if it got no answer.
    pub unanswered: Option<Unanswered>,
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
        let mut recall = runtime.recall(&mut notices).await?;
        if runtime.persistence() == Persistence::Demo {
            // Nothing of the demo is sent anywhere, whatever is set.
            recall.embedder = Arc::new(demo::PreparedEmbedder::sample());
            demo::fill(&recall).await?;
        }
        let directories = existing_directories(options.directories)?;
        let (agent, mut state) =
            tools::agent(model, recall, (runtime.project(), &directories), &models).await?;
        let rules_of = runtime.project().to_string_lossy();
        let policy = permissions::policy(
            options.approval.as_deref(),
            &models.config.approval,
            store.as_ref(),
            &rules_of,
            runtime.home(),
        );
        state.approvals = Approvals::new(policy.await?);
        state.approvals.asker = options.asker;
        let persona = personas::in_use(store.as_ref(), runtime.home(), &mut notices).await?;
        state.persona = persona.map(|(_, text)| text);
        let summarizer = models.connect_summarizer(store.as_ref(), &mut notices).await?;
        let background = Background::new(
            state.recall.clone(),
            summarizer,
            runtime.worker_settings().await?,
            options.listener,
        );
        let skills = tools::skills(runtime.project(), runtime.home());
        notices.extend(skills.faults.iter().map(|fault| format!("A skill was left out: {fault}.")));
        let servers = Servers::reach(&models.config.mcp, &agent.sandbox.variables);
        let summaries = Arc::new(background.summaries());
        state.tools =
            Arc::new(ToolSet::all().for_store(store.as_ref()).with_summaries(summaries).with_skills(&skills));
        let project = runtime.scope();
        state.conversation = open_conversation(&runtime, options.conversation, &mut notices).await?;
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
    /// stored then but what it cost, and the prompt is kept in [`Self::unanswered`].
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

    /// Returns memory as this session searches it, whether it is searched automatically or not.
    pub fn recall(&self) -> &Recall {
        &self.state.recall
    }

    /// Switches to another conversation.
    pub async fn enter(&mut self, conversation: CurrentConversation) {
        self.state.conversation = conversation;
        self.background.resume_after_turn(self.state.conversation.id()).await;
        (self.last_recalled, self.last_context) = (Recalled::default(), None);
        (self.last_answer, self.unanswered) = (None, None);
    }

    /// Uses another model from now on.
    ///
    /// # Errors
    ///
    /// Fails if the model cannot be called as it is set up; the present one stays.
    pub async fn switch_model(&mut self, mut choice: ModelChoice) -> Result<(), Failure> {
        self.state.model = self.runtime.models().connect(&mut choice).await?;
        self.choice = choice;
        // The sizes and prices were those of the other model.
        self.last_context = None;
        Ok(())
    }

    /// Uses the embedding model that is set now, and restarts the workers with it.
    ///
    /// # Errors
    ///
    /// Fails if the setting cannot be read.
    pub async fn reconnect_embedder(&mut self) -> Result<(), Failure> {
        let store = Arc::clone(self.runtime.store());
        let models = self.runtime.models();
        let embedder = models.connect_embedder(store.as_ref(), &mut self.notices).await?;
        self.state.recall.embedder = embedder;
        self.restart_background().await;
        Ok(())
    }

    /// Uses the summarizer that is set now, and restarts the workers with it.
    ///
    /// # Errors
    ///
    /// Fails if the setting cannot be read.
    pub async fn reconnect_summarizer(&mut self) -> Result<(), Failure> {
        let store = Arc::clone(self.runtime.store());
        let models = self.runtime.models();
        self.background.summarizer = models.connect_summarizer(store.as_ref(), &mut self.notices).await?;
        self.restart_background().await;
        Ok(())
    }

    /// Starts every worker that is switched on and can do its work.
    pub async fn start_background(&mut self) {
        self.divide_work();
        self.background.start(self.runtime.persistence(), self.state.conversation.id()).await;
    }

    /// Restarts the workers with the present models and settings.
    pub async fn restart_background(&mut self) {
        self.background.renew(self.recall().clone()).await;
        self.start_background().await;
    }

    /// Decides what a turn does itself and what it leaves to the workers: nobody should wait for a remote server.
    pub fn divide_work(&mut self) {
        let persistence = self.runtime.persistence();
        self.state.asks_for_digests = self.background.makes_digests(persistence);
        self.state.embeds_at_once = self.background.embeds_locally(persistence);
    }

    /// Ends the session: stops its workers and gives up its claim on the conversation.
    pub async fn close(self) {
        self.background.stop().await;
    }
}

fn existing_directories(named: Vec<PathBuf>) -> Result<Vec<PathBuf>, Failure> {
    match named.iter().find(|directory| !directory.is_dir()) {
        None => Ok(named),
        Some(missing) => Err(Failure::new(FailureKind::Usage, format!("{} is no folder", missing.display()))
            .hint("--add-dir names a folder that exists.")),
    }
}

async fn open_conversation(
    runtime: &Runtime,
    resume: Resume,
    notices: &mut Vec<String>,
) -> Result<CurrentConversation, Failure> {
    let (store, scope) = (runtime.store(), runtime.scope());
    let id = match resume {
        Resume::New => return Ok(CurrentConversation::begin(scope)),
        Resume::Conversation(id) | Resume::Fork(id) => id,
        Resume::Latest | Resume::ForkOfLatest => {
            // An imported conversation may be somebody else's: it is resumed only by its id.
            let here = ConversationList {
                scope: Some(scope.clone()),
                said_here: true,
                limit: 1,
                ..ConversationList::default()
            };
            let Some(latest) = store.conversations(&here).await?.into_iter().next() else {
                notices.push(
                    "There is no earlier conversation in this project; this one is new. -r ID goes on with any other."
                        .into(),
                );
                return Ok(CurrentConversation::begin(scope));
            };
            latest.id
        }
    };
    let id = match resume {
        Resume::Fork(_) | Resume::ForkOfLatest => {
            store.fork(id, memoir_core::Clock::now(&memoir_core::SystemClock)).await?.unwrap_or(id)
        }
        Resume::New | Resume::Latest | Resume::Conversation(_) => id,
    };
    match store.conversation(id).await? {
        Some(conversation) => {
            Ok(CurrentConversation::resume(store.as_ref(), conversation.id, conversation.scope).await?)
        }
        None => Err(Failure::new(FailureKind::Failed, format!("there is no conversation {id}"))
            .hint("Use -r without an id to choose one, or -c for the last.")),
    }
}
