//! `/copy`: the last answer, into the clipboard of whoever sits at the terminal.

use std::io::{Write as _, stdout};

use anstream::println;
use base64::{Engine as _, engine::general_purpose::STANDARD};

use super::{Next, RunCommand};
use memoir_markdown::last_code_block;
use memoir_runtime::Failure;

use crate::app::App;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// What to copy; all of it if left out
    part: Option<CopiedPart>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum CopiedPart {
    /// The last code block
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
                Failure::usage("there is no code in the last answer").hint("/copy takes all of it.")
            })?,
        };
        // The terminal does it, here or at the other end of ssh (OSC 52).
        write!(stdout(), "\x1b]52;c;{}\x07", STANDARD.encode(&text))?;
        stdout().flush()?;
        let count = text.chars().count();
        println!("{count} characters were handed to your terminal's clipboard.");
        Ok(Next::Prompt)
    }
}
