//! `memoir import`.

use std::{
    io::{Write as _, stdout},
    path::Path,
};

use indicatif::ProgressBar;
use memoir_core::TimeZone;
use memoir_import::{DateOrder, Imported, Talk, bring_in, whatsapp};
use memoir_store::Store;

use crate::{
    args::{Dates, ImportCommand},
    failure::{Failure, Kind},
    printable::printable,
};

pub(super) async fn run(command: ImportCommand, store: &dyn Store, zone: &TimeZone) -> Result<(), Failure> {
    let ImportCommand::Whatsapp { file, name, dates, dry_run } = command;
    let text = read(&file)?;
    let chat = name.unwrap_or_else(|| chat_of(&file));
    let order = dates.map(|dates| match dates {
        Dates::Day => DateOrder::DayFirst,
        Dates::Month => DateOrder::MonthFirst,
        Dates::Year => DateOrder::YearFirst,
    });
    let talk = whatsapp(&text, &chat, zone, order).map_err(|error| {
        Failure::new(Kind::Failed, format!("{}: {error}", file.display()))
            .hint("In WhatsApp, \"Export chat\" without media makes such a file; --dates says which number of a date comes first.")
    })?;
    file_all(&talk, store, dry_run).await
}

/// Files what is not here yet, and reports it.
async fn file_all(talk: &Talk, store: &dyn Store, dry: bool) -> Result<(), Failure> {
    let bar = ProgressBar::new(talk.threads.len() as u64);
    let (mut conversations, mut messages, mut known, mut different) = (0, 0, 0, Vec::new());
    for thread in &talk.threads {
        match bring_in(store, thread, "whatsapp", dry).await? {
            Imported::New(count) | Imported::Grown(count) => {
                conversations += 1;
                messages += count;
            }
            Imported::Known => known += 1,
            Imported::Different => different.push(thread.title.as_str()),
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let would = if dry { "would be " } else { "" };
    let mut out = stdout();
    writeln!(
        out,
        "{messages} messages in {conversations} conversations {would}added; {known} conversations were here already."
    )?;
    for (what, count) in &talk.skipped {
        writeln!(out, "Left out: {count} {what}.")?;
    }
    for title in different {
        writeln!(out, "Left as it is: {}, which says something else here by now.", printable(title))?;
    }
    if !dry && messages > 0 {
        writeln!(
            out,
            "They are summarised and indexed in the background; memoir worker run --until-idle does it now."
        )?;
    }
    Ok(())
}

fn read(file: &Path) -> Result<String, Failure> {
    let failed = |reason: String| {
        Failure::new(Kind::Failed, format!("{} cannot be read: {reason}", file.display()))
            .hint("Give the .txt file that WhatsApp exported.")
    };
    let bytes = std::fs::read(file).map_err(|error| failed(error.to_string()))?;
    String::from_utf8(bytes).map_err(|_| failed("it is not text (UTF-8)".into()))
}

/// What a chat is called, by its file: "WhatsApp Chat with Anna.txt", or "_chat.txt" in a folder of that name.
fn chat_of(file: &Path) -> String {
    let stem =
        |path: &Path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let mut name = stem(file);
    if name == "_chat" {
        name = file.canonicalize().ok().and_then(|file| file.parent().map(stem)).unwrap_or_default();
    }
    for before in ["WhatsApp Chat with ", "WhatsApp Chat - ", "WhatsApp-Chat mit "] {
        if let Some(rest) = name.strip_prefix(before) {
            name = rest.to_owned();
        }
    }
    // A second download of the same.
    let numbered = name.strip_suffix(')').and_then(|name| name.rsplit_once(" ("));
    let name = match numbered {
        Some((first, number)) if number.parse::<u32>().is_ok() => first.to_owned(),
        _ => name,
    };
    if name.is_empty() { "WhatsApp".into() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chat_is_called_what_its_file_is_called() {
        for (file, chat) in [
            ("WhatsApp Chat with Anna.txt", "Anna"),
            ("/x/WhatsApp Chat - The family (2).txt", "The family"),
            ("talk.txt", "talk"),
            ("WhatsApp Chat with Class of 2024.txt", "Class of 2024"),
        ] {
            assert_eq!(chat_of(Path::new(file)), chat);
        }
    }
}
