//! `/summarizer`: whether summaries are made, from now on and at every start.

use anstream::println;
use memoir_core::WorkerKind;

use super::{Next, RunCommand};
use memoir_runtime::{failure::Failure, settings, worker_text};

use crate::app::App;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Clone, Copy, clap::Subcommand)]
enum Action {
    /// Summarize exchanges and conversations from now on
    On,
    /// Stop summarizing
    Off,
    /// Show or switch the summarizer of exchanges
    Exchange {
        /// New state
        switch: Option<Switch>,
    },
    /// Show or switch the summarizer of conversations
    Conversation {
        /// New state
        switch: Option<Switch>,
    },
}

/// Whether something runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Switch {
    On,
    Off,
}

impl Switch {
    const fn as_str(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Off => "off",
        }
    }
}

const USAGE: &str =
    "Use /summarizer, /summarizer on|off, /summarizer exchange on|off or /summarizer conversation on|off.";

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        let both = [WorkerKind::ExchangeSummarizer, WorkerKind::ConversationSummarizer];
        let (kinds, switch) = match self.action {
            None => (&both[..], None),
            Some(Action::On) => (&both[..], Some(Switch::On)),
            Some(Action::Off) => (&both[..], Some(Switch::Off)),
            Some(Action::Exchange { switch }) => (&both[..1], switch),
            Some(Action::Conversation { switch }) => (&both[1..], switch),
        };
        if let Some(switch) = switch {
            turn(kinds, switch.as_str(), app).await?;
        }
        for kind in kinds {
            show(*kind, app).await?;
        }
        match &app.session.background.summarizer {
            Some(model) => println!("Summaries are made by {}.", model.name()),
            None => println!("Summaries are made by quotation; /models set NAME summarizer names a model."),
        }
        Ok(Next::Prompt)
    }
}

/// Whether a worker is switched on, and how it is getting on.
pub(super) async fn show(kind: WorkerKind, app: &App) -> Result<(), Failure> {
    let on = if app.session.background.settings.is_on(kind) { "on" } else { "off" };
    let pending = app.session.agent.store.pending(&app.session.background.context().claim(kind)).await?;
    let statuses = app.session.background.runner.statuses();
    let state = statuses.iter().find(|status| status.worker == kind);
    let state = state.map(|status| worker_text::state(status, pending)).unwrap_or_default();
    println!("{:<24} {on}: {state}", kind.as_str());
    Ok(())
}

/// Starts or stops workers, now and at every start.
pub(super) async fn turn(kinds: &[WorkerKind], switch: &str, app: &mut App) -> Result<(), Failure> {
    for kind in kinds {
        let key = format!("workers.{}", kind.as_str());
        let (config, store) = (&app.session.runtime.models().config, app.session.agent.store.as_ref());
        let (_, changed) =
            settings::change((&key, switch), &app.session.background.settings, config, store, USAGE).await?;
        app.session.background.settings = changed;
        let persistence = app.session.runtime.persistence();
        if app.session.background.should_run(*kind, persistence) {
            app.session.background.runner.start(*kind);
        } else {
            app.session.background.runner.stop(*kind).await;
        }
        app.session.divide_work();
    }
    Ok(())
}
