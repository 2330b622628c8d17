//! The REPL: read a line, run a command or a turn, again.

mod editor;
mod picker;
mod prompt;
mod view;

use anstream::{eprintln, println};
use memoir_agent::TurnError;
use tokio_util::sync::CancellationToken;

use crate::{
    app::App,
    commands::{self, Next},
    failure::Failure,
    output::metrics_line,
};
use editor::{Editor, Line};
use view::TurnView;

pub(crate) use picker::pick_conversation;

/// Talks until the user leaves.
pub(crate) async fn run(mut app: App) -> Result<(), Failure> {
    banner(&app);
    let mut editor = Editor::new(&app.agent.store.recent_commands(editor::REMEMBERED_LINES).await?);
    loop {
        let line;
        (editor, line) = editor.read().await?;
        let line = match line {
            Line::Quit => return Ok(()),
            Line::Nothing => continue,
            Line::Typed(line) => line,
        };
        // Before anything is done with it: a line that was typed is never lost.
        if let Err(error) = app.agent.store.append_command(&line, app.agent.clock.now()).await {
            eprintln!("{}", Failure::from(error).sentence());
        }
        if line.starts_with('/') {
            match commands::run(&line, &mut app).await {
                Ok(Next::Prompt) => {}
                Ok(Next::Quit) => return Ok(()),
                Err(failure) => eprintln!("{}", failure.sentence()),
            }
        } else if turn(&mut app, &line).await == Outcome::Unanswered {
            // One key sends it again.
            editor.prefill(&line);
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Answered,
    Unanswered,
}

/// Runs one turn, showing it as it happens. Ctrl-C cancels it.
async fn turn(app: &mut App, prompt: &str) -> Outcome {
    let cancel = CancellationToken::new();
    let interrupted = cancel.clone();
    let listener = tokio::spawn(async move {
        if tokio::signal::ctrl_c().await.is_ok() {
            interrupted.cancel();
        }
    });
    let mut view = TurnView::start();
    let result = app
        .agent
        .run_turn(
            &mut app.conversation,
            prompt,
            &mut |event| view.show(&event),
            &cancel,
        )
        .await;
    view.finish();
    listener.abort();
    match result {
        Ok(report) => {
            println!("{}\n", view::dim(&metrics_line(&report)));
            Outcome::Answered
        }
        Err(error) => {
            let cancelled = matches!(error, TurnError::Cancelled);
            eprintln!("{}", Failure::from(error).sentence());
            if !cancelled {
                println!();
            }
            Outcome::Unanswered
        }
    }
}

fn banner(app: &App) {
    println!(
        "Memoir {} · {} ({})",
        env!("CARGO_PKG_VERSION"),
        app.agent.model.name(),
        app.model_reason
    );
    match app.conversation.id() {
        Some(id) => println!("Going on with conversation {id}. /help shows the commands."),
        None => println!("/help shows the commands."),
    }
}
