//! The choices that are offered while memory is empty: the demo, an import, or a model.

use memoir_core::{Clock as _, SystemClock};
use memoir_runtime::{Failure, operations::import::find_histories, printable};
use memoir_store::ConversationList;

use crate::{app::App, render};

/// Setting that stores the choice, so that it is offered once.
const KEY: &str = "first_choice";

/// The choices that are on the screen. The next lines may be their numbers.
pub(super) struct FirstChoices {
    /// Commands that import the histories on this machine.
    imports: Vec<String>,
    is_connected: bool,
}

/// Prints the choices if memory is empty and none was made yet.
pub(super) async fn offer(app: &App) -> Option<FirstChoices> {
    let store = app.session.store();
    let first = ConversationList { limit: 1, ..ConversationList::default() };
    // A read error is reported by the next operation that needs memory.
    if store.conversations(&first).await.map_or(true, |list| !list.is_empty()) {
        return None;
    }
    say!("Memory is empty. Your conversations will be remembered.");
    if store.setting(KEY).await.map_or(true, |choice| choice.is_some()) {
        return None;
    }
    let environment = &app.session.runtime.models().environment;
    let report = find_histories(environment, store).await;
    // Histories can still be imported if they are not listed here.
    let report = report
        .inspect_err(|failure| tracing::debug!(message = failure.message, "could not search for histories"));
    let histories = report.map(|report| report.histories).unwrap_or_default();
    let sessions: Vec<String> = histories.iter().map(render::import::sessions).collect();
    let import = match sessions.as_slice() {
        [] => "import conversations from other programs".to_owned(),
        sessions => format!("import what was found here: {}", printable(&sessions.join(", "))),
    };
    let is_connected = app.session.has_chat_model();
    let model = if is_connected { "connect another model" } else { "connect a model" };
    say!("To begin, ask something, or type a number:");
    say!("1. try a demo, with the memory of a made-up project");
    say!("2. {import}");
    say!("3. {model}");
    let imports = histories.iter().map(|history| format!("/import {}", history.source)).collect();
    Some(FirstChoices { imports, is_connected })
}

/// What the user may do first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FirstChoice {
    Demo,
    Import,
    Model,
}

impl FirstChoice {
    fn as_str(self) -> &'static str {
        match self {
            Self::Demo => "demo",
            Self::Import => "import",
            Self::Model => "model",
        }
    }
}

impl FirstChoices {
    /// Returns what a line chooses, if it is a number.
    pub(super) fn find(line: &str) -> Option<FirstChoice> {
        match line.trim() {
            "1" => Some(FirstChoice::Demo),
            "2" => Some(FirstChoice::Import),
            "3" => Some(FirstChoice::Model),
            _ => None,
        }
    }

    /// Opens the demo or explains a choice. Returns the commands that remain to be run.
    pub(super) async fn take(&self, choice: FirstChoice, app: &App) -> Result<Vec<String>, Failure> {
        match choice {
            FirstChoice::Demo => run_demo().await?,
            FirstChoice::Import if self.imports.is_empty() => explain_imports(),
            FirstChoice::Import => {}
            FirstChoice::Model => explain_models(self.is_connected),
        }
        app.session.store().set_setting(KEY, Some(choice.as_str()), SystemClock.now()).await?;
        let has_commands = choice == FirstChoice::Import;
        Ok(if has_commands { self.imports.clone() } else { Vec::new() })
    }
}

/// Opens the demo in this terminal, and waits until the user leaves it.
async fn run_demo() -> Result<(), Failure> {
    say!("`/exit` leaves the demo.");
    let program = std::env::current_exe()?;
    tokio::process::Command::new(program).arg("demo").status().await?;
    say!("This is your own memory again.");
    Ok(())
}

fn explain_imports() {
    say!("Download your data from the other program, and import the file as it is:");
    say!("- `/import chatgpt FILE` for the zip file of ChatGPT (Settings, Data controls, Export)");
    say!("- `/import claude FILE` for the zip file of Claude (Settings, Privacy, Export data)");
    say!("- `/import whatsapp FILE` for a chat of WhatsApp (Export chat)");
    say!("`/help import` lists all programs.");
}

fn explain_models(is_connected: bool) {
    say!("There are three ways:");
    say!(
        "- A model of a provider: set `ANTHROPIC_API_KEY`, `OPENAI_API_KEY`, `GEMINI_API_KEY` or `XAI_API_KEY` to your \
         key, and start Memoir again."
    );
    say!(
        "- A model on this machine: start Ollama, llama.cpp or LM Studio, and start Memoir again. It finds the server."
    );
    say!(
        "- Any other server that speaks OpenAI's API: set `OPENAI_BASE_URL` to its address, and start Memoir again."
    );
    if is_connected {
        say!("`/models` lists the models that you can use now, and `/model NAME` switches to one.");
    } else {
        say!("Until then, Memoir answers from memory alone.");
    }
}
