//! The REPL: read a line, run a command or a turn, again.

mod ask;
mod attachments;
mod completion;
mod editor;
mod grammar;
mod picker;
mod prompt;
mod quiet;
mod shell;
mod sources;
mod told;
mod view;
mod welcome;

use std::sync::Arc;

use anstream::{eprintln, println};
use memoir_core::{ExchangeStatus, Timestamp, WorkerKind};
use tokio_util::sync::CancellationToken;

use crate::{
    app::App,
    commands::{self, Next},
    failure::Failure,
    interrupts::Interrupts,
    output::metrics_line,
    printable::printable,
    question,
    subcommands::daemon,
};
use editor::{Editor, Line};
use quiet::Quiet;
use sources::LookedUp;
use view::TurnView;

pub(crate) use attachments::beside;
pub(crate) use picker::pick_conversation;
pub(crate) use told::Told;

/// Talks until the user leaves.
pub(crate) async fn run(mut app: App) -> Result<(), Failure> {
    welcome::banner(&app).await;
    app.agent.approvals.asker = Some(Arc::new(ask::TerminalAsker));
    start_workers(&mut app).await;
    let mut interrupts = Interrupts::listen();
    let earlier = app.agent.store.recent_commands(editor::REMEMBERED_LINES).await?;
    let looked_up = LookedUp {
        store: Arc::clone(&app.agent.store),
        runtime: tokio::runtime::Handle::current(),
        models: Arc::clone(&app.models),
        home: app.home.clone(),
        directory: std::env::current_dir().unwrap_or_default(),
    };
    let mut editor = Editor::new(&earlier, Box::new(looked_up), app.told.take_printer());
    let tasks = Tasks::look_after(&app);
    let getting_ready = get_ready(&app);
    loop {
        announce(&mut app).await;
        let line;
        (editor, line) = editor.read().await?;
        let line = match line {
            Line::Quit => break,
            Line::Nothing => continue,
            Line::Typed(line) => line,
        };
        let cancel = CancellationToken::new();
        let next = interrupts.cancelling(&cancel, handle(&mut app, &line, &cancel)).await;
        if next == Next::Quit {
            break;
        }
    }
    getting_ready.abort();
    tasks.stop().await;
    app.workers.stop_all().await;
    let office = app.workers.context();
    let _ = office.store.hold_conversation(&office.owner, None, app.agent.clock.now()).await;
    Ok(())
}

/// Has memory read what it searches, while the user types.
fn get_ready(app: &App) -> tokio::task::JoinHandle<()> {
    let recall = app.agent.recall.clone();
    tokio::spawn(async move {
        if let Some(recall) = recall {
            // The first question says what is wrong, if anything is.
            let _ = recall.get_ready().await;
        }
    })
}

/// Says that reports wait, once.
async fn announce(app: &mut App) {
    // What cannot be counted now is announced the next time.
    let Ok((count, last)) = app.agent.store.unseen().await else { return };
    if last > app.announced {
        let reports = if count == 1 { "1 report waits".to_owned() } else { format!("{count} reports wait") };
        println!("{}", view::dim(&format!("{reports}: /inbox shows what tasks have done.")));
    }
    app.announced = last.max(app.announced);
}

/// Tasks are run while the REPL is open.
struct Tasks {
    cancel: CancellationToken,
    looking: tokio::task::JoinHandle<()>,
}

impl Tasks {
    fn look_after(app: &App) -> Self {
        let cancel = CancellationToken::new();
        let (engine, stop, told) = (Arc::clone(&app.tasks), cancel.clone(), app.told.clone());
        let looking = tokio::spawn(async move {
            let scheduler = engine.scheduler();
            scheduler.look_after(engine, &stop, &mut |event| told.say(&daemon::words(&event))).await;
        });
        Self { cancel, looking }
    }

    /// Stops what goes on, and waits until that is noted.
    async fn stop(self) {
        self.cancel.cancel();
        // One that crashed is over as well.
        let _ = self.looking.await;
    }
}

/// Does what a line asks for, unless it is cancelled.
async fn handle(app: &mut App, line: &str, cancel: &CancellationToken) -> Next {
    // Before anything is done with it: a line that was typed is never lost.
    let kept = tokio::select! {
        biased;
        () = cancel.cancelled() => return cancelled(),
        kept = app.agent.store.append_command(line, app.agent.clock.now()) => kept,
    };
    if let Err(error) = kept {
        eprintln!("{}", Failure::from(error).sentence());
    }
    let command = line.trim_start();
    if let Some(command) = command.strip_prefix('!') {
        shell::run(command, cancel).await;
        return Next::Prompt;
    }
    if !command.starts_with('/') {
        let prompt = tokio::select! {
            biased;
            () = cancel.cancelled() => return cancelled(),
            prompt = with_files(app, line) => prompt,
        };
        turn(app, &prompt, cancel).await;
        return Next::Prompt;
    }
    let ran = tokio::select! {
        biased;
        () = cancel.cancelled() => {
            // A command may have made the workers wait.
            let_workers_go_on(app).await;
            return cancelled();
        }
        ran = commands::run(command, app) => ran,
    };
    match ran {
        Ok(Next::Ask(prompt)) => {
            turn(app, &prompt, cancel).await;
            Next::Prompt
        }
        Ok(next) => next,
        Err(failure) => {
            eprintln!("{}", failure.sentence());
            Next::Prompt
        }
    }
}

