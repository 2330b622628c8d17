//! `/rag`: whether memory is asked, how, and trying it.

use anstream::println;
use async_trait::async_trait;
use memoir_recall::{Asking, Setting};
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
        "Switch recall on or off, see and change how memory is asked, or try it."
    }

    async fn run(&self, arguments: &str, app: &mut App) -> Result<Next, Failure> {
        let (word, rest) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
        match (word, rest.trim()) {
            ("" | "status", "") => status(app).await?,
            (switch @ ("on" | "off"), "") => {
                let now = app.agent.clock.now();
                app.agent.store.set_setting(settings::RECALL, Some(switch), now).await?;
                app.agent.recall = (switch == "on").then(|| app.recall().clone());
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
    println!("\nChange one with /rag set KEY VALUE; /rag set KEY default goes back.");
}

async fn set(arguments: &str, app: &mut App) -> Result<(), Failure> {
    let hint = "See /rag config for what there is.";
    let Some((key, value)) = arguments.split_once(char::is_whitespace) else {
        return Err(Failure::new(Kind::Usage, "/rag set takes a key and a value").hint(hint));
    };
    let wrong = |error: memoir_recall::SettingError| Failure::new(Kind::Usage, error.to_string()).hint(hint);
    let setting = Setting::find(key).map_err(wrong)?;
    let recall = &mut app.agent.tool_context.recall;
    let value = match value.trim() {
        "default" => setting.show(&memoir_recall::Settings::default()),
        value => value.to_owned(),
    };
    setting.change(&mut recall.settings, &value).map_err(wrong)?;
    let now = app.agent.clock.now();
    app.agent.store.set_setting(setting.key, Some(&value), now).await?;
    if let Some(asked) = &mut app.agent.recall {
        asked.settings = recall.settings.clone();
    }
    println!("{} is {} from now on.", setting.key, setting.show(&recall.settings));
    Ok(())
}
