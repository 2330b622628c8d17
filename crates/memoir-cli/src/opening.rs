//! Putting the program together: store, model, tools, conversation; then the REPL, one answer or a subcommand.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use memoir_agent::{Approvals, CurrentConversation};
use memoir_core::{Clock as _, ConversationId, Recalled, SystemClock, TimeZone};
use memoir_store::{ConversationList, Store};
use memoir_tools::ToolSet;
use memoir_workers::{Office, Runner, WorkerSettings};

use crate::{
    app::{App, Kept},
    args::{Args, Command},
    config::{self, Config},
    demo,
    environment::Environment,
    failure::{Failure, Kind},
    headless,
    home::Home,
    models::Models,
    permissions, personas,
    printable::printable,
    prompt_source::{self, Talk},
    recall,
    repl::{self, Told},
    scope,
    servers::Servers,
    settings, stores,
    subcommands::{self, Desk},
    tasks::TaskEngine,
    tooling::{self, Summaries},
    trace::Verbosity,
};

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
    let environment = Environment::read();
    let home = Home::find(&environment)?;
    let directory = std::env::current_dir().map_err(|error| {
        Failure::new(Kind::Failed, format!("the current directory cannot be entered: {error}"))
            .hint("Go to one that exists.")
    })?;
    let project = scope::project_of(&directory);
    let Some(args) = subcommands::without_memory(args, &home, &project, &environment).await? else {
        return Ok(());
    };
    let talk = match &args.command {
        Some(Command::Demo { question }) => Some(prompt_source::demo(question.as_deref())?),
        Some(_) => None,
        None => Some(prompt_source::talk(&args)?),
    };
    let kept = match &args.command {
        Some(Command::Demo { .. }) => Kept::Demo,
        _ if args.incognito => Kept::Never,
        _ => Kept::Always,
    };
    let store = match kept {
        Kept::Always => stores::factory().open(&stores::url(&home)).await?,
        Kept::Never | Kept::Demo => nowhere(&home, &project).await?,
    };
    // Before anything can fail: a prompt is never lost.
    if let Some(Talk::Once(prompt)) = &talk {
        store.append_command(prompt, SystemClock.now()).await?;
    }
    let place = Place { environment, home: home.clone(), directory, project, kept };
    let outcome = with_store(args, talk, place, Arc::clone(&store)).await;
    store.close().await;
    if kept == Kept::Demo {
        let _ = std::fs::remove_dir_all(home.thrown_away().data());
    }
    outcome
}

/// Where the program was started, and whose memory it has.
struct Place {
    environment: Environment,
    home: Home,
    directory: PathBuf,
    project: PathBuf,
    kept: Kept,
}

/// A memory that is nowhere. What is set and what is denied counts there too; what was said does not.
async fn nowhere(home: &Home, project: &Path) -> Result<Arc<dyn Store>, Failure> {
    let nowhere = stores::factory().open_in_memory().await?;
    if home.database().exists() {
        let memory = stores::factory().open(&stores::url(home)).await?;
        let copied = settings::copy_all(memory.as_ref(), nowhere.as_ref()).await;
        let denied =
            permissions::copy_denied(memory.as_ref(), nowhere.as_ref(), &project.to_string_lossy()).await;
        memory.close().await;
        copied.and(denied)?;
    }
    Ok(nowhere)
}

