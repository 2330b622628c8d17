//! `/rag`: whether memory is asked, and trying it.

use anstream::println;
use async_trait::async_trait;
use memoir_recall::Asking;

use super::{Command, Next};
use crate::{
    app::{App, recall},
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
        "[status | on | off | test QUERY]"
    }

    fn summary(&self) -> &'static str {
        "Switch recall on or off, or see what it would find."
    }

    async fn run(&self, arguments: &str, app: &mut App) -> Result<Next, Failure> {
        let (word, rest) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
        match (word, rest.trim()) {
            ("" | "status", "") => {
                println!("Recall is {}.", if app.agent.recall.is_some() { "on" } else { "off" })
            }
            (switch @ ("on" | "off"), "") => {
                let now = app.agent.clock.now();
                app.agent.store.set_setting(settings::RECALL, Some(switch), now).await?;
                app.agent.recall = (switch == "on").then(|| recall(app.agent.store.clone(), &app.zone));
                println!("Recall is {switch} from now on.");
            }
            ("test", query) if !query.is_empty() => {
                let recall = recall(app.agent.store.clone(), &app.zone);
                let passages = recall
                    .passages(query, Asking::Prompt, app.conversation.id())
                    .await
                    .map_err(Failure::from)?;
                println!("{}", search_view::text(&passages, &app.zone).trim_end());
            }
            _ => {
                return Err(Failure::new(Kind::Usage, format!("/rag {arguments} is not understood"))
                    .hint("Use /rag, /rag on, /rag off, or /rag test QUERY."));
            }
        }
        Ok(Next::Prompt)
    }
}
