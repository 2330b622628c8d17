//! `/rag`: whether memory is asked, how, and trying it.

use anstream::{print, println};

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
    /// Show whether memory is searched, and how much of it is indexed
    Status,
    /// Search memory for every prompt from now on
    On,
    /// Stop searching memory
    Off,
    /// List the settings of recall
    Config,
    /// Change a setting for good
    Set {
        /// Setting to change
        #[arg(value_name = "KEY", add = ValueSource::RECALL_SETTINGS)]
        key: String,
        /// New value, or `default`
        #[arg(value_name = "VALUE", required = true, num_args = 1..)]
        value: Vec<String>,
    },
    /// Show what memory would add to a prompt
    Test {
        /// Prompt to try
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
                print!("{}", settings::list(&app.session.recall().settings));
                println!(
                    "\nChange one with /rag set KEY VALUE; /rag set KEY default goes back to the config's."
                );
            }
            Action::Set { key, value } => {
                let changed = app.session.set_recall(&key, &value.join(" ")).await?;
                println!("{} is {} from now on.", changed.key, changed.value);
            }
            Action::Test { query } => {
                let conversation = app.session.conversation();
                let request = RecallRequest { prompt: query.join(" "), conversation };
                let report = preview_recall(&request, app.session.recall()).await;
                println!("{}", render::search::report(&report, app.session.runtime.zone()).trim_end());
            }
        }
        Ok(Next::Prompt)
    }
}

async fn switch(state: &str, app: &mut App) -> Result<(), Failure> {
    app.session.set_recall("rag.enabled", state).await?;
    println!("Recall is {state} from now on.");
    Ok(())
}

async fn status(app: &App) -> Result<(), Failure> {
    let (recall, on) = (app.session.recall(), app.session.state.recall.settings.enabled);
    let waiting = recall.waiting().await.map_err(Failure::from)?;
    println!("Recall is {}, with vectors of {}.", if on { "on" } else { "off" }, recall.embedder.name());
    match waiting {
        0 => println!("Everything that was said is indexed."),
        waiting => println!("{}", memoir_recall::describe_backlog(waiting)),
    }
    Ok(())
}
