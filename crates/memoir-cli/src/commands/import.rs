//! `/import`: histories of other programs.

use async_trait::async_trait;
use clap::Parser;

use super::{Command, Next, parsing::parse};
use crate::{app::App, args::ImportCommand, failure::Failure, importing, repl};

pub(super) struct Import;

/// The same arguments as on the command line.
#[derive(Debug, Parser)]
#[command(name = "/import", no_binary_name = true, disable_help_flag = true)]
struct Arguments {
    #[command(subcommand)]
    command: ImportCommand,
}

#[async_trait]
impl Command for Import {
    fn name(&self) -> &'static str {
        "import"
    }

    fn arguments(&self) -> &'static str {
        "[found | claude-code [FILE…] | codex [FILE…] | chatgpt FILE… | claude FILE… | memoir FILE… | whatsapp FILE]"
    }

    fn summary(&self) -> &'static str {
        "Bring in histories of other agents; alone, show those found."
    }

    fn needs_memory(&self) -> bool {
        true
    }

    async fn run(&self, arguments: &str, app: &mut App) -> Result<Next, Failure> {
        let parsed: Arguments = parse("import", arguments, "found")?;
        importing::run(parsed.command, app.agent.store.as_ref(), &app.zone).await?;
        // It may have added to the conversation that is open, and that is not another session's doing.
        app.state.conversation.refresh(app.agent.store.as_ref()).await?;
        repl::let_workers_go_on(app).await;
        Ok(Next::Prompt)
    }
}
