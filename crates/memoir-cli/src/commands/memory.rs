//! `/memory`: what is remembered, in the user's hands.

use async_trait::async_trait;
use clap::Parser;

use super::{Command, Next, parsing::parse};
use crate::{
    app::App,
    args::MemoryCommand,
    failure::Failure,
    memory_view::{self, Keeper},
};

pub(super) struct Memory;

/// The same arguments as on the command line.
#[derive(Debug, Parser)]
#[command(name = "/memory", no_binary_name = true, disable_help_flag = true)]
struct Arguments {
    #[command(subcommand)]
    command: MemoryCommand,
}

#[async_trait]
impl Command for Memory {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn arguments(&self) -> &'static str {
        "[show [ID] | edit BLOCK [TEXT] | undo | search QUERY | pin ID | unpin ID | wrong ID | right ID | release N | forget]"
    }

    fn summary(&self) -> &'static str {
        "Show, edit, search, pin and forget what is remembered."
    }

    async fn run(&self, arguments: &str, app: &mut App) -> Result<Next, Failure> {
        // A text is taken as it stands, quotation marks and all.
        let quoted = arguments.strip_prefix("edit ").and_then(|rest| rest.trim_start().split_once(' '));
        let quoted = quoted
            .and_then(|(block, text)| Some(format!("edit {block} -- {}", shlex::try_quote(text).ok()?)));
        let parsed: Arguments = parse("memory", quoted.as_deref().unwrap_or(arguments), "show")?;
        let keeper = Keeper {
            recall: app.recall(),
            home: &app.home,
            conversation: app.conversation.id(),
            command: "/memory",
        };
        memory_view::run(parsed.command, &keeper).await?;
        Ok(Next::Prompt)
    }
}