/// The prompt with the files that it names. What goes along is said; what lies outside the project is asked about.
async fn with_files(app: &App, line: &str) -> String {
    let directory = std::env::current_dir().unwrap_or_default();
    let project = app.agent.tool_context.workspace.project();
    let mut going = Vec::new();
    for file in attachments::named(line, &directory, project) {
        let name = printable(&file.name).into_owned();
        match &file.text {
            Err(why) => eprintln!("@{name} does not go along: {why}."),
            Ok(_) if !file.is_inside => {
                let answer =
                    question::ask(&format!("@{name} lies outside the project. Send it? [y/N] ")).await;
                if matches!(answer.as_deref().map(str::trim), Some("y" | "yes")) {
                    going.push(file);
                }
            }
            Ok(text) => {
                println!(
                    "{}",
                    view::dim(&format!("@{name} goes along ({} characters).", text.chars().count()))
                );
                going.push(file);
            }
        }
    }
    attachments::attached(line, &going)
}

fn cancelled() -> Next {
    eprintln!("Cancelled.");
    Next::Prompt
}

/// Runs one turn, showing it as it happens.
async fn turn(app: &mut App, prompt: &str, cancel: &CancellationToken) {
    let _quiet = Quiet::begin();
    let mut view = TurnView::new(app.verbosity);
    let mut observer = |event| view.show(&event);
    // While a turn runs, nobody else calls or writes.
    let ready = async {
        app.agent.tools = app.servers.join(&app.agent.tools).await;
        app.workers.pause().await;
    };
    tokio::select! {
        () = ready => {}
        () = cancel.cancelled() => {}
    }
    app.servers.take_notices().iter().for_each(|notice| eprintln!("{notice}"));
    let result = app.agent.run_turn(&mut app.conversation, prompt, &mut observer, cancel).await;
    view.finish();
    let_workers_go_on(app).await;
    match result {
        Ok(report) => {
            if report.status == ExchangeStatus::Stopped {
                eprintln!("{} Say \"go on\" to let it continue.", report.text);
            }
            println!("{}\n", view::dim(&metrics_line(&report, screen_width())));
            app.last_recalled = report.recalled;
            app.last_context = report.context;
            (app.last_answer, app.unanswered) = (Some(report.text), None);
        }
        Err(error) => {
            let failure = Failure::from(error);
            eprintln!(
                "{}\n{}\n",
                failure.sentence(),
                view::dim("/retry asks again; the up arrow brings the prompt back.")
            );
            app.unanswered = Some((prompt.to_owned(), app.conversation.replacing()));
            app.conversation.replace(None);
        }
    }
}

/// Starts who is switched on.
pub(crate) async fn start_workers(app: &mut App) {
    app.share_out_work();
    if app.workers_paused {
        app.workers.pause().await;
    }
    let_workers_go_on(app).await;
    for kind in WorkerKind::ALL {
        if app.should_run(kind) {
            app.workers.start(kind);
        }
    }
}

/// How long a conversation is believed to be going on after its last turn, should its program have died unnoticed.
const HELD_MS: i64 = 12 * 60 * 60 * 1000;

/// The conversation that is going on is left alone, by other programs too; there may be something else to do.
pub(crate) async fn let_workers_go_on(app: &App) {
    let office = app.workers.context();
    if office.set_current(app.conversation.id()) != app.conversation.id() {
        let until = Timestamp::from_millis(app.agent.clock.now().as_millis() + HELD_MS);
        // If it cannot be noted, others summarise it too soon; that is all.
        let _ = office.store.hold_conversation(&office.owner, app.conversation.id(), until).await;
    }
    if !app.workers_paused {
        app.workers.resume();
        app.workers.wake();
    }
}

/// How many columns the terminal has.
pub(crate) fn screen_width() -> usize {
    let width = rustix::termios::tcgetwinsize(std::io::stdout()).map_or(0, |size| usize::from(size.ws_col));
    // One that does not say is as wide as most.
    if width == 0 { 80 } else { width }
}
