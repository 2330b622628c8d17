//! The REPL: read a line, run a command or a turn, again.

mod ask;
mod completion;
mod echo;
mod editor;
mod prompt;
mod shell;
mod view;
mod welcome;

use std::sync::Arc;

use anstream::{eprintln, println};
use memoir_agent::TurnError;
use memoir_core::{ExchangeStatus, TurnInput};
use tokio_util::sync::CancellationToken;

use memoir_runtime::{
    Failure,
    attachments::{AttachmentContext, attach, find_attachments},
    operations::daemon::TaskRunner,
    printable,
};

use crate::{
    app::App,
    commands::{self, Next},
    interrupts::Interrupts,
    output::metrics_line,
    question,
    render::tasks::describe_event,
    screen::screen_width,
};
use completion::MemoirCompleter;
use echo::EchoMode;
use editor::{Editor, Line};
use view::TurnView;

/// Talks until the user leaves.
pub(crate) async fn run(mut app: App) -> Result<(), Failure> {
    welcome::banner(&app).await;
    app.session.state.approvals.asker = Some(Arc::new(ask::TerminalAsker));
    app.session.start_background().await;
    let mut interrupts = Interrupts::listen();
    let earlier = app.session.store().recent_commands(editor::REMEMBERED_LINES).await?;
    let completer =
        MemoirCompleter { runtime: app.session.runtime.clone(), executor: tokio::runtime::Handle::current() };
    let mut editor = Editor::new(&earlier, Box::new(completer), app.printer.take_printer());
    let printer = app.printer.clone();
    let tasks =
        TaskRunner::start(Arc::clone(&app.tasks), move |event| printer.print(&describe_event(&event)));
    let warming_up = app.session.warm_up();
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
    warming_up.abort();
    tasks.stop().await;
    app.session.close().await;
    Ok(())
}

/// Says that reports wait, once.
async fn announce(app: &mut App) {
    // What cannot be counted now is announced the next time.
    let Ok((count, last)) = app.session.store().unseen().await else { return };
    let (count_before, last_before) = app.announced;
    // Fewer reports than before were read elsewhere.
    if last.is_some() && last != last_before && count >= count_before {
        let reports = if count == 1 { "1 report waits".to_owned() } else { format!("{count} reports wait") };
        println!("{}", view::dim(&format!("{reports}: /inbox shows what tasks have done.")));
    }
    app.announced = (count, last);
}

/// Does what a line asks for, unless it is cancelled.
async fn handle(app: &mut App, line: &str, cancel: &CancellationToken) -> Next {
    // Before anything is done with it: a line that was typed is never lost.
    let kept = tokio::select! {
        biased;
        () = cancel.cancelled() => return cancelled(),
        kept = app.session.store().append_command(line, app.session.agent.clock.now()) => kept,
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
        turn(app, prompt, cancel).await;
        return Next::Prompt;
    }
    let ran = tokio::select! {
        biased;
        () = cancel.cancelled() => {
            // A command may have made the workers wait.
            app.session.resume_interrupted().await;
            return cancelled();
        }
        ran = commands::run(command, app) => ran,
    };
    match ran {
        Ok(Next::Ask(prompt)) => {
            turn(app, prompt, cancel).await;
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
async fn with_files(app: &App, line: &str) -> TurnInput {
    let directory = std::env::current_dir().unwrap_or_default();
    let context = AttachmentContext {
        directory: &directory,
        project: app.session.agent.workspace.project(),
        user_home: app.session.runtime.models().environment.user_home(),
    };
    let mut going = Vec::new();
    for file in find_attachments(line, context) {
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
    attach(line, &going)
}

fn cancelled() -> Next {
    eprintln!("Cancelled.");
    Next::Prompt
}

/// Runs one turn, showing it as it happens.
async fn turn(app: &mut App, input: TurnInput, cancel: &CancellationToken) {
    let _quiet = EchoMode::off();
    let mut view = TurnView::new(app.verbosity);
    let mut observer = |event| view.show(&event);
    let result = app.session.turn(input, &mut observer, cancel).await;
    view.finish();
    match result {
        Ok(report) => {
            if report.status == ExchangeStatus::Stopped {
                eprintln!("{} Say \"go on\" to let it continue.", report.text);
            }
            println!("{}\n", view::dim(&metrics_line(&report, screen_width())));
        }
        Err(error) => {
            // After a conflict the same prompt conflicts again, until the conversation is resumed.
            let again = match error {
                TurnError::Conflict { .. } => "The up arrow brings the prompt back.",
                _ => "/retry asks again; the up arrow brings the prompt back.",
            };
            eprintln!("{}\n{}\n", Failure::from(error).sentence(), view::dim(again));
        }
    }
}
