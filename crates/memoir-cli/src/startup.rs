//! Opens memory and starts what the command line asks for: the REPL, a single answer or a subcommand.

use std::{
    io::{IsTerminal as _, stdin},
    mem,
};

use memoir_core::reveal_on_one_line;
use memoir_runtime::{
    Failure, FailureKind, Persistence, Resume, Runtime, RuntimeOptions, SessionOptions, logging,
};

use crate::{
    app::App,
    args::{Args, ChatArgs, Command},
    attaching::{OutsideFiles, attach_named},
    background_printer::BackgroundPrinter,
    conversation_picker::{find_conversation, pick_conversation},
    headless, hub, process,
    prompt_source::{self, ChatMode},
    question, repl, screen,
    subcommands::{self, print_notices},
    trace::Verbosity,
};

/// Runs the REPL, answers one prompt or runs a subcommand, depending on `args`.
pub(crate) async fn run(mut args: Args) -> Result<(), Failure> {
    if args.plain {
        screen::set_plain();
    }
    let format = args.output_format;
    let outcome = match args.normalize() {
        Ok(()) => open_and_run(args).await,
        Err(failure) => Err(failure),
    };
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
        Failure::failed(format!("could not read the current directory: {error}"))
            .hint("Change to an existing directory.")
    })?;
    let hub = hub::of_conversation(&args, &environment)?;
    let persistence = match &args.command {
        Some(Command::Demo { .. }) => Persistence::Demo,
        _ if args.chat.incognito => Persistence::Incognito,
        _ if hub.is_some() => Persistence::Hub,
        _ => Persistence::Permanent,
    };
    logging::start(home.log_file(), &environment, args.chat.verbose, persistence)?;
    let options = RuntimeOptions {
        persistence,
        hub,
        report: screen::print_note,
        ..RuntimeOptions::new(home, environment, directory)
    };
    let Some(args) = subcommands::run_without_memory(args, &options).await? else {
        return Ok(());
    };
    let chat = match &args.command {
        Some(Command::Demo { question }) => Some(prompt_source::demo_mode(question.as_deref())?),
        Some(_) => None,
        None => Some(prompt_source::chat_mode(&args)?),
    };
    let prompt = match &chat {
        Some(ChatMode::Once(input)) => Some(input.to_text()),
        Some(ChatMode::Repl) | None => None,
    };
    let needs_config = !matches!(args.command, Some(Command::Export(_) | Command::Backup { .. }));
    let only_reads = matches!(
        args.command,
        Some(Command::Export(_) | Command::Search(_) | Command::Conversations { .. } | Command::Cost { .. })
    );
    let options = RuntimeOptions { prompt, needs_config, only_reads, ..options };
    let mut runtime = Runtime::open(options.clone()).await?;
    if matches!(chat, Some(ChatMode::Repl)) && ask_for_trust(&runtime).await? {
        runtime.close().await;
        runtime = Runtime::open(options).await?;
    }
    let outcome = run_with(args, chat, &runtime).await;
    hub::finish(&runtime).await;
    runtime.close().await;
    outcome
}

/// Asks whether to use the instructions of a project that the user sees for the first time. Returns whether that was
/// decided.
async fn ask_for_trust(runtime: &Runtime) -> Result<bool, Failure> {
    let files = runtime.undecided_files();
    if files.is_empty() || !stdin().is_terminal() || runtime.persistence() != Persistence::Permanent {
        return Ok(false);
    }
    say!("This project has instructions or settings for Memoir:");
    files.iter().for_each(|file| say!("  {}", reveal_on_one_line(&file.display().to_string())));
    let servers = runtime.project_servers();
    if !servers.is_empty() {
        say!("It starts these MCP servers, which can do whatever you can do:");
        for (name, address) in servers {
            say!("  {}", reveal_on_one_line(&format!("{name}: {address}")));
        }
    }
    let answer = question::ask("They influence what the model does. Use them? [y/N] ").await;
    runtime.decide_trust(matches!(answer.as_deref().map(str::trim), Some("y" | "yes"))).await?;
    Ok(true)
}

