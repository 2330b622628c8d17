//! `/memory`: what is remembered, in the user's hands.

use anstream::println;
use async_trait::async_trait;
use clap::Parser;
use memoir_agent::CurrentConversation;
use memoir_core::Recalled;

use super::{Command, Next, parsing::parse};
use crate::{
    app::App,
    args::MemoryCommand,
    failure::{Failure, Kind},
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
        "[show [ID] | edit BLOCK [TEXT] | undo | search QUERY | pin ID | unpin ID | wrong ID | right ID | release N | forget [--exchange ID | --conversation ID | --message ID | --document NAME]]"
    }

    fn summary(&self) -> &'static str {
        "Show, edit, search, pin and forget what is remembered."
    }

    async fn run(&self, arguments: &str, app: &mut App) -> Result<Next, Failure> {
        if let Some(number) = arguments.strip_prefix("release ") {
            let number = number.trim().parse().map_err(|_| {
                Failure::new(
                    Kind::Usage,
                    format!("\"{}\" is not the number of an instruction", number.trim()),
                )
                .hint("/memory show lists those of this conversation.")
            })?;
            memory_view::release(number, &keeper(app)).await?;
            return Ok(Next::Prompt);
        }
        // A text is taken as it stands, quotation marks and all.
        let quoted = as_it_stands(arguments);
        let parsed: Arguments = parse("memory", quoted.as_deref().unwrap_or(arguments), "show")?;
        let forgets = matches!(parsed.command, MemoryCommand::Forget(_));
        memory_view::run(parsed.command, &keeper(app)).await?;
        if forgets {
            // It may quote what is gone.
            app.last_recalled = Recalled::default();
        }
        // The one that goes on may have been forgotten.
        if let Some(id) = app.state.conversation.id()
            && app.agent.store.conversation(id).await?.is_none()
        {
            app.enter(CurrentConversation::begin(app.project.clone())).await;
            println!("This conversation is forgotten; a new one begins.");
        }
        Ok(Next::Prompt)
    }
}

fn keeper(app: &App) -> Keeper<'_> {
    Keeper {
        recall: app.recall(),
        home: &app.home,
        conversation: app.state.conversation.id(),
        command: "/memory",
    }
}

/// The words of `edit BLOCK TEXT` and `search QUERY` with the text as one.
fn as_it_stands(arguments: &str) -> Option<String> {
    let (word, rest) = arguments.split_once(' ')?;
    let (before, text) = match word {
        "edit" => rest.trim_start().split_once(' ')?,
        "search" if !rest.contains("--") => ("", rest),
        _ => return None,
    };
    Some(format!("{word} {before} -- {}", shlex::try_quote(text.trim()).ok()?))
}
