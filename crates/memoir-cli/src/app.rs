//! Putting the program together: store, model, tools, conversation; then the REPL, one answer or a subcommand.

use std::{path::PathBuf, sync::Arc};

use memoir_agent::{Agent, Approvals, ContextReport, CurrentConversation};
use memoir_core::{Clock as _, ConversationId, Recalled, RunId, SystemClock, TimeZone, WorkerKind};
use memoir_models::ChatModel;
use memoir_recall::Recall;
use memoir_store::{ConversationList, Store, sqlite::SqliteStore};
use memoir_tools::ToolSet;
use memoir_workers::{Office, Runner, WorkerSettings};

use crate::{
    args::Args,
    config::Config,
    environment::Environment,
    failure::{Failure, Kind},
    headless,
    home::Home,
    models::{Choice, Models},
    permissions,
    prompt_source::{self, Talk},
    recall,
    repl::{self, Told},
    scope,
    servers::Servers,
    settings, subcommands,
    tasks::TaskEngine,
    tooling::{self, Summaries},
    trace::Verbosity,
};

/// A program that is ready to talk.
pub(crate) struct App {
    pub(crate) agent: Agent,
    pub(crate) conversation: CurrentConversation,
    /// The project that the program was started in.
    pub(crate) project: String,
    pub(crate) home: Home,
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
        let before = self.workers.office();
        let recall = self.agent.tool_context.recall.clone();
        let budget = self.worker_settings.daily_budget();
        let mut office = Office::new(recall, self.summarizer.clone(), budget).owned_by(&before.owner);
        office.current = Arc::clone(&before.current);
        self.summaries.set(office.clone());
        self.workers = Runner::new(office, Some(self.told.listener()));
        repl::start_workers(self).await;
    }

    /// Whether a worker should run: it is switched on, and can do its work.
    pub(crate) fn should_run(&self, kind: WorkerKind) -> bool {
        let can = kind != WorkerKind::EmbeddingGenerator || self.recall().embedder.is_available();
        can && self.worker_settings.is_on(kind)
    }

    /// Leaves to the workers what takes a server: nobody who talks waits for that.
    pub(crate) fn share_out_work(&mut self) {
        self.agent.asks_for_digests = self.summarizer.is_some();
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

    /// Talks to another model from now on.
    pub(crate) async fn switch_model(&mut self, mut choice: Choice) -> Result<(), Failure> {
        self.agent.model = self.models.connect(&mut choice).await?;
        self.choice = choice;
        // It was another's request, at another price.
        self.last_context = None;
        Ok(())
    }
}

/// Runs what the command line asks for.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    let format = args.output_format;
    let outcome = open_and_run(args).await;
    if let Err(failure) = &outcome
        && failure.kind != Kind::Stopped
    {
        headless::print_failure(failure, format);
    }
    outcome
}

async fn open_and_run(args: Args) -> Result<(), Failure> {
    let talk = match &args.command {
        Some(_) => None,
        None => Some(prompt_source::talk(&args)?),
    };
    let environment = Environment::read();
    let home = Home::find(&environment)?;
    let sqlite = SqliteStore::open(&home.database()).await?;
    let store: Arc<dyn Store> = Arc::new(sqlite.clone());
    // Before anything can fail: a prompt is never lost.
    if let Some(Talk::Once(prompt)) = &talk {
        store.append_command(prompt, SystemClock.now()).await?;
    }
    let outcome = with_store(args, talk, environment, home, store).await;
    sqlite.close().await;
    outcome
}

