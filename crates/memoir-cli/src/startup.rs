//! From the command line to a REPL, one answer or a subcommand.

use memoir_core::ConversationId;
use memoir_runtime::{
    Failure, FailureKind, Persistence, Resume, Runtime, RuntimeOptions, SessionOptions, logging, printable,
};

use crate::{
    app::App,
    args::{Args, Command},
    background_printer::BackgroundPrinter,
    conversation_picker::pick_conversation,
    headless, process,
    prompt_source::{self, Talk},
    repl, subcommands,
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
        Failure::failed(format!("the current directory cannot be entered: {error}"))
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

async fn run_with(mut args: Args, talk: Option<Talk>, runtime: &Runtime) -> Result<(), Failure> {
    let talk = match (args.command.take(), talk) {
        (_, Some(talk)) => talk,
        (Some(command), None) => return subcommands::run(command, runtime).await,
        (None, None) => Talk::Terminal,
    };
    let verbosity = Verbosity::new(args.verbose);
    let printer = BackgroundPrinter::new(verbosity);
    let options = SessionOptions {
        conversation: requested_conversation(&args, &talk, runtime).await?,
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

/// Returns the conversation that the command line asks for.
async fn requested_conversation(args: &Args, talk: &Talk, runtime: &Runtime) -> Result<Resume, Failure> {
    let id = match (args.resume, talk) {
        _ if args.continue_last && args.fork => return Ok(Resume::ForkOfLatest),
        _ if args.continue_last => return Ok(Resume::Latest),
        (None, _) if args.fork => {
            return Err(Failure::usage("--fork needs a conversation to branch off")
                .hint("Add -c for the last, or -r ID."));
        }
        (None, _) => return Ok(Resume::New),
        (Some(Some(id)), _) => ConversationId::new(id),
        (Some(None), Talk::Once(_)) => {
            return Err(Failure::usage("-r needs the id of a conversation here").hint("Use -r ID, or -c."));
        }
        (Some(None), Talk::Terminal) => {
            match pick_conversation(runtime.store().as_ref(), runtime.zone()).await? {
                Some(id) => id,
                None => return Ok(Resume::New),
            }
        }
    };
    Ok(if args.fork { Resume::Fork(id) } else { Resume::Conversation(id) })
}
