//! `/export`: exports this conversation.

use super::{Next, RunCommand};
use memoir_runtime::{Failure, operations::export::ExportFormat};

use crate::{
    app::App, args::ExportArgs, completion_source::ValueSource, paths::expand_home, subcommands::export,
};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Format and file to write; the format defaults to that of the file name, or Markdown
    #[arg(value_name = "[FORMAT] [FILE]", num_args = 0..=2, add = ValueSource::Files)]
    words: Vec<String>,
}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        let (format, file) = match self.words.as_slice() {
            [] => (None, None),
            [word] => match format_named(word) {
                Some(format) => (Some(format), None),
                None => (None, Some(word)),
            },
            [format, file, ..] => {
                let format = format_named(format).ok_or_else(|| {
                    Failure::usage(format!("unknown format \"{format}\"")).hint(
                        "Use `/export`, `/export FILE`, `/export markdown FILE` or `/export jsonl FILE`.",
                    )
                })?;
                (Some(format), Some(file))
            }
        };
        let is_jsonl = file.is_some_and(|file| file.ends_with(".jsonl"));
        let default_format = if is_jsonl { ExportFormat::Jsonl } else { ExportFormat::Markdown };
        let id = app.session.conversation().ok_or_else(|| {
            Failure::usage("this conversation has no messages yet")
                .hint("Export all conversations with `memoir export`.")
        })?;
        let arguments = ExportArgs {
            format: format.unwrap_or(default_format),
            conversation: Some(id.get()),
            scope: None,
            output: file.map(|file| expand_home(file)),
        };
        export::run(&arguments, &app.session.runtime).await?;
        Ok(Next::Prompt)
    }
}

fn format_named(name: &str) -> Option<ExportFormat> {
    ExportFormat::ALL.into_iter().find(|format| format.as_str() == name)
}
