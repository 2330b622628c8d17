//! `/models`: lists the catalog and sets the model for each task.

use memoir_runtime::{
    Failure, Session,
    operations::models::{self, SetModelRequest},
    settings::ModelTask,
};

use super::{Next, RunCommand, model};
use crate::{
    app::App,
    args::{model_name, one_of},
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
    /// Show a model
    Show {
        /// Model to show
        #[arg(value_name = "MODEL", add = ValueSource::MODELS)]
        model: String,
    },
    /// Set the model to use from now on
    Set {
        /// Model to use, or `auto` to choose one automatically
        #[arg(value_name = "MODEL", add = ValueSource::MODELS)]
        model: String,
        /// Task to use the model for
        #[arg(value_name = "TASK", default_value = "chat", value_parser = one_of(ModelTask::ALL, ModelTask::as_str))]
        task: ModelTask,
    },
}

impl RunCommand for Arguments {
    async fn run(self, App { session, .. }: &mut App) -> Result<Next, Failure> {
        let text = match self.action.unwrap_or(Action::List) {
            Action::List => list(session).await?,
            Action::Show { model } => render::models::show(&models::show(&model, session.runtime.models())?),
            Action::Set { model, task: ModelTask::Chat } => model::switch(&model, session).await?,
            Action::Set { model, task } => set(&model, task, session).await?,
        };
        say!("{}", text.trim_end());
        Ok(Next::Prompt)
    }
}

async fn list(session: &Session) -> Result<String, Failure> {
    let models = session.runtime.models();
    let mut text = render::models::list(&models::list(models), &session.choice.name);
    if let Some(name) = models.summarizer(session.store()).await? {
        text.push_str(&format!("Summarizer: {name}.\n"));
    }
    text.push_str(&format!("Embedding model: {}.\n", session.recall().embedder.name()));
    Ok(text)
}

/// Sets the model of a background task.
async fn set(name: &str, task: ModelTask, session: &mut Session) -> Result<String, Failure> {
    let report = session.set_model(&SetModelRequest { task, model: model_name(name) }).await?;
    let mut text = render::models::set(&report);
    let pending =
        if task == ModelTask::Embedder { session.recall().count_unembedded_messages().await? } else { 0 };
    if pending > 0 {
        text.push_str(&format!(
            " {} will be embedded in the background. Until then, old messages can be found by keyword only.",
            render::pluralize(pending, "text", "texts")
        ));
    }
    print_notices(&std::mem::take(&mut session.notices));
    Ok(text)
}
