//! `/context`: shows the size of each context layer, and changes the context settings.

use std::fmt::Write as _;

use memoir_agent::ContextReport;
use memoir_core::Usd;

use super::{Next, RunCommand};
use memoir_runtime::{Failure, settings};

use crate::{app::App, completion_source::ValueSource};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// List the context settings
    Config,
    /// Change a setting permanently
    Set {
        /// Setting to change
        #[arg(value_name = "KEY", add = ValueSource::CONTEXT_SETTINGS)]
        key: String,
        /// New value, or `default` for the value from the config
        #[arg(value_name = "VALUE", required = true, num_args = 1..)]
        value: Vec<String>,
    },
}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        match self.action {
            None => show(app).await?,
            Some(Action::Config) => {
                say!("{}", settings::list(&app.session.state.context));
                say!(
                    "\nChange a setting with `/context set KEY VALUE`; reset it with `/context set KEY default`."
                );
            }
            Some(Action::Set { key, value }) => {
                let setting = app.session.set_context(&key, &value.join(" ")).await?;
                say!("{} is now {}.", setting.key, setting.value);
            }
        }
        Ok(Next::Prompt)
    }
}

async fn show(app: &App) -> Result<(), Failure> {
    if !app.session.has_chat_model() {
        say!("{} uses no context. It answers with passages from memory.", app.session.choice.name);
        return Ok(());
    }
    let report = match &app.session.last_context {
        Some(report) => {
            say!("Last request:");
            report.clone()
        }
        None => {
            say!("Next request, without your prompt:");
            app.session.agent.preview(&app.session.state, "").await?
        }
    };
    say!("{}", table(&report, |tokens| app.session.cost_of_sending(tokens)));
    Ok(())
}

fn table(report: &ContextReport, cost: impl Fn(u64) -> Option<Usd>) -> String {
    let mut text = String::new();
    let mut line = |name: &str, tokens: u64, cost: &str| {
        let share = tokens * 1000 / report.max_tokens.max(1);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {name:<20} {tokens:>8} {:>4}.{} %  {cost}", share / 10, share % 10);
    };
    let price = |tokens| cost(tokens).map_or_else(|| "price unknown".to_owned(), |cost| cost.to_string());
    for (layer, tokens) in &report.layers {
        line(layer.name(), *tokens, &price(*tokens));
    }
    line("total", report.request_tokens(), &price(report.request_tokens()));
    line("reserved for answer", report.answer_tokens, "");
    line("budget", report.max_tokens, "");
    text
}

#[cfg(test)]
mod tests {
    use memoir_agent::Layer;

    use super::*;

    #[test]
    fn table_shows_tokens_share_and_cost_of_each_layer() {
        let report = ContextReport {
            max_tokens: 32_000,
            answer_tokens: 4096,
            layers: vec![(Layer::System, 100), (Layer::Window, 16_000)],
        };
        let text = table(&report, |tokens| Some(Usd::from_nanos(i64::try_from(tokens).unwrap_or(0) * 1000)));
        insta::assert_snapshot!(text, @r"
          system prompt             100    0.3 %  $0.0001
          window                  16000   50.0 %  $0.0160
          total                   16100   50.3 %  $0.0161
          reserved for answer      4096   12.8 %  
          budget                  32000  100.0 %  
        ");
    }
}
