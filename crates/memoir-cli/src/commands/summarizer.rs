//! `/summarizer`: switches the summarizers on or off, permanently.

use memoir_core::WorkerKind;
use memoir_runtime::{Failure, Session, worker_text};

use super::{Next, RunCommand};
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
    /// Show or switch summaries of exchanges
    Exchange {
        /// New state
        switch: Option<Switch>,
    },
    /// Show or switch summaries of conversations
    Conversation {
        /// New state
        switch: Option<Switch>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Switch {
    /// Switch it on
    On,
    /// Switch it off
    Off,
}

impl RunCommand for Arguments {
    async fn run(self, App { session, .. }: &mut App) -> Result<Next, Failure> {
        let both = [WorkerKind::ExchangeSummarizer, WorkerKind::ConversationSummarizer];
        let (kinds, switch) = match self.action {
            None => (&both[..], None),
            Some(Action::On) => (&both[..], Some(Switch::On)),
            Some(Action::Off) => (&both[..], Some(Switch::Off)),
            Some(Action::Exchange { switch }) => (&both[..1], switch),
            Some(Action::Conversation { switch }) => (&both[1..], switch),
        };
        if let Some(switch) = switch {
            session.switch_workers(kinds, switch == Switch::On).await?;
        }
        show(kinds, session).await?;
        match &session.background.summarizer {
            Some(model) => say!("Summarizer: {}.", model.name()),
            None => {
                say!("Summaries consist of quotations. Choose a model with `/models set NAME summarizer`.")
            }
        }
        Ok(Next::Prompt)
    }
}

/// Prints whether each worker is on, and its status.
pub(super) async fn show(kinds: &[WorkerKind], session: &Session) -> Result<(), Failure> {
    let report = session.workers().await?;
    for worker in report.workers.iter().filter(|worker| kinds.contains(&worker.status.worker)) {
        let switch = if worker.is_on { "on" } else { "off" };
        let state = worker_text::format_state(&worker.status, worker.pending);
        say!("{:<24} {switch}: {state}", worker.status.worker.as_str());
    }
    Ok(())
}
