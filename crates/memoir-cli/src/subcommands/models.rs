//! `memoir models`.

use std::io::{Write as _, stdout};

use memoir_core::{Clock as _, SystemClock};
use memoir_runtime::{
    failure::Failure,
    models::Models,
    operations::models::{self, SetModelRequest},
};
use memoir_store::Store;

use crate::{
    args::{ModelsCommand, model_name},
    render,
};

pub(super) async fn run(command: ModelsCommand, models: &Models, store: &dyn Store) -> Result<(), Failure> {
    let text = match command {
        ModelsCommand::List { json: true } => render::json(&models::list(models))?,
        ModelsCommand::List { json: false } => {
            let choice = models.choose(None, store).await?;
            render::models::list(&models::list(models), &choice.name)
        }
        ModelsCommand::Show { name, json: true } => render::json(&models::show(&name, models)?)?,
        ModelsCommand::Show { name, json: false } => render::models::show(&models::show(&name, models)?),
        ModelsCommand::Set { name, task } => {
            let request = SetModelRequest { task: task.into(), model: model_name(&name) };
            render::models::set(&models::set(&request, models, store, SystemClock.now()).await?)
        }
    };
    Ok(writeln!(stdout(), "{}", text.trim_end())?)
}
