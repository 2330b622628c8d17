//! `/export`: this conversation, written down.

use async_trait::async_trait;

use super::{Command, Next};
use crate::{
    app::App,
    args::{ExportArgs, ExportFormat},
    exporting,
    failure::{Failure, Kind},
    paths::expand_home,
};

pub(super) struct Export;

#[async_trait]
impl Command for Export {
    fn name(&self) -> &'static str {
        "export"
    }

    fn arguments(&self) -> &'static str {
        "[markdown | jsonl] [FILE]"
    }

    fn summary(&self) -> &'static str {
        "Write this conversation to a file, or show it."
    }

    async fn run(&self, arguments: &str, app: &mut App) -> Result<Next, Failure> {
        let (word, rest) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
        let (format, file) = match word {
            "markdown" => (Some(ExportFormat::Markdown), rest),
            "jsonl" => (Some(ExportFormat::Jsonl), rest),
            _ => (None, arguments),
        };
        let by_name = if file.ends_with(".jsonl") { ExportFormat::Jsonl } else { ExportFormat::Markdown };
        let id = app.state.conversation.id().ok_or_else(|| {
            Failure::new(Kind::Usage, "nothing has been said here yet")
                .hint("memoir export writes down all conversations.")
        })?;
        let wanted = ExportArgs {
            format: format.unwrap_or(by_name),
            conversation: Some(id.get()),
            scope: None,
            output: Some(file.trim()).filter(|file| !file.is_empty()).map(expand_home),
        };
        exporting::run(&wanted, app.agent.store.as_ref(), &app.zone).await?;
        Ok(Next::Prompt)
    }
}
