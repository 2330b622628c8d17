//! From the command line to a REPL, one answer or a subcommand.

use memoir_core::ConversationId;
use memoir_runtime::{
    Persistence, Resume, Runtime, RuntimeOptions, SessionOptions,
    failure::{Failure, FailureKind},
    logging, printable,
};

use crate::{
    app::App,
    args::{Args, Command},
    background_printer::BackgroundPrinter,
    conversation_picker::pick_conversation,
    headless, process,
    prompt_source::{self, Talk},
    repl,
    subcommands::{self, CommandContext},
    trace::Verbosity,
};

/// Runs what the command line asks for.
pub(crate) async fn run(args: Args) -> Result<(), Failure> {
    let format = args.output_format;
    let outcome = open_and_run(args).await;
    if let Err(failure) = &outcome
        && failure.kind != FailureKind::Stopped
    {
        headless::print_failure(failure, format);
    }
    outcome
}

async fn open_and_run(args: Args) -> Result<(), Failure> {
    let environment = process::environment();
    let home = process::home(&environment)?;
    let directory = std::env::current_dir().map_err(|error| {
        Failure::new(FailureKind::Failed, format!("the current directory cannot be entered: {error}"))
            .hint("Go to one that exists.")
    })?;
    let persistence = match &args.command {
        Some(Command::Demo { .. }) => Persistence::Demo,
        _ if args.incognito => Persistence::Incognito,
        _ => Persistence::Permanent,
    };
    logging::start(home.log_file(), &environment, args.verbose, persistence)?;
    let options = RuntimeOptions { persistence, ..RuntimeOptions::new(home, environment, directory) };
    let Some(args) = subcommands::run_without_memory(args, &options).await? else {
        return Ok(());
    };
    let talk = match &args.command {
        Some(Command::Demo { question }) => Some(prompt_source::demo(question.as_deref())?),
        Some(_) => None,
        None => Some(prompt_source::talk(&args)?),
    };
    let prompt = match &talk {
        Some(Talk::Once(input)) => Some(input.to_text()),
        Some(Talk::Terminal) | None => None,
    };
    let runtime = Runtime::open(RuntimeOptions { prompt, ..options }).await?;
    let outcome = run_with(args, talk, &runtime).await;
    runtime.close().await;
    outcome
}

async fn run_with(args: Args, talk: Option<Talk>, runtime: &Runtime) -> Result<(), Failure> {
    let talk = match (args.command, talk) {
        (_, Some(talk)) => talk,
        (Some(command), None) => {
            let context = CommandContext { runtime: runtime.clone() };
            return subcommands::run(command, &context).await;
        }
        (None, None) => Talk::Terminal,
    };
    let verbosity = Verbosity::new(args.verbose);
    let printer = BackgroundPrinter::new(verbosity);
    let which = RequestedConversation::from_arguments(args.continue_last, args.resume, args.fork, &talk)?;
    let options = SessionOptions {
        conversation: which.resolve(args.fork, runtime).await?,
        model: args.model,
        approval: args.approval,
        directories: args.add_dir,
        asker: None,
        listener: Some(printer.listener()),
    };
    let mut session = runtime.session(options).await?;
    for notice in session.notices.drain(..) {
        anstream::eprintln!("{}", printable(&notice));
    }
    let app = App::new(session, verbosity, printer);
    match talk {
        Talk::Once(input) => headless::answer(app, input, args.output_format).await,
        Talk::Terminal => repl::run(app).await,
    }
}

/// RequestedConversation conversation the command line asks for.
enum RequestedConversation {
    New,
    Latest,
    ById(ConversationId),
    Picked,
}

impl RequestedConversation {
    fn from_arguments(
        continue_last: bool,
        resume: Option<Option<i64>>,
        fork: bool,
        talk: &Talk,
    ) -> Result<Self, Failure> {
        match (continue_last, resume, talk) {
            (true, ..) => Ok(Self::Latest),
            (_, None, _) if fork => {
                Err(Failure::new(FailureKind::Usage, "--fork needs a conversation to branch off")
                    .hint("Add -c for the last, or -r ID."))
            }
            (_, None, _) => Ok(Self::New),
            (_, Some(Some(id)), _) => Ok(Self::ById(ConversationId::new(id))),
            (_, Some(None), Talk::Terminal) => Ok(Self::Picked),
            (_, Some(None), Talk::Once(_)) => {
                Err(Failure::new(FailureKind::Usage, "-r needs the id of a conversation here")
                    .hint("Use -r ID, or -c."))
            }
        }
    }

    async fn resolve(self, fork: bool, runtime: &Runtime) -> Result<Resume, Failure> {
        let id = match self {
            Self::New => return Ok(Resume::New),
            Self::Latest => return Ok(if fork { Resume::ForkOfLatest } else { Resume::Latest }),
            Self::ById(id) => id,
            Self::Picked => match pick_conversation(runtime.store().as_ref(), runtime.zone()).await? {
                Some(id) => id,
                None => return Ok(Resume::New),
            },
        };
        Ok(if fork { Resume::Fork(id) } else { Resume::Conversation(id) })
    }
}
