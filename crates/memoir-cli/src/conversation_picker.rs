//! Choosing a conversation from all there are, by typing some of its title.

use std::io::{IsTerminal as _, stdin};

use anstream::println;
use inquire::{InquireError, Select};
use memoir_core::{ConversationId, TimeZone};
use memoir_store::Conversations;

use memoir_runtime::{Failure, FailureKind};

use crate::render;

/// How many are seen at once.
const PAGE: usize = 12;

/// A line to choose.
struct PickerLine {
    id: ConversationId,
    line: String,
}

impl std::fmt::Display for PickerLine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.line)
    }
}

/// The conversation that the user picks, or none.
pub(crate) async fn pick_conversation(
    store: &dyn Conversations,
    zone: &TimeZone,
) -> Result<Option<ConversationId>, Failure> {
    let offered = store.titles().await?;
    if offered.is_empty() {
        println!("There is no conversation to go on with yet.");
        return Ok(None);
    }
    if !stdin().is_terminal() {
        return Err(Failure::usage("there is no terminal to choose on").hint("Name it: -r ID."));
    }
    let choices: Vec<PickerLine> = offered
        .iter()
        .map(|found| PickerLine { id: found.id, line: render::conversations::line(found, zone) })
        .collect();
    let asked = tokio::task::spawn_blocking(move || {
        Select::new("Which one?", choices)
            .with_page_size(PAGE)
            .with_help_message("type some of its title, arrows to move, Enter to take it, Esc for none")
            .prompt()
    });
    let picked = asked.await.map_err(|error| Failure::failed(format!("the picker failed: {error}")))?;
    match picked {
        Ok(choice) => Ok(Some(choice.id)),
        Err(InquireError::OperationCanceled) => Ok(None),
        Err(InquireError::OperationInterrupted) => Err(Failure::new(FailureKind::Interrupted, "Cancelled")),
        Err(error) => {
            Err(Failure::failed(format!("the picker failed: {error}")).hint("Name it: /resume ID."))
        }
    }
}
