//! `/help`: lists the commands, or explains one.

use clap::CommandFactory as _;

use super::{Next, RunCommand, SlashLine, all, listed, resolve};
use memoir_runtime::Failure;

use crate::{app::App, completion_source::ValueSource, screen::text_width};

const USAGE_WIDTH: usize = 19;
const PAGE_SIZE: usize = 18;
// A page, the lines below it and the prompt must fit a terminal of 24 lines.
const _: () = assert!(PAGE_SIZE + 4 <= 24);

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Page to show, or command to explain
    #[arg(value_name = "PAGE | COMMAND", add = ValueSource::Commands)]
    topic: Option<String>,
}

impl RunCommand for Arguments {
    async fn run(self, _app: &mut App) -> Result<Next, Failure> {
        let all = all();
        let page = match &self.topic {
            None => Ok(1),
            Some(topic) => topic.parse::<usize>().map_err(|_| topic.trim_start_matches('/')),
        };
        let page = match page {
            Ok(page) => page,
            Err(name) => {
                // The commands returned by `all` are already built and would show "/ NAME" in their usage.
                let declared = SlashLine::command();
                let command = resolve(name, &declared)?;
                let command = command.clone().bin_name(format!("/{}", command.get_name()));
                say!("{}", command.term_width(text_width()).render_help());
                return Ok(Next::Prompt);
            }
        };
        let commands: Vec<&clap::Command> = listed(&all).collect();
        let pages = commands.len().div_ceil(PAGE_SIZE);
        let page = page.clamp(1, pages);
        for command in &commands[(page - 1) * PAGE_SIZE..(page * PAGE_SIZE).min(commands.len())] {
            say!("{:USAGE_WIDTH$}  {}", usage(command), summary(command));
        }
        if page < pages {
            say!("/help {:<13}  Show more commands; `/help COMMAND` explains one.", page + 1);
        }
        say!("\nTab: complete, @file: attach, !cmd: run, Alt-Enter: new line, Ctrl-R: history");
        Ok(Next::Prompt)
    }
}

/// Returns `/name` with its arguments, or with an ellipsis if they do not fit.
fn usage(command: &clap::Command) -> String {
    let name = command.get_name();
    let arguments: String =
        command.get_positionals().map(|argument| format!(" [{}]", value_name(argument))).collect();
    match format!("/{name}{arguments}") {
        usage if usage.len() <= USAGE_WIDTH && !command.has_subcommands() => usage,
        _ => format!("/{name} …"),
    }
}

fn value_name(argument: &clap::Arg) -> String {
    argument.get_value_names().and_then(|names| names.first()).map(ToString::to_string).unwrap_or_default()
}

fn summary(command: &clap::Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}
