//! `/model`: who answers, and changing it.

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
        "[NAME]"
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

/// Lets `name` answer, now and from now on. A model that cannot be reached is not set.
pub(super) async fn switch(name: &str, app: &mut App) -> Result<String, Failure> {
    let choice = if name == "auto" { None } else { Some(Choice::new(parse(name, "")?, "set with /model")) };
    if let Some(choice) = choice {
        app.switch_model(choice)?;
    }
    model_view::set(name, Task::Chat, app.agent.store.as_ref(), app.agent.clock.now()).await
}
