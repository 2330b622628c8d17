//! `/rag`: whether memory is asked, how, and trying it.

use anstream::{print, println};
use memoir_core::setting::Setting;
use memoir_recall::RecallSettings;

use super::{Next, RunCommand};
use memoir_runtime::{
    failure::Failure,
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
        #[arg(value_name = "KEY", add = ValueSource::RecallSettings)]
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
            Action::Config => config(app),
            Action::Set { key, value } => set(&key, &value.join(" "), app).await?,
            Action::Test { query } => {
                let conversation = app.session.state.conversation.id();
                let request = RecallRequest { prompt: query.join(" "), conversation };
                let report = preview_recall(&request, app.session.recall()).await;
                println!("{}", render::search::report(&report, app.session.runtime.zone()).trim_end());
            }
        }
        Ok(Next::Prompt)
    }
}

async fn switch(state: &str, app: &mut App) -> Result<(), Failure> {
    change("rag.enabled", state, app).await?;
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

fn config(app: &App) {
    print!("{}", settings::list(&app.session.recall().settings));
    println!("\nChange one with /rag set KEY VALUE; /rag set KEY default goes back to the config's.");
}

async fn set(key: &str, value: &str, app: &mut App) -> Result<(), Failure> {
    let setting = change(key, value, app).await?;
    println!("{} is {} from now on.", setting.key, setting.show(&app.session.recall().settings));
    Ok(())
}

const HINT: &str = "See /rag config for what there is.";

/// Changes a setting for good.
async fn change(key: &str, value: &str, app: &mut App) -> Result<&'static Setting<RecallSettings>, Failure> {
    let (config, store) = (&app.session.runtime.models().config, app.session.agent.store.as_ref());
    let (setting, changed) =
        settings::change((key, value), &app.session.recall().settings, config, store, HINT).await?;
    app.session.state.recall.settings = changed;
    Ok(setting)
}
