//! What is said when the REPL opens.

use anstream::println;
use memoir_store::ConversationList;

use memoir_runtime::{Persistence, demo, operations::import::find_histories, printable};

use crate::{app::App, render};

/// Who answers and why; and, at the first start, what can be done at once.
pub(super) async fn banner(app: &App) {
    println!(
        "Memoir {} · {} ({})",
        env!("CARGO_PKG_VERSION"),
        app.session.choice.name,
        app.session.choice.reason
    );
    match (app.session.runtime.persistence(), app.session.conversation()) {
        (Persistence::Incognito, _) => {
            println!("Incognito: nothing is read from memory, and nothing of this is kept.")
        }
        (Persistence::Demo, _) => {
            println!(
                "A throw-away memory: three months of a made-up project, gone when you leave. Ask, for example:"
            );
            demo::QUESTIONS.iter().for_each(|question| println!("  {question}"));
        }
        (Persistence::Permanent, Some(id)) => {
            println!("Going on with conversation {id}. /help shows the commands.");
            return;
        }
        (Persistence::Permanent, None) => first_steps(app).await,
    }
    println!("/help shows the commands.");
}

/// Said as long as nothing is remembered.
async fn first_steps(app: &App) {
    let any = ConversationList { limit: 1, ..ConversationList::default() };
    // What cannot be read now is told by what is asked next.
    if app.session.store().conversations(&any).await.map_or(true, |found| !found.is_empty()) {
        return;
    }
    println!("Nothing is remembered yet: whatever you say here will be.");
    let environment = &app.session.runtime.models().environment;
    let report = find_histories(environment, app.session.store()).await;
    // The offer is only a convenience: without it, the export files can still be imported.
    let report =
        report.inspect_err(|failure| tracing::debug!(message = failure.message, "no histories are offered"));
    let histories = report.map(|report| report.histories).unwrap_or_default();
    let sessions: Vec<String> = histories.iter().map(render::import::sessions).collect();
    match sessions.as_slice() {
        [] => println!("/import brings in what you said to other agents, from their exports."),
        sessions => {
            let commands: Vec<String> =
                histories.iter().map(|history| format!("/import {}", history.source)).collect();
            println!(
                "Found on this machine: {}. {} brings that in.",
                printable(&sessions.join(", ")),
                commands.join(", ")
            );
        }
    }
    println!("memoir demo opens a sample memory to ask things of.");
}
