//! What is always in context: showing it, changing it, taking a change back.

use std::path::Path;

use anstream::println;
use memoir_core::{ChangedBy, Clock as _, CoreBlock, CoreChange, CoreEntry, SystemClock};
use memoir_store::{Change, Store};

use memoir_runtime::{
    failure::{Failure, FailureKind},
    files::write_private,
    printable,
};

use crate::{args::BlockArgs, text_editor::edit_file};

/// Where a block is changed: whose project, and where texts can be put aside.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) store: &'a dyn Store,
    pub(crate) project: &'a str,
    /// The memory's folder.
    pub(crate) folder: &'a Path,
    /// How the command for this is called where the user is.
    pub(crate) command: &'a str,
}

pub(crate) async fn show(place: Place<'_>) -> Result<(), Failure> {
    for entry in place.store.core_memory(place.project).await? {
        let size = entry.text.chars().count();
        println!("{} ({size} of {} characters)", entry.block, CoreBlock::LONGEST);
        let text = if entry.text.is_empty() { "nothing yet" } else { &entry.text };
        text.lines().for_each(|line| println!("  {}", printable(line)));
    }
    Ok(())
}

pub(crate) async fn edit(wanted: &BlockArgs, place: Place<'_>) -> Result<(), Failure> {
    let block: CoreBlock = wanted.block.parse().map_err(|error: memoir_core::UnknownBlock| {
        Failure::new(FailureKind::Usage, error.to_string())
            .hint(format!("Use {} edit user, for example.", place.command))
    })?;
    let entries = place.store.core_memory(place.project).await?;
    let Some(seen) = entries.into_iter().find(|entry| entry.block == block) else { return Ok(()) };
    let text = match wanted.text.as_slice() {
        [] => in_editor(&seen, place.folder).await?,
        words => words.join(" ").trim().to_owned(),
    };
    if text == seen.text {
        println!("Nothing was changed.");
        return Ok(());
    }
    let length = text.chars().count();
    if length > CoreBlock::LONGEST {
        let why =
            format!("the block {block} has {length} characters, and {} are its limit", CoreBlock::LONGEST);
        return Err(kept_aside(&text, place, &why));
    }
    let change = CoreChange { seen, text, by: ChangedBy::User, at: SystemClock.now() };
    match place.store.change_core_memory(place.project, &change).await? {
        Change::Made => {
            println!("Core memory ({block}) was changed; {} undo takes it back.", place.command);
            Ok(())
        }
        Change::Overtaken => {
            let why = format!("the block {block} was changed by another process meanwhile");
            Err(kept_aside(&change.text, place, &why))
        }
    }
}

pub(crate) async fn undo(place: Place<'_>) -> Result<(), Failure> {
    match place.store.undo_core_memory(place.project, SystemClock.now()).await? {
        Some(entry) if entry.text.is_empty() => println!("Core memory ({}) is empty again.", entry.block),
        Some(entry) => println!("Core memory ({}) says again:\n{}", entry.block, printable(&entry.text)),
        None => println!("There is nothing to undo."),
    }
    Ok(())
}

/// Why an edited text was not taken, and where it is now: it is not lost.
fn kept_aside(text: &str, place: Place<'_>, why: &str) -> Failure {
    let path = place.folder.join("core-memory.draft.txt");
    match write_private(&path, text) {
        Ok(()) => Failure::new(FailureKind::Failed, why.to_owned()).hint(format!(
            "Your text is in {}; look at {} show and edit again.",
            path.display(),
            place.command
        )),
        Err(_) => Failure::new(FailureKind::Failed, why.to_owned())
            .hint(format!("Look at {} show and edit again.", place.command)),
    }
}

async fn in_editor(seen: &CoreEntry, folder: &Path) -> Result<String, Failure> {
    let path = folder.join(format!("core-memory.{}.{}.txt", seen.block, std::process::id()));
    write_private(&path, &seen.text)?;
    let edited = edit_file(&path).await;
    let text = std::fs::read_to_string(&path);
    let _ = std::fs::remove_file(&path);
    edited.map_err(|failure| {
        failure.hint("Set EDITOR to a program that is there, or write the text behind the block.")
    })?;
    Ok(text?.trim_end().to_owned())
}
