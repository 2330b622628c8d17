//! The REPL: reads lines and runs each one as a command or a turn.

mod approval_prompter;
mod completion;
mod editor;
mod file_completion;
mod first_steps;
mod keys;
mod pastes;
mod prompt;
mod server_questioner;
mod shell;
mod status;
mod view;
mod welcome;

use std::sync::Arc;

use memoir_agent::TurnError;
use memoir_core::{ExchangeStatus, TurnInput};
use memoir_runtime::{Failure, FailureKind, attachments::begins_with_file, operations::daemon::TaskRunner};
use tokio_util::sync::CancellationToken;

use crate::{
    app::App,
    attaching::{OutsideFiles, attach_named},
    commands::{self, Next},
    echo::EchoMode,
    interrupts::Interrupts,
    metrics::metrics_line,
    render::{pluralize, tasks::describe_event},
    screen::{is_plain, print_dimmed, print_dimmed_note, text_width},
};
use completion::MemoirCompleter;
use editor::{Editor, EditorOptions, Line};
use first_steps::FirstChoices;
use prompt::MemoirPrompt;
pub(crate) use status::SessionUsage;
use view::TurnView;
pub(crate) use view::{FinishedCall, color_change};

/// Runs the REPL until the user exits.
pub(crate) async fn run(mut app: App) -> Result<(), Failure> {
    let mut choices = welcome::banner(&mut app).await;
    app.session.state.approvals.prompter = Some(Arc::new(approval_prompter::TerminalPrompter));
    let questioner = server_questioner::TerminalQuestioner { live: app.live.clone() };
    app.session.set_questioner(Arc::new(questioner));
    app.session.start_background().await;
    let mut interrupts = Interrupts::listen();
    let earlier = app.session.store().recent_commands(editor::HISTORY_LINES).await?;
    let completer = MemoirCompleter {
        runtime: app.session.runtime.clone(),
        executor: tokio::runtime::Handle::current(),
        offers: app.session.server_offers(),
    };
    let settings = app.session.runtime.terminal_settings(&mut Vec::new()).await?;
    let mut editor = Editor::new(EditorOptions {
        earlier: &earlier,
        completer: Box::new(completer),
        printer: app.printer.take_printer(),
        keys: settings.keys,
        directory: app.session.runtime.home().data(),
    });
    let printer = app.printer.clone();
    let tasks =
        TaskRunner::start(Arc::clone(&app.tasks), move |event| printer.print(&describe_event(&event)));
    let warming_up = app.session.warm_up();
    loop {
        announce_reports(&mut app).await;
        let status = match settings.status_line && !is_plain() {
            true => status::status_line(&app),
            false => String::new(),
        };
        let line;
        (editor, line) = editor.read(MemoirPrompt { status }).await?;
        let line = match line {
            Line::Quit => break,
            Line::Empty => continue,
            Line::Text(line) => line,
        };
        let lines = match (&choices, FirstChoices::find(&line)) {
            (Some(offered), Some(choice)) => match offered.take(choice, &app).await {
                Ok(commands) => commands,
                Err(failure) => {
                    print_failure(&failure);
                    continue;
                }
            },
            _ => {
                // Numbers may have another meaning from now on.
                choices = None;
                vec![line]
            }
        };
        let cancel = CancellationToken::new();
        let mut next = Next::Prompt;
        for line in &lines {
            next = interrupts.cancel_on_interrupt(&cancel, handle(&mut app, line, &cancel)).await;
        }
        if next == Next::Quit {
            break;
        }
    }
    warming_up.abort();
    tasks.stop().await;
    app.session.close().await;
    Ok(())
}

/// Notifies the user once about new task reports.
async fn announce_reports(app: &mut App) {
    // If counting fails, the next prompt tries again.
    let Ok((count, last)) = app.session.store().count_unread_runs().await else { return };
    let (previous_count, previous_last) = app.announced;
    // A lower count means that another process marked reports as read.
    if last.is_some() && last != previous_last && count >= previous_count {
        let reports = pluralize(count, "unread task report", "unread task reports");
        print_dimmed(&format!("{reports}. Read with `/inbox`."));
    }
    app.announced = (count, last);
}

/// Runs a line as a shell command, a slash command or a prompt.
async fn handle(app: &mut App, line: &str, cancel: &CancellationToken) -> Next {
    // Save the line first, so that it is never lost.
    let save_result = tokio::select! {
        biased;
        () = cancel.cancelled() => return report_cancelled(),
        result = app.session.store().append_command(line, app.session.agent.clock.now()) => result,
    };
    if let Err(error) = save_result {
        print_failure(&Failure::from(error));
    }
    let command = line.trim_start();
    if let Some(command) = command.strip_prefix('!') {
        shell::run(command, &mut app.last_shell_command, cancel).await;
        return Next::Prompt;
    }
    let user_home = app.session.runtime.models().environment.user_home();
    if !command.starts_with('/') || begins_with_file(command, user_home) {
        let mut prompt = TurnInput::from(line);
        tokio::select! {
            biased;
            () = cancel.cancelled() => return report_cancelled(),
            () = attach_named(&app.session, line, &mut prompt, OutsideFiles::Ask) => {}
        }
        turn(app, prompt, cancel).await;
        return Next::Prompt;
    }
    let _echo = EchoMode::off();
    let result = tokio::select! {
        biased;
        () = cancel.cancelled() => {
            app.live.finish();
            // The command may have paused the workers.
            app.session.resume_interrupted().await;
            return report_cancelled();
        }
        result = commands::run(command, app) => result,
    };
    match result {
        Ok(Next::Ask(prompt)) => {
            turn(app, prompt, cancel).await;
            Next::Prompt
        }
        Ok(next) => next,
        Err(failure) => {
            print_failure(&failure);
            Next::Prompt
        }
    }
}

fn print_failure(failure: &Failure) {
    let prefix = if failure.kind == FailureKind::Interrupted { "" } else { "error: " };
    note!("{prefix}{}", failure.sentence());
}

fn report_cancelled() -> Next {
    note!("Cancelled.");
    Next::Prompt
}

/// Runs one turn and shows it as it happens.
async fn turn(app: &mut App, input: TurnInput, cancel: &CancellationToken) {
    let _echo = EchoMode::off();
    let mut view = TurnView::new(app.verbosity, app.live.clone());
    let mut observer = |event| view.show(&event);
    let result = app.session.turn(input, &mut observer, cancel).await;
    view.end_running();
    app.last_call = view.last_call.take().or_else(|| app.last_call.take());
    match result {
        Ok(report) => {
            if report.status == ExchangeStatus::Stopped {
                note!("{} To continue, send \"go on\".", report.text);
            }
            app.usage.add(&report);
            print_dimmed(&metrics_line(&report, text_width()));
            say!("");
        }
        Err(error) => {
            // After a conflict, a retry conflicts again until the conversation is resumed.
            let hint = match error {
                TurnError::Conflict { .. } => "Press the up arrow to recall the prompt.",
                _ => "Use `/retry` to send the prompt again, or the up arrow to edit it.",
            };
            print_failure(&Failure::from(error));
            print_dimmed_note(hint);
            note!("");
        }
    }
}
