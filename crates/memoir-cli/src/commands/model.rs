//! `/model`: who answers, and changing it.

use std::sync::Arc;

use anstream::println;

use super::{Next, RunCommand};
use memoir_runtime::{
    failure::Failure,
    models::{ModelChoice, parse},
    operations::models::{self, SetModelRequest},
    settings::ModelTask,
};

use crate::{app::App, args::model_name, completion_source::ValueSource, render};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Model to use from now on, or `auto`
    #[arg(value_name = "MODEL", add = ValueSource::Models)]
    model: Option<String>,
}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        match self.model {
            None => println!("{} ({})", app.session.choice.name, app.session.choice.reason),
            Some(name) => println!("{}", switch(&name, app).await?),
        }
        Ok(Next::Prompt)
    }
}

/// Lets `name` answer, now and from now on. A model that cannot be called is not set.
pub(super) async fn switch(name: &str, app: &mut App) -> Result<String, Failure> {
    let store = Arc::clone(&app.session.agent.store);
    let request = SetModelRequest { task: ModelTask::Chat, model: model_name(name) };
    if request.model.is_some() {
        app.session.switch_model(ModelChoice::new(parse(name, "")?, "set with /model")).await?;
    }
    let (models, now) = (app.session.runtime.models(), app.session.agent.clock.now());
    let report = models::set(&request, models, store.as_ref(), now).await?;
    if request.model.is_some() {
        return Ok(render::models::set(&report));
    }
    let choice = app.session.runtime.models().choose(None, store.as_ref()).await?;
    app.session.switch_model(choice).await?;
    Ok(format!("{} answers ({}).", app.session.choice.name, app.session.choice.reason))
}
