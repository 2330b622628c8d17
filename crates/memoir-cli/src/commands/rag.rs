//! `/rag`: switches, configures and tests recall.

use super::{Next, RunCommand};
use memoir_runtime::{
    Failure,
    operations::search::{RecallRequest, preview_recall},
    settings,
};

use crate::{app::App, completion_source::ValueSource, render};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Show whether recall is on, and how much of memory is embedded
    Status,
    /// Recall passages from memory for every prompt
    On,
    /// Stop recalling passages
    Off,
    /// List the recall settings
    Config,
    /// Change a setting permanently
    Set {
        /// Setting to change
        #[arg(value_name = "KEY", add = ValueSource::RECALL_SETTINGS)]
        key: String,
        /// New value, or `default` for the value from the config
        #[arg(value_name = "VALUE", required = true, num_args = 1..)]
        value: Vec<String>,
    },
    /// Show what recall would add to a prompt
    Test {
        /// Prompt to test
        #[arg(value_name = "QUERY", required = true, num_args = 1.., add = ValueSource::FreeText)]
        query: Vec<String>,
    },
}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        match self.action.unwrap_or(Action::Status) {
            Action::Status => status(app).await?,
            Action::On => switch("on", app).await?,
            Action::Off => switch("off", app).await?,
            Action::Config => {
                say!("{}", settings::list(&app.session.recall().settings));
                say!("\nChange a setting with `/rag set KEY VALUE`; reset it with `/rag set KEY default`.");
            }
            Action::Set { key, value } => {
                let setting = app.session.set_recall(&key, &value.join(" ")).await?;
                say!("{} is now {}.", setting.key, setting.value);
            }
            Action::Test { query } => {
                let conversation = app.session.conversation();
                let request = RecallRequest { prompt: query.join(" "), conversation };
                let report = preview_recall(&request, app.session.recall()).await;
                say!("{}", render::search::report(&report, app.session.runtime.zone()).trim_end());
            }
        }
        Ok(Next::Prompt)
    }
}

async fn switch(state: &str, app: &mut App) -> Result<(), Failure> {
    app.session.set_recall("rag.enabled", state).await?;
    say!("Recall is now {state}.");
    Ok(())
}

async fn status(app: &App) -> Result<(), Failure> {
    let (recall, is_on) = (app.session.recall(), app.session.state.recall.settings.enabled);
    let unembedded = recall.count_unembedded_messages().await.map_err(Failure::from)?;
    let state = if is_on { "on" } else { "off" };
    say!("Recall is {state}. Embedding model: {}.", recall.embedder.name());
    match unembedded {
        0 => say!("All messages are embedded."),
        unembedded => say!("{}", memoir_recall::describe_backlog(unembedded)),
    }
    Ok(())
}
