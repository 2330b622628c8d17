//! Bringing in talk from other programs: `memoir import` and `/import`.

use std::{
    collections::BTreeMap,
    io::{Write as _, stdout},
    path::{Path, PathBuf},
};

use memoir_core::{Clock as _, SystemClock, TimeZone};
use memoir_import::{
    DateOrder, Format, Found, ImportError, Imported, Talk, bring_in, chatgpt, claude, claude_code, codex,
    detect, discover, memoir, whatsapp,
};
use memoir_store::Store;

use memoir_runtime::{
    failure::{Failure, FailureKind},
    printable,
};

use crate::{
    args::{Dates, ImportCommand},
    progress,
};

/// Does what is asked.
pub(crate) async fn run(command: ImportCommand, store: &dyn Store, zone: &TimeZone) -> Result<(), Failure> {
    match command {
        ImportCommand::Found => show_found(store).await,
        ImportCommand::Chatgpt(wanted) => files(Format::ChatGpt, &wanted.paths, store, wanted.dry_run).await,
        ImportCommand::Claude(wanted) => files(Format::Claude, &wanted.paths, store, wanted.dry_run).await,
        ImportCommand::Memoir(wanted) => files(Format::Memoir, &wanted.paths, store, wanted.dry_run).await,
        ImportCommand::ClaudeCode(wanted) => {
            let paths = or_found(Format::ClaudeCode, wanted.paths)?;
            files(Format::ClaudeCode, &paths, store, wanted.dry_run).await
        }
        ImportCommand::Codex(wanted) => {
            let paths = or_found(Format::Codex, wanted.paths)?;
            files(Format::Codex, &paths, store, wanted.dry_run).await
        }
        ImportCommand::Whatsapp { file, name, dates, dry_run } => {
            let talk = chat(&file, name, dates, zone)?;
            let mut tally = Tally::default();
            tally.bring_in(talk, store, dry_run).await?;
            tally.report(dry_run)
        }
    }
}

/// What other agents keep on this machine.
pub(crate) fn found() -> Vec<Found> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = |name: &str| etcetera::home_dir().map(|home| home.join(name)).unwrap_or_default();
    let claude = set("CLAUDE_CONFIG_DIR").unwrap_or_else(|| home(".claude"));
    let codex = set("CODEX_HOME").unwrap_or_else(|| home(".codex"));
    discover(&claude, &codex)
}

/// How much was found of what, in words.
pub(crate) fn words(found: &Found) -> String {
    let count = found.files.len();
    format!("{count} {} of {}", if count == 1 { "session" } else { "sessions" }, found.format.name())
}

fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// The word for it behind `import`.
pub(crate) const fn command(format: Format) -> &'static str {
    match format {
        Format::ChatGpt => "chatgpt",
        Format::Claude => "claude",
        Format::ClaudeCode => "claude-code",
        Format::Codex => "codex",
        Format::Memoir => "memoir",
        Format::WhatsApp => "whatsapp",
    }
}

async fn show_found(store: &dyn Store) -> Result<(), Failure> {
    let found = found();
    if found.is_empty() {
        writeln!(
            stdout(),
            "No histories of other agents were found on this machine. import chatgpt FILE, claude FILE, memoir FILE or \
             whatsapp FILE brings in an export."
        )?;
    }
    for found in found {
        let here = store.imports(&format!("{}/", command(found.format))).await?.len();
        let here = match here {
            0 => String::new(),
            here => format!(" ({} here already)", count(here as u64, "is", "are")),
        };
        writeln!(stdout(), "{}{here}: import {} brings them in.", words(&found), command(found.format))?;
    }
    Ok(())
}

fn or_found(format: Format, paths: Vec<PathBuf>) -> Result<Vec<PathBuf>, Failure> {
    if !paths.is_empty() {
        return Ok(paths);
    }
    let found = found().into_iter().find(|found| found.format == format);
    found.map(|found| found.files).ok_or_else(|| {
        Failure::new(
            FailureKind::Failed,
            format!("no sessions of {} were found on this machine", format.name()),
        )
        .hint("Name the files, or the folder they lie in.")
    })
}

/// What became of everything so far.
#[derive(Default)]
struct Tally {
    conversations: u64,
    messages: usize,
    known: u64,
    different: Vec<String>,
    skipped: BTreeMap<String, u64>,
}

