//! The banner printed when the REPL opens.

use std::mem;

use memoir_runtime::{Persistence, demo, hub::HubMemory, printable};

use super::first_steps::{FirstChoices, offer};
use crate::{app::App, commands::show_latest, subcommands::print_notices};

/// Prints the model and, if memory is empty, the first choices.
pub(super) async fn banner(app: &mut App) -> Option<FirstChoices> {
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
    let mut choices = None;
    match (app.session.runtime.persistence(), app.session.conversation()) {
        (Persistence::Incognito, _) => say!("Incognito: memory is neither read nor written."),
        (Persistence::Hub, _) => say!(
            "The memory is at {}. Settings that you change here last until you exit.",
            app.session.runtime.hub().map_or("", HubMemory::url)
        ),
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
            return None;
        }
        (Persistence::Permanent, None) => choices = offer(app).await,
    }
    say!("Type `/help` for a list of commands.");
    choices
}
