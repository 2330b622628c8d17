//! `/memory`: what is always in context, and what is pinned in this conversation.

use std::{io::Write as _, path::Path};

use anstream::println;
use async_trait::async_trait;
use memoir_core::{ChangedBy, CoreBlock, CoreChange, CoreEntry};
use memoir_store::Change;

use super::{Command, Next};
use crate::{
    app::App,
    failure::{Failure, Kind},
    printable::printable,
};

pub(super) struct Memory;

#[async_trait]
impl Command for Memory {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn arguments(&self) -> &'static str {
        "[show | edit BLOCK [TEXT] | undo | unpin N]"
    }

    fn summary(&self) -> &'static str {
        "Show or edit what is always in context, undo, unpin."
    }

    async fn run(&self, arguments: &str, app: &mut App) -> Result<Next, Failure> {
        let (word, rest) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
        match (word, rest.trim()) {
            ("" | "show", "") => show(app).await?,
            ("edit", rest) if !rest.is_empty() => edit(rest, app).await?,
            ("undo", "") => undo(app).await?,
            ("unpin", number) if !number.is_empty() => unpin(number, app).await?,
            _ => {
                return Err(Failure::new(Kind::Usage, format!("/memory {arguments} is not understood"))
                    .hint("Use /memory show, /memory edit BLOCK, /memory edit BLOCK TEXT, /memory undo or /memory unpin N."));
            }
        }
        Ok(Next::Prompt)
    }
}

fn project(app: &App) -> &str {
    app.recall().scope.as_deref().unwrap_or_default()
}

async fn show(app: &App) -> Result<(), Failure> {
    for entry in app.agent.store.core_memory(project(app)).await? {
        let size = entry.text.chars().count();
        println!("{} ({size} of {} characters)", entry.block, CoreBlock::LONGEST);
        let text = if entry.text.is_empty() { "nothing yet" } else { &entry.text };
        text.lines().for_each(|line| println!("  {}", printable(line)));
    }
    let digest = match app.conversation.id() {
        Some(id) => app.agent.store.digest(id).await?,
        None => None,
    };
    let pinned = digest.map(|digest| digest.pinned).unwrap_or_default();
    if !pinned.is_empty() {
        println!("pinned in this conversation, since they left the window");
        for (number, instruction) in pinned.iter().enumerate() {
            println!("  {} {}", number + 1, printable(instruction));
        }
    }
    Ok(())
}

async fn edit(arguments: &str, app: &App) -> Result<(), Failure> {
    let (name, text) = arguments.split_once(char::is_whitespace).unwrap_or((arguments, ""));
    let block: CoreBlock = name.parse().map_err(|error: memoir_core::UnknownBlock| {
        Failure::new(Kind::Usage, error.to_string()).hint("Use /memory edit user, for example.")
    })?;
    let entries = app.agent.store.core_memory(project(app)).await?;
    let Some(seen) = entries.into_iter().find(|entry| entry.block == block) else { return Ok(()) };
    let text = match text.trim() {
        "" => in_editor(&seen, &app.home.database()).await?,
        text => text.to_owned(),
    };
    if text == seen.text {
        println!("Nothing was changed.");
        return Ok(());
    }
    let length = text.chars().count();
    if length > CoreBlock::LONGEST {
        return Err(kept_aside(
            &text,
            app,
            &format!("the block {block} has {length} characters, and {} are its limit", CoreBlock::LONGEST),
        ));
    }
    let change = CoreChange { seen, text, by: ChangedBy::User, at: app.agent.clock.now() };
    match app.agent.store.change_core_memory(project(app), &change).await? {
        Change::Made => {
            println!("Core memory ({block}) was changed; /memory undo takes it back.");
            Ok(())
        }
        Change::Overtaken => Err(kept_aside(
            &change.text,
            app,
            &format!("the block {block} was changed by another process meanwhile"),
        )),
    }
}

/// Why an edited text was not taken, and where it is now: it is not lost.
fn kept_aside(text: &str, app: &App, why: &str) -> Failure {
    let path = app.home.database().with_file_name("core-memory.draft.txt");
    match write_private(&path, text) {
        Ok(()) => Failure::new(Kind::Failed, why.to_owned())
            .hint(format!("Your text is in {}; look at /memory show and edit again.", path.display())),
        Err(_) => Failure::new(Kind::Failed, why.to_owned()).hint("Look at /memory show and edit again."),
    }
}

/// A file that only its owner reads.
fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(text.as_bytes())
}

/// The text as it comes out of the user's editor.
async fn in_editor(seen: &CoreEntry, database: &Path) -> Result<String, Failure> {
    let set = |name| std::env::var(name).ok().filter(|editor: &String| !editor.trim().is_empty());
    let Some(editor) = set("VISUAL").or_else(|| set("EDITOR")) else {
        return Err(Failure::new(Kind::Usage, "no editor is set")
            .hint(format!("Set EDITOR, or write the text here: /memory edit {} TEXT.", seen.block)));
    };
    let path = database.with_file_name(format!("core-memory.{}.{}.txt", seen.block, std::process::id()));
    write_private(&path, &seen.text)?;
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or_default();
    let status = tokio::process::Command::new(program).args(words).arg(&path).status().await;
    let text = std::fs::read_to_string(&path);
    let _ = std::fs::remove_file(&path);
    match status {
        Ok(status) if status.success() => Ok(text?.trim_end().to_owned()),
        Ok(_) => Err(Failure::new(Kind::Failed, format!("{editor} did not end well; nothing was changed"))),
        Err(error) => Err(Failure::new(Kind::Failed, format!("{editor} cannot be started: {error}"))
            .hint("Set EDITOR to a program that is there.")),
    }
}

async fn undo(app: &App) -> Result<(), Failure> {
    match app.agent.store.undo_core_memory(project(app), app.agent.clock.now()).await? {
        Some(entry) if entry.text.is_empty() => println!("Core memory ({}) is empty again.", entry.block),
        Some(entry) => println!("Core memory ({}) says again:\n{}", entry.block, printable(&entry.text)),
        None => println!("There is nothing to undo."),
    }
    Ok(())
}

async fn unpin(number: &str, app: &App) -> Result<(), Failure> {
    let none = || {
        Failure::new(Kind::Usage, format!("there is no pinned instruction {number}"))
            .hint("/memory show lists them.")
    };
    let id = app.conversation.id().ok_or_else(none)?;
    let mut digest = app.agent.store.digest(id).await?.ok_or_else(none)?;
    let place = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1)).ok_or_else(none)?;
    if place >= digest.pinned.len() {
        return Err(none());
    }
    let gone = digest.pinned.remove(place);
    let seen = Some(digest.through);
    if app.agent.store.put_digest(id, seen, &digest, app.agent.clock.now()).await? {
        println!("No longer pinned: {}", printable(&gone));
        Ok(())
    } else {
        Err(Failure::new(Kind::Failed, "the conversation has moved on meanwhile").hint("Try again."))
    }
}
