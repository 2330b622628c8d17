//! `/models`: the catalogue, and which model is used for what.

use anstream::println;
use async_trait::async_trait;

use super::{Command, Next, model};
use crate::{
    app::App,
    failure::{Failure, Kind},
    model_view,
    settings::Task,
};

pub(super) struct Models;

#[async_trait]
impl Command for Models {
    fn name(&self) -> &'static str {
        "models"
    }

    fn arguments(&self) -> &'static str {
        "[list | show MODEL | set MODEL [summarizer | embedder]]"
    }

    fn summary(&self) -> &'static str {
        "List the known models, show one, or set one for a task."
    }

    async fn run(&self, arguments: &str, app: &mut App) -> Result<Next, Failure> {
        let words: Vec<&str> = arguments.split_whitespace().collect();
        let text = match words.as_slice() {
            [] | ["list"] => list(app).await?,
            ["show", name] => model_view::show(&app.models, name)?,
            ["set", name] | ["set", name, "chat"] => model::switch(name, app).await?,
            ["set", name, "summarizer"] => {
                let (store, now) = (app.agent.store.as_ref(), app.agent.clock.now());
                let text = model_view::set(name, Task::Summarizer, &app.models, store, now).await?;
                app.summarizer = app.models.connect_summarizer(store).await?;
                app.restart_workers().await;
                text
            }
            ["set", name, "embedder"] => {
                let (store, now) = (app.agent.store.as_ref(), app.agent.clock.now());
                let mut text = model_view::set(name, Task::Embedder, &app.models, store, now).await?;
                app.switch_embedder().await?;
                match app.recall().waiting().await? {
                    0 => {}
                    waiting => text.push_str(&format!(
                        " {waiting} messages get their vectors in the background; until then they are found by words."
                    )),
                }
                text
            }
            _ => {
                return Err(Failure::new(Kind::Usage, format!("/models {arguments} is not understood"))
                    .hint("Use /models, /models show NAME, or /models set NAME [summarizer | embedder]."));
            }
        };
        println!("{}", text.trim_end());
        Ok(Next::Prompt)
    }
}

async fn list(app: &App) -> Result<String, Failure> {
    let mut text = model_view::list(&app.models, &app.choice.name);
    if let Some(name) = app.models.summarizer(app.agent.store.as_ref()).await? {
        text.push_str(&format!("Summaries are made by {name}.\n"));
    }
    text.push_str(&format!("Meaning is told by {}.\n", app.recall().embedder.name()));
    Ok(text)
}
