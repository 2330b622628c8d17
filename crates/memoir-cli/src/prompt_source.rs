//! Reads the prompt from `-p`, stdin or both, or decides to open the REPL.

use std::{
    fs::File,
    io::{self, IsTerminal as _, Read as _, stdin},
    os::{fd::AsFd as _, unix::fs::FileTypeExt as _},
};

use memoir_agent::{MAX_PROMPT_BYTES, TurnError};
use memoir_core::{InputPart, TurnInput};
use memoir_runtime::Failure;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::args::{Args, OutputFormat};

pub(crate) enum ChatMode {
    /// Read prompts interactively until the user exits.
    Repl,
    /// Answer this prompt, then exit.
    Once(TurnInput),
}

/// Returns the chat mode that the command line and stdin select.
pub(crate) fn chat_mode(args: &Args) -> Result<ChatMode, Failure> {
    let is_piped = !stdin().is_terminal();
    let prompt = match &args.prompt {
        Some(prompt) => {
            let mut input = TurnInput::from(prompt);
            input.parts.extend(piped_text()?.filter(|text| !text.trim().is_empty()).map(InputPart::piped));
            input
        }
        None if is_piped => match read_stdin()? {
            text if text.is_empty() => {
                return Err(Failure::usage("there is no prompt: stdin is empty and not a terminal")
                    .hint_on_new_line("Run `memoir -p \"your question\"`, or pipe the question to stdin."));
            }
            text => text.into(),
        },
        None => return check_repl(args).map(|()| ChatMode::Repl),
    };
    if prompt.to_text().trim().is_empty() {
        return Err(Failure::usage("the prompt is empty").hint("Add a question."));
    }
    Ok(ChatMode::Once(prompt))
}

pub(crate) fn demo_mode(question: Option<&str>) -> Result<ChatMode, Failure> {
    match question {
        Some(question) => Ok(ChatMode::Once(question.into())),
        None if stdin().is_terminal() => check_screen().map(|()| ChatMode::Repl),
        None => Err(Failure::usage("the demo needs a terminal or a question")
            .hint("Run `memoir demo \"your question\"`.")),
    }
}

/// Fails if the REPL cannot run with these arguments.
fn check_repl(args: &Args) -> Result<(), Failure> {
    if args.output_format != OutputFormat::Text {
        return Err(Failure::usage("`--output-format` needs a prompt").hint("Add `-p \"your question\"`."));
    }
    check_screen()
}

fn check_screen() -> Result<(), Failure> {
    if !io::stdout().is_terminal() {
        return Err(Failure::usage("the REPL needs a terminal, but stdout is not one")
            .hint("Use `-p \"your question\"`."));
    }
    Ok(())
}

fn read_stdin() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    stdin().take(MAX_PROMPT_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > MAX_PROMPT_BYTES {
        return Err(TurnError::PromptTooLong.into());
    }
    String::from_utf8(bytes).map_err(|_| {
        Failure::usage("the text on stdin is not valid UTF-8")
            .hint("Convert it first, for example with `iconv -t UTF-8`.")
    })
}

/// Returns the text piped in addition to `-p`, as in `git diff | memoir -p "review this"`.
fn piped_text() -> Result<Option<String>, Failure> {
    /// How long to wait for the first bytes. The parent process may have left a pipe open that nothing writes to, which
    /// must not delay the answer for long.
    const STDIN_TIMEOUT: Timespec = Timespec { tv_sec: 3, tv_nsec: 0 };

    let input = stdin();
    let kind = File::from(input.as_fd().try_clone_to_owned()?).metadata()?.file_type();
    if kind.is_fifo() {
        let mut polled = [PollFd::new(&input, PollFlags::IN)];
        if poll(&mut polled, Some(&STDIN_TIMEOUT)).unwrap_or(0) == 0 {
            note!("No input on stdin; continuing without it.");
            return Ok(None);
        }
    } else if !kind.is_file() {
        return Ok(None);
    }
    read_stdin().map(Some)
}
