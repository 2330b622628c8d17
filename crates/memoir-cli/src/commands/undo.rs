//! `/undo`: takes back the last prompt and its answer.

use memoir_core::reveal_on_one_line;
use memoir_runtime::{
    Failure,
    operations::forgetting::{ConversationDeletion, Deletion},
};

use super::{Next, RunCommand};
use crate::{app::App, question, render};

/// Maximum number of characters of the prompt that are shown.
const MAX_PROMPT_CHARS: usize = 60;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        let (exchange, preview) = app.session.preview_undo().await?;
        if has_further_effects(&preview.deletion) {
            say!("{}", render::forgetting::preview(&preview));
            if !question::confirm("This cannot be undone. Delete it?", false).await? {
                return Ok(Next::Prompt);
            }
        }
        let report = app.session.undo(&preview).await?;
        let prompt: String = exchange.user_message.chars().take(MAX_PROMPT_CHARS).collect();
        let ellipsis = if prompt.len() < exchange.user_message.len() { "…" } else { "" };
        say!("Deleted the last exchange: \"{}{ellipsis}\".", reveal_on_one_line(prompt.trim_end()));
        let remaining = render::forgetting::remaining(&report);
        say!("Files that tools changed are not restored. The up arrow recalls the prompt.{remaining}");
        Ok(Next::Prompt)
    }
}

/// Returns whether more than one exchange is deleted.
fn has_further_effects(deletion: &Deletion) -> bool {
    match deletion {
        Deletion::Conversations(ConversationDeletion { exchanges, quoting_answers, posts, .. }) => {
            *exchanges > 1 || *quoting_answers > 0 || !posts.is_empty()
        }
        Deletion::Document { .. } => true,
    }
}
