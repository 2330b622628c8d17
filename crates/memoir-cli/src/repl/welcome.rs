//! The banner printed when the REPL opens.

use std::mem;

use memoir_runtime::{Persistence, demo, operations::import::find_histories, printable};
use memoir_store::ConversationList;

use crate::{app::App, commands::show_latest, render, subcommands::print_notices};

/// Prints the model and, if memory is empty, the first steps.
pub(super) async fn banner(app: &mut App) {
    say!(
        "Memoir {} · {} ({})",
        env!("CARGO_PKG_VERSION"),
        app.session.choice.name,
        app.session.choice.reason
    );
    let workspace = app.session.agent.workspace.project();
    if app.session.runtime.directory().canonicalize().is_ok_and(|directory| directory != workspace) {
        say!(
            "Workspace: {}, the repository that contains this directory.",
            printable(&workspace.to_string_lossy())
        );
    }
    print_notices(&mem::take(&mut app.session.notices));
    match (app.session.runtime.persistence(), app.session.conversation()) {
        (Persistence::Incognito, _) => say!("Incognito: memory is neither read nor written."),
        (Persistence::Demo, _) => {
            say!(
                "Demo: a temporary memory with three months of a made-up project, deleted when you exit. Try asking:"
            );
            demo::QUESTIONS.iter().for_each(|question| say!("  {question}"));
        }
        (Persistence::Permanent, Some(id)) => {
            say!("Resumed conversation {id}. Type `/help` for a list of commands.");
            if let Err(failure) = show_latest(&app.session).await {
                // The next operation that needs memory fails as well, and says why.
                tracing::debug!(message = failure.message, "could not show the latest exchanges");
            }
            return;
        }
        (Persistence::Permanent, None) => first_steps(app).await,
    }
    say!("Type `/help` for a list of commands.");
}

/// Prints the first steps if memory is empty.
async fn first_steps(app: &App) {
    let first = ConversationList { limit: 1, ..ConversationList::default() };
    // A read error is reported by the next operation that needs memory.
    if app.session.store().conversations(&first).await.map_or(true, |list| !list.is_empty()) {
        return;
    }
    say!("Memory is empty. Your conversations will be remembered.");
    let environment = &app.session.runtime.models().environment;
    let report = find_histories(environment, app.session.store()).await;
    // Histories can still be imported if they are not listed here.
    let report = report
        .inspect_err(|failure| tracing::debug!(message = failure.message, "could not search for histories"));
    let histories = report.map(|report| report.histories).unwrap_or_default();
    let sessions: Vec<String> = histories.iter().map(render::import::sessions).collect();
    match sessions.as_slice() {
        [] => say!("Use `/import` to import conversations exported from other agents."),
        sessions => {
            let commands: Vec<String> =
                histories.iter().map(|history| format!("`/import {}`", history.source)).collect();
            say!(
                "Found on this machine: {}. Import with {}.",
                printable(&sessions.join(", ")),
                commands.join(", ")
            );
        }
    }
    say!("Run `memoir demo` to try a sample memory.");
}
