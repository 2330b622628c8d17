//! Lets the user pick a conversation from a list that typing filters by title.

use std::io::{IsTerminal as _, stdin};

use inquire::{InquireError, Select};
use memoir_core::{ConversationId, TimeZone};
use memoir_runtime::{Failure, FailureKind};
use memoir_store::Conversations;

use crate::render;

/// Number of conversations visible at once.
const PAGE_SIZE: usize = 12;

struct PickerLine {
    id: ConversationId,
    line: String,
}

impl std::fmt::Display for PickerLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.line)
    }
}

/// Returns the conversation that the user picks, or `None` if there are none or the user cancels.
pub(crate) async fn pick_conversation(
    store: &dyn Conversations,
    zone: &TimeZone,
) -> Result<Option<ConversationId>, Failure> {
    let titles = store.titles().await?;
    if titles.is_empty() {
        say!("There are no conversations to resume yet.");
        return Ok(None);
    }
    if !stdin().is_terminal() {
        return Err(Failure::usage("choosing a conversation needs a terminal").hint("Use `-r ID`."));
    }
    let choices: Vec<PickerLine> = titles
        .iter()
        .map(|title| PickerLine { id: title.id, line: render::conversations::line(title, zone) })
        .collect();
    let prompt = tokio::task::spawn_blocking(move || {
        Select::new("Resume which conversation?", choices)
            .with_page_size(PAGE_SIZE)
            .with_help_message("type to filter by title, arrow keys to move, Enter to select, Esc to cancel")
            .prompt()
    });
    let choice =
        prompt.await.map_err(|error| Failure::failed(format!("the conversation list failed: {error}")))?;
    match choice {
        Ok(choice) => Ok(Some(choice.id)),
        Err(InquireError::OperationCanceled) => Ok(None),
        Err(InquireError::OperationInterrupted) => Err(Failure::new(FailureKind::Interrupted, "Cancelled")),
        Err(error) => {
            Err(Failure::failed(format!("the conversation list failed: {error}")).hint("Use `/resume ID`."))
        }
    }
}
