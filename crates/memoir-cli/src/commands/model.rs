//! `/model`: who answers, and changing it.

use std::sync::Arc;

use anstream::println;

use super::{Next, Run};
use memoir_runtime::{
    failure::Failure,
    models::{Choice, parse},
    settings::ModelTask,
};

use crate::{app::App, completion_source::Source, model_view};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Model to use from now on, or `auto`
    #[arg(value_name = "MODEL", add = Source::Models)]
    model: Option<String>,
}

impl Run for Arguments {
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
    if name != model_view::AUTO {
        app.session.switch_model(Choice::new(parse(name, "")?, "set with /model")).await?;
        return model_view::set(
            name,
            ModelTask::Chat,
            app.session.runtime.models(),
            store.as_ref(),
            app.session.agent.clock.now(),
        )
        .await;
    }
    model_view::set(
        name,
        ModelTask::Chat,
        app.session.runtime.models(),
        store.as_ref(),
        app.session.agent.clock.now(),
    )
    .await?;
    let choice = app.session.runtime.models().choose(None, store.as_ref()).await?;
    app.session.switch_model(choice).await?;
    Ok(format!("{} answers ({}).", app.session.choice.name, app.session.choice.reason))
}
