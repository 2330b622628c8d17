//! `/rag`: whether memory is asked, how, and trying it.

use anstream::{print, println};
use async_trait::async_trait;
use memoir_core::setting::Setting;
use memoir_recall::{QueryKind, RecallSettings};
use memoir_store::Filter;

use super::{Command, Next};
use crate::{
    app::App,
    failure::{Failure, Kind},
    search_view, settings,
};

pub(super) struct Rag;

#[async_trait]
impl Command for Rag {
    fn name(&self) -> &'static str {
        "rag"
    }

    fn arguments(&self) -> &'static str {
        "[status | on | off | config | set KEY VALUE | test QUERY]"
    }

    fn summary(&self) -> &'static str {
        "Switch recall on or off, change how memory is asked, try it."
    }

    async fn run(&self, arguments: &str, app: &mut App) -> Result<Next, Failure> {
        let (word, rest) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
        match (word, rest.trim()) {
            ("" | "status", "") => status(app).await?,
            (switch @ ("on" | "off"), "") => {
                change("rag.enabled", switch, app).await?;
                println!("Recall is {switch} from now on.");
            }
            ("config", "") => config(app),
            ("set", setting) if !setting.is_empty() => set(setting, app).await?,
            ("test", query) if !query.is_empty() => {
                let elsewhere = Filter { except: app.conversation.id(), ..Filter::default() };
                let found = app.recall().ask(query, QueryKind::Prompt, elsewhere).await;
                println!("{}", search_view::text(&found, &app.zone).trim_end());
            }
            _ => {
                return Err(Failure::new(Kind::Usage, format!("/rag {arguments} is not understood")).hint(
                    "Use /rag, /rag on, /rag off, /rag config, /rag set KEY VALUE or /rag test QUERY.",
                ));
            }
        }
        Ok(Next::Prompt)
    }
}

async fn status(app: &App) -> Result<(), Failure> {
    let (recall, on) = (app.recall(), app.agent.recall.is_some());
    let waiting = recall.waiting().await.map_err(Failure::from)?;
    println!("Recall is {}, with vectors of {}.", if on { "on" } else { "off" }, recall.embedder.name());
    match waiting {
        0 => println!("Everything that was said is indexed."),
        waiting => println!("{}", memoir_recall::describe_backlog(waiting)),
    }
    Ok(())
}

fn config(app: &App) {
    print!("{}", settings::list(&app.recall().settings));
    println!("\nChange one with /rag set KEY VALUE; /rag set KEY default goes back to the config's.");
}

async fn set(arguments: &str, app: &mut App) -> Result<(), Failure> {
    let Some((key, value)) = arguments.split_once(char::is_whitespace) else {
        return Err(Failure::new(Kind::Usage, "/rag set takes a key and a value").hint(HINT));
    };
    let setting = change(key, value, app).await?;
    println!("{} is {} from now on.", setting.key, setting.show(&app.recall().settings));
    Ok(())
}

const HINT: &str = "See /rag config for what there is.";

/// Changes a setting for good.
async fn change(key: &str, value: &str, app: &mut App) -> Result<&'static Setting<RecallSettings>, Failure> {
    let (config, store) = (&app.models.config, app.agent.store.as_ref());
    let (setting, changed) =
        settings::change((key, value), &app.recall().settings, config, store, HINT).await?;
    app.agent.tool_context.recall.settings = changed;
    app.agent.recall = app.recall().settings.enabled.then(|| app.recall().clone());
    Ok(setting)
}
