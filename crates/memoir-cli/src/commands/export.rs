//! `/export`: this conversation, written down.

use super::{Next, RunCommand};
use memoir_runtime::{Failure, operations::export::ExportFormat};

use crate::{
    app::App, args::ExportArgs, completion_source::ValueSource, paths::expand_home, subcommands::export,
};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Format, and the file to write to; by the name of the file, or Markdown, if left out
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
                    Failure::usage(format!("there is no format \"{format}\""))
                        .hint("Use /export, /export FILE, /export markdown FILE or /export jsonl FILE.")
                })?;
                (Some(format), Some(file))
            }
        };
        let is_jsonl = file.is_some_and(|file| file.ends_with(".jsonl"));
        let by_name = if is_jsonl { ExportFormat::Jsonl } else { ExportFormat::Markdown };
        let id = app.session.conversation().ok_or_else(|| {
            Failure::usage("nothing has been said here yet")
                .hint("memoir export writes down all conversations.")
        })?;
        let wanted = ExportArgs {
            format: format.unwrap_or(by_name),
            conversation: Some(id.get()),
            scope: None,
            output: file.map(|file| expand_home(file)),
        };
        export::run(&wanted, app.session.store(), app.session.runtime.zone()).await?;
        Ok(Next::Prompt)
    }
}

fn format_named(name: &str) -> Option<ExportFormat> {
    ExportFormat::ALL.into_iter().find(|format| format.as_str() == name)
}