impl Tally {
    async fn bring_in(&mut self, talk: Talk, store: &dyn Store, dry: bool) -> Result<(), Failure> {
        for (what, count) in talk.skipped {
            *self.skipped.entry(what.to_owned()).or_default() += count;
        }
        let bar = progress::bar(talk.threads.len() as u64, "conversations");
        for thread in &talk.threads {
            match bring_in(store, thread, SystemClock.now(), dry).await? {
                Imported::New(count) | Imported::Grown(count) => {
                    self.conversations += 1;
                    self.messages += count;
                }
                Imported::Known => self.known += 1,
                Imported::Different => self.different.push(thread.title.clone()),
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(())
    }

    fn report(self, dry: bool) -> Result<(), Failure> {
        let would = if dry { "would be " } else { "" };
        let mut out = stdout();
        writeln!(
            out,
            "{} in {} {would}added; {} here already.",
            count(self.messages as u64, "message", "messages"),
            count(self.conversations, "conversation", "conversations"),
            count(self.known, "conversation was", "conversations were"),
        )?;
        for (what, count) in &self.skipped {
            writeln!(out, "Left out: {count} {what}.")?;
        }
        for title in &self.different {
            writeln!(out, "Left as it is: {}, which says something else here by now.", printable(title))?;
        }
        if !dry && self.messages > 0 {
            writeln!(
                out,
                "They are summarised and indexed in the background; memoir worker run --until-idle does it now."
            )?;
        }
        Ok(())
    }
}

/// Files of one format, one after the other. One that cannot be read does not keep the others.
async fn files(format: Format, paths: &[PathBuf], store: &dyn Store, dry: bool) -> Result<(), Failure> {
    let files = within(format, paths)?;
    let bar = progress::bar(files.len() as u64, "files");
    let mut tally = Tally::default();
    let mut read = 0;
    let mut last = None;
    for file in &files {
        let path = file.clone();
        // A long one is read while Ctrl-C still works.
        let read_in = tokio::task::spawn_blocking(move || talk_of(format, &path));
        let talk = read_in
            .await
            .map_err(|error| Failure::new(FailureKind::Failed, format!("reading failed: {error}")))?;
        match talk {
            Ok(talk) => {
                read += 1;
                tally.bring_in(talk, store, dry).await?;
            }
            Err(failure) if files.len() == 1 => return Err(failure),
            Err(failure) => {
                anstream::eprintln!("Left out: {}", failure.sentence());
                last = Some(failure);
            }
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    match last {
        Some(failure) if read == 0 => Err(failure),
        _ => tally.report(dry),
    }
}

/// The files of a format among paths, some of which may be folders.
fn within(format: Format, paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let mut found = Vec::new();
        gather(path, format, &mut found)?;
        if found.is_empty() {
            return Err(Failure::new(
                FailureKind::Failed,
                format!("{} holds nothing of {}", path.display(), format.name()),
            )
            .hint("Name the files themselves."));
        }
        found.sort();
        files.extend(found);
    }
    Ok(files)
}

fn gather(folder: &Path, format: Format, found: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_one = match format {
            Format::ChatGpt | Format::Claude => name.starts_with("conversations") && name.ends_with(".json"),
            _ => name.ends_with(".jsonl"),
        };
        match entry.file_type()? {
            kind if kind.is_dir() => gather(&entry.path(), format, found)?,
            _ if is_one => found.push(entry.path()),
            _ => {}
        }
    }
    Ok(())
}

fn talk_of(format: Format, file: &Path) -> Result<Talk, Failure> {
    let text = read(file)?;
    let talk = match format {
        Format::ChatGpt => chatgpt(&text),
        Format::Claude => claude(&text),
        Format::ClaudeCode => claude_code(&text),
        Format::Codex => codex(&text),
        Format::Memoir | Format::WhatsApp => memoir(&text),
    };
    talk.map_err(|error| not_this(file, &text, &error))
}

/// What is wrong with a file, and what it looks like instead.
fn not_this(file: &Path, text: &str, error: &ImportError) -> Failure {
    let failure = Failure::new(FailureKind::Failed, format!("{}: {error}", file.display()));
    match (error, detect(text)) {
        (ImportError::NotThis(_), Some(other)) => {
            failure.hint(format!("It looks like {}: memoir import {}.", other.name(), command(other)))
        }
        (ImportError::Newer { .. }, _) => failure.hint("Bring this program up to date."),
        _ => failure.hint("docs/getting-started.md tells where each program keeps its history."),
    }
}

fn chat(file: &Path, name: Option<String>, dates: Option<Dates>, zone: &TimeZone) -> Result<Talk, Failure> {
    let text = read(file)?;
    let chat = name.unwrap_or_else(|| chat_of(file));
    let order = dates.map(|dates| match dates {
        Dates::Day => DateOrder::DayFirst,
        Dates::Month => DateOrder::MonthFirst,
        Dates::Year => DateOrder::YearFirst,
    });
    whatsapp(&text, &chat, zone, order).map_err(|error| {
        Failure::new(FailureKind::Failed, format!("{}: {error}", file.display())).hint(
            "In WhatsApp, \"Export chat\" without media makes such a file; --dates says which number of a date comes first.",
        )
    })
}

fn read(file: &Path) -> Result<String, Failure> {
    let failed = |reason: String| {
        let failure =
            Failure::new(FailureKind::Failed, format!("{} cannot be read: {reason}", file.display()));
        if !file.exists() {
            return failure.hint("Look whether it lies there, and give its whole path.");
        }
        match file.extension().is_some_and(|extension| extension == "zip") {
            true => failure.hint("Unpack it first, and give conversations.json."),
            false => failure.hint("Give the file that the program exported."),
        }
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
