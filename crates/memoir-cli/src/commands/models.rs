//! `/models`: the catalogue, and which model is used for what.

use std::sync::Arc;

use anstream::println;

use super::{Next, RunCommand, model};
use memoir_runtime::{
    failure::Failure,
    operations::models::{self, SetModelRequest},
    settings::ModelTask,
};

use crate::{
    app::App,
    args::{TaskArgument, model_name},
    completion_source::ValueSource,
    render,
    subcommands::print_notices,
};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List the known models
    List,
    /// Show one model
    Show {
        /// Model to show
        #[arg(value_name = "MODEL", add = ValueSource::Models)]
        model: String,
    },
    /// Set the model that is used from now on
    Set {
        /// Model to use, or `auto`
        #[arg(value_name = "MODEL", add = ValueSource::Models)]
        model: String,
        /// What it is used for
        #[arg(value_name = "TASK", value_enum, default_value_t = TaskArgument::Chat)]
        task: TaskArgument,
    },
}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        let text = match self.action.unwrap_or(Action::List) {
            Action::List => list(app).await?,
            Action::Show { model } => {
                render::models::show(&models::show(&model, app.session.runtime.models())?)
            }
            Action::Set { model, task: TaskArgument::Chat } => model::switch(&model, app).await?,
            Action::Set { model, task } => set(&model, task.into(), app).await?,
        };
        println!("{}", text.trim_end());
        Ok(Next::Prompt)
    }
}

async fn list(app: &App) -> Result<String, Failure> {
    let report = models::list(app.session.runtime.models());
    let mut text = render::models::list(&report, &app.session.choice.name);
    if let Some(name) = app.session.runtime.models().summarizer(app.session.agent.store.as_ref()).await? {
        text.push_str(&format!("Summaries are made by {name}.\n"));
    }
    text.push_str(&format!("Meaning is told by {}.\n", app.session.recall().embedder.name()));
    Ok(text)
}

/// Sets a model for background work, and connects it.
async fn set(name: &str, task: ModelTask, app: &mut App) -> Result<String, Failure> {
    let (store, now) = (Arc::clone(&app.session.agent.store), app.session.agent.clock.now());
    let request = SetModelRequest { task, model: model_name(name) };
    let report = models::set(&request, app.session.runtime.models(), store.as_ref(), now).await?;
    let mut text = render::models::set(&report);
    if task == ModelTask::Summarizer {
        app.session.reconnect_summarizer().await?;
    } else {
        app.session.reconnect_embedder().await?;
        match app.session.recall().waiting().await? {
            0 => {}
            waiting => text.push_str(&format!(
                " {waiting} messages get their vectors in the background; until then they are found by words."
            )),
        }
    }
    print_notices(&std::mem::take(&mut app.session.notices));
    Ok(text)
}
