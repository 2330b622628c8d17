//! `/context`: what is sent, layer by layer.

use std::fmt::Write as _;

use anstream::{print, println};
use async_trait::async_trait;
use memoir_agent::ContextReport;
use memoir_core::{Usage, Usd};

use super::{Command, Next};
use crate::{
    app::App,
    failure::{Failure, Kind},
    settings,
};

pub(super) struct Context;

const HINT: &str = "See /context config for what there is.";

#[async_trait]
impl Command for Context {
    fn name(&self) -> &'static str {
        "context"
    }

    fn arguments(&self) -> &'static str {
        "[config | set KEY VALUE]"
    }

    fn summary(&self) -> &'static str {
        "Show what is sent, layer by layer; change how much."
    }

    async fn run(&self, arguments: &str, app: &mut App) -> Result<Next, Failure> {
        let (word, rest) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
        match (word, rest.trim().split_once(char::is_whitespace)) {
            ("", None) => show(app).await?,
            ("config", None) => {
                print!("{}", settings::list(&app.state.context));
                println!(
                    "\nChange one with /context set KEY VALUE; /context set KEY default goes back to the config's."
                );
            }
            ("set", Some((key, value))) => {
                let (config, store) = (&app.models.config, app.agent.store.as_ref());
                let (setting, changed) =
                    settings::change((key, value.trim()), &app.state.context, config, store, HINT).await?;
                app.state.context = changed;
                println!("{} is {} from now on.", setting.key, setting.show(&app.state.context));
            }
            _ => {
                return Err(Failure::new(Kind::Usage, format!("/context {arguments} is not understood"))
                    .hint("Use /context, /context config or /context set KEY VALUE."));
            }
        }
        Ok(Next::Prompt)
    }
}

async fn show(app: &App) -> Result<(), Failure> {
    if app.state.model.provenance() == memoir_core::Provenance::Derived {
        println!("{} reads no context: it answers with what memory says.", app.choice.name);
        return Ok(());
    }
    let report = match &app.last_context {
        Some(report) => {
            println!("The last request:");
            report.clone()
        }
        None => {
            println!("Before your next prompt:");
            app.agent.preview(&app.state, "").await?
        }
    };
    print!(
        "{}",
        table(&report, |tokens| {
            app.state.model.cost(&Usage { input_tokens: tokens, ..Usage::default() })
        })
    );
    Ok(())
}

fn table(report: &ContextReport, cost: impl Fn(u64) -> Option<Usd>) -> String {
    let mut text = String::new();
    let mut line = |name: &str, tokens: u64, cost: &str| {
        let share = tokens * 1000 / report.limit.max(1);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {name:<20} {tokens:>8} {:>4}.{} %  {cost}", share / 10, share % 10);
    };
    let price = |tokens| cost(tokens).map_or_else(|| "price unknown".to_owned(), |cost| cost.to_string());
    for (layer, tokens) in &report.layers {
        line(layer.name(), *tokens, &price(*tokens));
    }
    line("in all", report.sent(), &price(report.sent()));
    line("kept for the answer", report.reply, "");
    line("budget", report.limit, "");
    text
}

#[cfg(test)]
mod tests {
    use memoir_agent::Layer;

    use super::*;

    #[test]
    fn layers_come_with_tokens_share_and_cost() {
        let report = ContextReport {
            limit: 32_000,
            reply: 4096,
            layers: vec![(Layer::System, 100), (Layer::Window, 16_000)],
        };
        let shown = table(&report, |tokens| Some(Usd::from_nanos(i64::try_from(tokens).unwrap_or(0) * 1000)));
        insta::assert_snapshot!(shown, @r"
          system prompt             100    0.3 %  $0.0001
          window                  16000   50.0 %  $0.0160
          in all                  16100   50.3 %  $0.0161
          kept for the answer      4096   12.8 %  
          budget                  32000  100.0 %  
        ");
    }
}
