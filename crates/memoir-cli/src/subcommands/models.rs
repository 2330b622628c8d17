//! `memoir models`.

use std::io::{Write as _, stdout};

use memoir_core::{Clock as _, SystemClock};
use memoir_store::Store;

use memoir_runtime::{failure::Failure, models::Models};

use crate::{args::ModelsCommand, model_view};

pub(super) async fn run(command: ModelsCommand, models: &Models, store: &dyn Store) -> Result<(), Failure> {
    let text = match command {
        ModelsCommand::List { json: true } => model_view::list_json(models).to_string(),
        ModelsCommand::List { json: false } => {
            let choice = models.choose(None, store).await?;
            model_view::list(models, &choice.name)
        }
        ModelsCommand::Show { name, json: true } => model_view::show_json(models, &name)?.to_string(),
        ModelsCommand::Show { name, json: false } => model_view::show(models, &name)?,
        ModelsCommand::Set { name, task } => {
            model_view::set(&name, task.into(), models, store, SystemClock.now()).await?
        }
    };
    Ok(writeln!(stdout(), "{}", text.trim_end())?)
}
