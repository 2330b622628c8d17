//! `/rag`: whether memory is asked, how, and trying it.

use anstream::println;
use async_trait::async_trait;
use memoir_recall::{Asking, Setting, SettingError};
use memoir_store::Filter;

use super::{Command, Next};
use crate::{
    app::App,
    failure::{Failure, Kind},
    recall, search_view,
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
        "Switch recall on or off, see and change how memory is asked, or try it."
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
                let found = app.recall().ask(query, Asking::Prompt, elsewhere).await;
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
        waiting => println!("{}", memoir_recall::behind(waiting)),
    }
    Ok(())
}

fn config(app: &App) {
    let settings = &app.recall().settings;
    for setting in Setting::all() {
        println!("{:<32} {:<10} {}", setting.key, setting.show(settings), setting.summary);
    }
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
async fn change(key: &str, value: &str, app: &mut App) -> Result<&'static Setting, Failure> {
    let wrong = |error: SettingError| Failure::new(Kind::Usage, error.to_string()).hint(HINT);
    let setting = Setting::find(key).map_err(wrong)?;
    let now = app.agent.clock.now();
    let store = app.agent.store.clone();
    if value.trim() == "default" {
        store.set_setting(setting.key, None, now).await?;
        app.agent.tool_context.recall.settings = recall::settings(store.as_ref(), &app.models.config).await?;
    } else {
        let mut settings = app.recall().settings.clone();
        setting.change(&mut settings, value).map_err(wrong)?;
        store.set_setting(setting.key, Some(value.trim()), now).await?;
        app.agent.tool_context.recall.settings = settings;
    }
    app.agent.recall = app.recall().settings.enabled.then(|| app.recall().clone());
    Ok(setting)
}
