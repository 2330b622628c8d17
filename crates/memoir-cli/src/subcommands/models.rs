//! `memoir models`: lists models, shows one or sets the model for a task.

use memoir_core::{Clock as _, SystemClock};
use memoir_runtime::{
    Failure, Runtime,
    operations::models::{self, SetModelRequest},
};

use crate::{
    args::{ModelsCommand, model_name},
    render::{self, print, print_raw, print_report},
};

pub(super) async fn run(command: ModelsCommand, runtime: &Runtime) -> Result<(), Failure> {
    let (models, store) = (runtime.models(), runtime.store().as_ref());
    match command {
        // Only the text marks the current model, and choosing that model may fail.
        ModelsCommand::List { json: true } => print_raw(&render::json(&models::list(models))?),
        ModelsCommand::List { json: false } => {
            let current = models.choose(None, store).await?.name;
            print(render::models::list(&models::list(models), &current).trim_end())
        }
        ModelsCommand::Show { name, json } => {
            print_report(&models::show(&name, models)?, json, render::models::show)
        }
        ModelsCommand::Set { name, task } => {
            let request = SetModelRequest { task, model: model_name(&name) };
            let report = models::set(&request, models, store, SystemClock.now()).await?;
            print(&render::models::set(&report))
        }
    }
}
