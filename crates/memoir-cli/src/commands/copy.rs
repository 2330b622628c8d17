//! `/copy`: copies the last answer to the clipboard of the terminal.

use std::io::{Write as _, stdout};

use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::{Next, RunCommand};
use memoir_markdown::last_code_block;
use memoir_runtime::Failure;

use crate::{app::App, render::pluralize};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Part of the answer to copy; defaults to all of it
    part: Option<CopiedPart>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum CopiedPart {
    /// Last code block of the answer
    Code,
}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        let answer =
            app.session.last_answer().await?.ok_or_else(|| {
                Failure::usage("there is no answer to copy yet").hint("Ask something first.")
            })?;
        let text = match self.part {
            None => answer,
            Some(CopiedPart::Code) => last_code_block(&answer).ok_or_else(|| {
                Failure::usage("the last answer contains no code block").hint("Copy all of it with `/copy`.")
            })?,
        };
        // OSC 52 sets the clipboard of the terminal, which also works over SSH.
        write!(stdout(), "\x1b]52;c;{}\x07", STANDARD.encode(&text))?;
        stdout().flush()?;
        let characters = pluralize(text.chars().count() as u64, "character", "characters");
        say!("Copied {characters} to the clipboard of your terminal.");
        Ok(Next::Prompt)
    }
}