async fn run_with(mut args: Args, chat: Option<ChatMode>, runtime: &Runtime) -> Result<(), Failure> {
    let chat = match (args.command.take(), chat) {
        (_, Some(chat)) => chat,
        (Some(command), None) => {
            print_notices(&runtime.models().config.problems);
            return run_until_interrupt(command, runtime).await;
        }
        (None, None) => ChatMode::Repl,
    };
    let verbosity = Verbosity::new(args.chat.verbose);
    let printer = BackgroundPrinter::new(verbosity);
    let options = SessionOptions {
        conversation: requested_conversation(&args.chat, &chat, runtime).await?,
        model: args.chat.model,
        approval: args.chat.approval,
        directories: args.chat.add_dir,
        prompter: None,
        listener: Some(printer.listener()),
        awaited_servers: args.chat.wait_servers,
        awaits_allowed_servers: matches!(chat, ChatMode::Once(_)),
    };
    let session = runtime.session(options).await?;
    let mut app = App::new(session, verbosity, printer);
    match chat {
        ChatMode::Once(mut input) => {
            print_notices(&mem::take(&mut app.session.notices));
            // Text on stdin may come from others, and must not attach anything.
            if let Some(prompt) = &args.prompt {
                attach_named(&app.session, prompt, &mut input, OutsideFiles::Skip).await;
            }
            headless::answer(app, input, args.output_format).await
        }
        ChatMode::Repl => repl::run(app).await,
    }
}

/// Runs a subcommand. Ctrl-C ends it in order, so that it can remove what is incomplete.
async fn run_until_interrupt(command: Command, runtime: &Runtime) -> Result<(), Failure> {
    let hint = match &command {
        // These end themselves.
        Command::Daemon { .. } | Command::Serve { .. } | Command::Open(_) => {
            return subcommands::run(command, runtime).await;
        }
        Command::Docs(_) | Command::Import { .. } | Command::Worker(_) => {
            "What was done is kept. Run the command again to continue."
        }
        Command::Backup { .. } | Command::Export(_) => "Nothing was written. Run the command again.",
        _ => "Run the command again.",
    };
    let outcome = {
        let mut run = std::pin::pin!(subcommands::run(command, runtime));
        tokio::select! {
            outcome = &mut run => Some(outcome),
            _ = tokio::signal::ctrl_c() => None,
        }
    };
    // By now, what ran has removed its progress bars from the line that shows `^C`.
    outcome.unwrap_or_else(|| {
        note!("");
        Err(Failure::new(FailureKind::Interrupted, "cancelled").hint(hint))
    })
}

/// Returns the conversation to open. Lets the user pick one if `-r` has no ID.
async fn requested_conversation(
    args: &ChatArgs,
    chat: &ChatMode,
    runtime: &Runtime,
) -> Result<Resume, Failure> {
    let (store, zone) = (runtime.store().as_ref(), runtime.zone());
    if let Some(hub) = runtime.hub().filter(|_| args.continue_last || args.resume.is_some()) {
        return Err(Failure::usage("a conversation cannot be resumed on another machine")
            .hint(format!("Start a new one, which recalls it, or read it at {}.", hub.url())));
    }
    let id = match (&args.resume, chat) {
        _ if args.continue_last && args.fork => return Ok(Resume::ForkOfLatest),
        _ if args.continue_last => return Ok(Resume::Latest),
        (None, _) if args.fork => {
            return Err(Failure::usage("`--fork` needs a conversation")
                .hint("Add `-c` for the latest conversation, or `-r ID`."));
        }
        (None, _) => return Ok(Resume::New),
        (Some(Some(wanted)), _) => {
            let can_ask = matches!(chat, ChatMode::Repl);
            find_conversation(wanted, can_ask, store, zone).await?
        }
        (Some(None), ChatMode::Once(_)) => {
            return Err(Failure::usage("`-r` needs a conversation ID when there is no REPL")
                .hint("Use `-r ID` or `-c`."));
        }
        (Some(None), ChatMode::Repl) => match pick_conversation(store, zone).await? {
            None if store.titles().await?.is_empty() => return Ok(Resume::New),
            id => id,
        },
    };
    let id = id.ok_or_else(|| Failure::new(FailureKind::Interrupted, "no conversation was chosen"))?;
    Ok(if args.fork { Resume::Fork(id) } else { Resume::Conversation(id) })
}
