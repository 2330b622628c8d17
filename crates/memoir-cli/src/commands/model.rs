//! `/model`: shows or switches the chat model.

use memoir_runtime::{Failure, Session, operations::models::SetModelRequest, settings::ModelTask};

use super::{Next, RunCommand};
use crate::{app::App, args::model_name, completion_source::ValueSource, render};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Model to use from now on, or `auto` to choose one automatically
    #[arg(value_name = "MODEL", add = ValueSource::MODELS)]
    model: Option<String>,
}

impl RunCommand for Arguments {
    async fn run(self, App { session, .. }: &mut App) -> Result<Next, Failure> {
        match self.model {
            None => say!("{} ({})", session.choice.name, session.choice.reason),
            Some(name) => say!("{}", switch(&name, session).await?),
        }
        Ok(Next::Prompt)
    }
}

/// Switches to the model `name`, in this conversation and later ones.
pub(super) async fn switch(name: &str, session: &mut Session) -> Result<String, Failure> {
    let request = SetModelRequest { task: ModelTask::Chat, model: model_name(name) };
    let report = session.set_model(&request).await?;
    Ok(match request.model {
        Some(_) => render::models::set(&report),
        None => format!("The chat model is now {} ({}).", session.choice.name, session.choice.reason),
    })
}
