//! `-r` without an id: choosing a conversation from a list.

use std::io::{BufRead as _, Write as _, stdin};

use anstream::{eprintln, println, stdout};
use memoir_core::{ConversationId, TimeZone};
use memoir_store::{ConversationList, Store};

use crate::{failure::Failure, printable::printable};

/// How many conversations are offered.
const OFFERED: u32 = 20;

/// The conversation that the user picks, or none.
pub(crate) async fn pick_conversation(
    store: &dyn Store,
    zone: &TimeZone,
) -> Result<Option<ConversationId>, Failure> {
    let offered = store.conversations(&ConversationList { scope: None, limit: OFFERED }).await?;
    if offered.is_empty() {
        println!("There is no conversation to go on with yet; this is the first.");
        return Ok(None);
    }
    for conversation in offered.iter().rev() {
        let project = conversation.scope.rsplit('/').next().unwrap_or_default();
        println!(
            "{:>6}  {}  {project}: {}",
            conversation.id,
            conversation.updated.minute_in(zone),
            printable(&conversation.title),
        );
    }
    loop {
        print_question()?;
        let mut line = String::new();
        if stdin().lock().read_line(&mut line)? == 0 || line.trim().is_empty() {
            return Ok(None);
        }
        match line.trim().parse().map(ConversationId::new) {
            Ok(id) if store.conversation(id).await?.is_some() => return Ok(Some(id)),
            _ => eprintln!("There is no conversation {}. Type a number from the list.", line.trim()),
        }
    }
}

fn print_question() -> Result<(), Failure> {
    let mut out = stdout();
    write!(out, "Which one? (Enter begins a new one) ")?;
    Ok(out.flush()?)
}