async fn with_store(
    args: Args,
    talk: Option<Talk>,
    place: Place,
    store: Arc<dyn Store>,
) -> Result<(), Failure> {
    let Place { environment, home, directory, project, kept } = place;
    let zone = TimeZone::system();
    let config = Config::read(&home.config_file(), &project.join(config::IN_PROJECT))?;
    let models = Arc::new(Models::new(environment, config, zone.clone())?);
    let talk = match (args.command, talk) {
        (_, Some(talk)) => talk,
        (Some(command), None) => {
            let desk = Desk { models, store, zone, home, project };
            return subcommands::run(command, &desk).await;
        }
        (None, None) => Talk::Terminal,
    };
    let mut choice = models.choose(args.model.as_deref(), store.as_ref()).await?;
    let model = models.connect(&mut choice).await?;
    let wanted = Wanted::from(args.continue_last, args.resume, args.fork, &talk)?;
    let mut recall = recall::recall(Arc::clone(&store), &models, &zone, Some(&directory)).await?;
    let scope = match kept {
        Kept::Demo => demo::SCOPE.to_owned(),
        _ => project.to_string_lossy().into_owned(),
    };
    recall.scope = Some(scope.clone());
    if kept == Kept::Demo {
        // Nothing of it goes anywhere, whatever is set.
        recall.embedder = Arc::new(demo::Prepared::sample());
        demo::fill(&recall).await?;
    }
    let rules_of = project.to_string_lossy().into_owned();
    let further = folders(&args.add_dir)?;
    let mut agent = tooling::agent(model, recall, (&project, &further), &models.config).await?;
    let policy = permissions::policy(
        args.approval.as_deref(),
        &models.config.approval,
        store.as_ref(),
        &rules_of,
        &home,
    );
    agent.approvals = Approvals::new(policy.await?);
    agent.persona = personas::in_use(store.as_ref(), &home).await?.map(|(_, text)| text);
    let summarizer = models.connect_summarizer(store.as_ref()).await?;
    let worker_settings: WorkerSettings = settings::read(&models.config, "workers", store.as_ref()).await?;
    let verbosity = Verbosity::new(args.verbose);
    let told = Told::new(verbosity);
    let office =
        Office::new(agent.tool_context.recall.clone(), summarizer.clone(), worker_settings.daily_budget());
    let skills = tooling::skills(&project, &home);
    for fault in &skills.faults {
        anstream::eprintln!("A skill was left out: {}.", printable(fault));
    }
    let servers = Servers::reach(&models.config.mcp, &agent.tool_context.sandbox.variables);
    let summaries = Summaries::of(office.clone());
    agent.tools = Arc::new(
        ToolSet::all()
            .for_store(store.as_ref())
            .with_summaries(Arc::new(summaries.clone()))
            .with_skills(&skills),
    );
    // What the demo writes goes with it; what it must not touch is where it always is.
    let home = if kept == Kept::Demo { home.thrown_away() } else { home };
    let tasks = TaskEngine::new(Arc::clone(&models), Arc::clone(&store), home.clone(), zone.clone());
    let app = App {
        tasks,
        announced: None,
        kept,
        last_answer: None,
        unanswered: None,
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
enum Which {
    New,
    LastHere,
    ById(ConversationId),
    Picked,
}

/// The same, and whether it is branched off.
struct Wanted {
    which: Which,
    fork: bool,
}

impl Wanted {
    fn from(
        continue_last: bool,
        resume: Option<Option<i64>>,
        fork: bool,
        talk: &Talk,
    ) -> Result<Self, Failure> {
        let which = match (continue_last, resume, talk) {
            (true, ..) => Which::LastHere,
            (_, None, _) if fork => {
                return Err(Failure::new(Kind::Usage, "--fork needs a conversation to branch off")
                    .hint("Add -c for the last, or -r ID."));
            }
            (_, None, _) => Which::New,
            (_, Some(Some(id)), _) => Which::ById(ConversationId::new(id)),
            (_, Some(None), Talk::Terminal) => Which::Picked,
            (_, Some(None), Talk::Once(_)) => {
                return Err(Failure::new(Kind::Usage, "-r needs the id of a conversation here")
                    .hint("Use -r ID, or -c."));
            }
        };
        Ok(Self { which, fork })
    }
}

async fn conversation(
    wanted: Wanted,
    scope: &str,
    store: &dyn Store,
    zone: &TimeZone,
) -> Result<CurrentConversation, Failure> {
    let id = match wanted.which {
        Which::New => return Ok(CurrentConversation::begin(scope)),
        Which::LastHere => {
            // Talk that was brought in may be of others: who wants to go on with it says so.
            let here = ConversationList {
                scope: Some(scope.to_owned()),
                said_here: true,
                limit: 1,
                ..ConversationList::default()
            };
            let Some(last) = store.conversations(&here).await?.into_iter().next() else {
                anstream::eprintln!(
                    "There is no earlier conversation in this project; this one is new. -r ID goes on with any other."
                );
                return Ok(CurrentConversation::begin(scope));
            };
            last.id
        }
        Which::ById(id) => id,
        Which::Picked => match repl::pick_conversation(store, zone).await? {
            Some(id) => id,
            None => return Ok(CurrentConversation::begin(scope)),
        },
    };
    let id = match wanted.fork {
        true => store.fork(id, SystemClock.now()).await?.unwrap_or(id),
        false => id,
    };
    match store.conversation(id).await? {
        Some(found) => Ok(CurrentConversation::resume(found.id, found.scope)),
        None => Err(Failure::new(Kind::Failed, format!("there is no conversation {id}"))
            .hint("Use -r without an id to choose one, or -c for the last.")),
    }
}
