//! `/model`: who answers, and changing it.

use std::sync::Arc;

use anstream::println;
use async_trait::async_trait;

use super::{Command, Next};
use crate::{
    app::App,
    failure::Failure,
    model_view,
    models::{Choice, parse},
    settings::Task,
};

pub(super) struct Model;

#[async_trait]
impl Command for Model {
    fn name(&self) -> &'static str {
        "model"
    }

    fn arguments(&self) -> &'static str {
        "[MODEL]"
    }

    fn summary(&self) -> &'static str {
        "Show who answers, or let another model answer from now on."
    }

    async fn run(&self, arguments: &str, app: &mut App) -> Result<Next, Failure> {
        if arguments.is_empty() {
            println!("{} ({})", app.choice.name, app.choice.reason);
        } else {
            println!("{}", switch(arguments, app).await?);
        }
        Ok(Next::Prompt)
    }
}

/// Lets `name` answer, now and from now on. A model that cannot be called is not set.
pub(super) async fn switch(name: &str, app: &mut App) -> Result<String, Failure> {
    let store = Arc::clone(&app.agent.store);
    if name != model_view::AUTO {
        app.switch_model(Choice::new(parse(name, "")?, "set with /model")).await?;
        return model_view::set(name, Task::Chat, &app.models, store.as_ref(), app.agent.clock.now()).await;
    }
    model_view::set(name, Task::Chat, &app.models, store.as_ref(), app.agent.clock.now()).await?;
    let choice = app.models.choose(None, store.as_ref()).await?;
    app.switch_model(choice).await?;
    Ok(format!("{} answers ({}).", app.choice.name, app.choice.reason))
}
