//! Where a prompt comes from: `-p`, stdin, or both.

use std::{
    fs::File,
    io::{self, IsTerminal as _, Read as _, stdin},
    os::{fd::AsFd as _, unix::fs::FileTypeExt as _},
};

use memoir_core::{InputPart, TurnInput};
use memoir_runtime::Failure;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::args::{Args, OutputFormat};

/// Where the talk takes place.
pub(crate) enum Talk {
    /// In a terminal, line by line.
    Terminal,
    /// Once, with this prompt.
    Once(TurnInput),
}

/// What the command line and stdin ask for.
pub(crate) fn talk(args: &Args) -> Result<Talk, Failure> {
    let piped = !stdin().is_terminal();
    let prompt = match &args.prompt {
        Some(prompt) => {
            let mut input = TurnInput::from(prompt);
            input.parts.extend(piped_text()?.filter(|text| !text.trim().is_empty()).map(InputPart::piped));
            input
        }
        None if piped => match read_stdin()? {
            text if text.is_empty() => {
                return Err(Failure::usage("there is no terminal and nothing on stdin")
                    .hint_on_its_own_line(
                        "Ask with: memoir -p \"your question\", or pipe the question in.",
                    ));
            }
            text => text.into(),
        },
        None => return in_terminal(args).map(|()| Talk::Terminal),
    };
    if prompt.to_text().trim().is_empty() {
        return Err(Failure::usage("the prompt is empty").hint("Write what you want to ask."));
    }
    Ok(Talk::Once(prompt))
}

/// What the demo is asked.
pub(crate) fn demo(question: Option<&str>) -> Result<Talk, Failure> {
    match question {
        Some(question) => Ok(Talk::Once(question.into())),
        None if stdin().is_terminal() => on_a_screen().map(|()| Talk::Terminal),
        None => Err(Failure::usage("there is no terminal")
            .hint("Ask the demo one question: memoir demo \"your question\".")),
    }
}

/// The REPL needs a screen, and has no format to choose.
fn in_terminal(args: &Args) -> Result<(), Failure> {
    if args.output_format != OutputFormat::Text {
        return Err(Failure::usage("--output-format is for one answer").hint("Add -p \"your question\"."));
    }
    on_a_screen()
}

fn on_a_screen() -> Result<(), Failure> {
    if !io::stdout().is_terminal() {
        return Err(Failure::usage("there is no screen to talk on").hint("Ask with -p \"your question\"."));
    }
    Ok(())
}

fn read_stdin() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    stdin().read_to_end(&mut bytes)?;
    String::from_utf8(bytes).map_err(|_| {
        Failure::usage("the text on stdin is not valid UTF-8")
            .hint("Convert it first, for example with iconv -t UTF-8.")
    })
}

/// What is piped in beside `-p`, as in `git diff | memoir -p "review this"`.
fn piped_text() -> Result<Option<String>, Failure> {
    /// Whoever started us may have left a pipe open with nobody writing to it, and that must not hold up an
    /// answer. A command that is piped in says something sooner.
    const PATIENCE: Timespec = Timespec { tv_sec: 3, tv_nsec: 0 };

    let input = stdin();
    let kind = File::from(input.as_fd().try_clone_to_owned()?).metadata()?.file_type();
    if kind.is_fifo() {
        let mut waiting = [PollFd::new(&input, PollFlags::IN)];
        if poll(&mut waiting, Some(&PATIENCE)).unwrap_or(0) == 0 {
            anstream::eprintln!("Nothing came on stdin; going on without it.");
            return Ok(None);
        }
    } else if !kind.is_file() {
        return Ok(None);
    }
    read_stdin().map(Some)
}