async fn with_store(
    args: Args,
    talk: Option<Talk>,
    environment: Environment,
    home: Home,
    store: Arc<dyn Store>,
) -> Result<(), Failure> {
    let zone = TimeZone::system();
    let config = Config::read(&home.config_file())?;
    let models = Arc::new(Models::new(environment, config, zone.clone())?);
    let talk = match (args.command, talk) {
        (Some(command), _) => return subcommands::run(command, &models, store, &zone, &home).await,
        (None, Some(talk)) => talk,
        (None, None) => Talk::Terminal,
    };
    let directory = std::env::current_dir().map_err(|error| {
        Failure::new(Kind::Failed, format!("the current directory cannot be entered: {error}"))
            .hint("Go to one that exists.")
    })?;
    let project = scope::project_of(&directory);
    let mut choice = models.choose(args.model.as_deref(), store.as_ref()).await?;
    let model = models.connect(&mut choice).await?;
    let wanted = Wanted::from(args.continue_last, args.resume, &talk)?;
    let scope = project.to_string_lossy().into_owned();
    let recall = recall::recall(Arc::clone(&store), &models, &zone, Some(&directory)).await?;
    let further = folders(&args.add_dir)?;
    let mut agent = tooling::agent(model, recall, (&project, &further), &models.config).await?;
    let policy =
        permissions::policy(args.approval.as_deref(), &models.config.approval, store.as_ref(), &scope, &home);
    agent.approvals = Approvals::new(policy.await?);
    let summarizer = models.connect_summarizer(store.as_ref()).await?;
    let worker_settings: WorkerSettings =
        settings::read(&models.config.workers, "workers", store.as_ref()).await?;
    let verbosity = Verbosity::new(args.verbose);
    let told = Told::new(verbosity);
    let office =
        Office::new(agent.tool_context.recall.clone(), summarizer.clone(), worker_settings.daily_budget());
    let skills = tooling::skills(&project, &home);
    for fault in &skills.faults {
        anstream::eprintln!("A skill was left out: {fault}.");
    }
    let servers = Servers::reach(&models.config.mcp, &agent.tool_context.sandbox.variables);
    let summaries = Summaries::of(office.clone());
    agent.tools = Arc::new(ToolSet::all().with_summaries(Arc::new(summaries.clone())).with_skills(&skills));
    let tasks = TaskEngine::new(Arc::clone(&models), Arc::clone(&store), home.clone(), zone.clone());
    let app = App {
        tasks,
        announced: None,
        conversation: conversation(wanted, &scope, store.as_ref(), &zone).await?,
        agent,
        project: scope,
        home,
        models,
        choice,
        verbosity,
        last_recalled: Recalled::default(),
        last_context: None,
        zone,
        workers: Runner::new(office, Some(told.listener())),
        servers,
        summaries,
        told,
        summarizer,
        worker_settings,
        workers_paused: false,
    };
    match talk {
        Talk::Once(prompt) => headless::answer(app, &prompt, args.output_format).await,
        Talk::Terminal => repl::run(app).await,
    }
}

/// Further folders, which must exist.
fn folders(named: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    for folder in named {
        if !folder.is_dir() {
            return Err(Failure::new(Kind::Usage, format!("{} is no folder", folder.display()))
                .hint("--add-dir names a folder that exists."));
        }
    }
    Ok(named.to_vec())
}

/// Which conversation the command line asks for.
enum Wanted {
    New,
    LastHere,
    ById(ConversationId),
    Picked,
}

impl Wanted {
    fn from(continue_last: bool, resume: Option<Option<i64>>, talk: &Talk) -> Result<Self, Failure> {
        match (continue_last, resume, talk) {
            (true, ..) => Ok(Self::LastHere),
            (_, None, _) => Ok(Self::New),
            (_, Some(Some(id)), _) => Ok(Self::ById(ConversationId::new(id))),
            (_, Some(None), Talk::Terminal) => Ok(Self::Picked),
            (_, Some(None), Talk::Once(_)) => {
                Err(Failure::new(Kind::Usage, "-r needs the id of a conversation here")
                    .hint("Use -r ID, or -c."))
            }
        }
    }
}

async fn conversation(
    wanted: Wanted,
    scope: &str,
    store: &dyn Store,
    zone: &TimeZone,
) -> Result<CurrentConversation, Failure> {
    let id = match wanted {
        Wanted::New => return Ok(CurrentConversation::begin(scope)),
        Wanted::LastHere => {
            let here = ConversationList { scope: Some(scope.to_owned()), limit: 1 };
            let Some(last) = store.conversations(&here).await?.into_iter().next() else {
                anstream::eprintln!(
                    "There is no earlier conversation in this project; this one is new. -r ID goes on with any other."
                );
                return Ok(CurrentConversation::begin(scope));
            };
            last.id
        }
        Wanted::ById(id) => id,
        Wanted::Picked => match repl::pick_conversation(store, zone).await? {
            Some(id) => id,
            None => return Ok(CurrentConversation::begin(scope)),
        },
    };
    match store.conversation(id).await? {
        Some(found) => Ok(CurrentConversation::resume(found.id, found.scope)),
        None => Err(Failure::new(Kind::Failed, format!("there is no conversation {id}"))
            .hint("Use -r without an id to choose one, or -c for the last.")),
    }
}
