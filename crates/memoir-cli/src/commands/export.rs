//! `/export`: this conversation, written down.

use clap::ValueEnum as _;

use super::{Next, RunCommand};
use memoir_runtime::failure::{Failure, FailureKind};

use crate::{
    app::App,
    args::{ExportArgs, ExportFormatArgument},
    completion_source::ValueSource,
    paths::expand_home,
    subcommands::export,
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
            [word] => match ExportFormatArgument::from_str(word, false) {
                Ok(format) => (Some(format), None),
                Err(_) => (None, Some(word)),
            },
            [format, file, ..] => {
                let format = ExportFormatArgument::from_str(format, false).map_err(|_| {
                    Failure::new(FailureKind::Usage, format!("there is no format \"{format}\""))
                        .hint("Use /export, /export FILE, /export markdown FILE or /export jsonl FILE.")
                })?;
                (Some(format), Some(file))
            }
        };
        let is_jsonl = file.is_some_and(|file| file.ends_with(".jsonl"));
        let by_name = if is_jsonl { ExportFormatArgument::Jsonl } else { ExportFormatArgument::Markdown };
        let id = app.session.state.conversation.id().ok_or_else(|| {
            Failure::new(FailureKind::Usage, "nothing has been said here yet")
                .hint("memoir export writes down all conversations.")
        })?;
        let wanted = ExportArgs {
            format: format.unwrap_or(by_name),
            conversation: Some(id.get()),
            scope: None,
            output: file.map(|file| expand_home(file)),
        };
        export::run(&wanted, app.session.agent.store.as_ref(), app.session.runtime.zone()).await?;
        Ok(Next::Prompt)
    }
}
