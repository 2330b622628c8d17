//! Documents, for whoever types a command or runs a script: adding, listing, showing, removing.

use std::{
    fmt::Write as _,
    io::{Write as _, stdout},
    path::{Path, PathBuf},
};

use anstream::{eprintln, println};
use indicatif::{ProgressBar, ProgressStyle};
use memoir_core::{Document, DocumentKind, SubjectKind};
use memoir_docs::{AddOutcome, FileSelection, Library, LibraryError, select_files};
use memoir_recall::Recall;
use memoir_store::Store;
use memoir_workers::{Stopped, WorkerContext, WorkerProgress, embed_documents};

use memoir_runtime::{
    failure::{Failure, FailureKind},
    home::Home,
    printable, worker_text,
};
use serde_json::json;

use crate::args::DocsCommand;

/// Who makes the vectors of what was added.
pub(crate) enum Embedding<'a> {
    /// We do, here and now, and show how far it is.
    Here(&'a WorkerContext),
    /// The workers, in the background.
    InBackground,
    /// Nobody: it is switched off.
    Off,
}

/// Runs a subcommand of `docs`.
pub(crate) async fn run(
    command: DocsCommand,
    recall: &Recall,
    home: &Home,
    embedding: Embedding<'_>,
) -> Result<(), Failure> {
    let store = recall.store.as_ref();
    match command {
        DocsCommand::Add { paths } => add(&paths, recall, embedding).await,
        DocsCommand::List { json: false } => print_line(&list(store).await?),
        DocsCommand::List { json: true } => print_line(&json!(store.documents().await?).to_string()),
        DocsCommand::Show { name, json: false } => print_line(&show(&name, recall).await?),
        DocsCommand::Show { name, json: true } => {
            let document = find(&name, store).await?;
            let chunks = store.chunks_of(document.id).await?;
            print_line(&json!({"document": document, "chunks": chunks}).to_string())
        }
        DocsCommand::Remove { names } => remove(&names, recall, &home.posts()).await,
        DocsCommand::Reindex { names } => reindex(&names, recall, embedding).await,
    }
}

/// Adds files and folders; says what became of each. A file that cannot be read does not keep the others out.
async fn add(paths: &[PathBuf], recall: &Recall, embedding: Embedding<'_>) -> Result<(), Failure> {
    let FileSelection { found, faults } = select_files(paths);
    let mut faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
    let bar = bar(found.len() as u64, "{wide_bar} {pos} of {len} files");
    let library = Library { recall };
    let (mut counts, mut chunks) = ([0_u64; 5], 0);
    for path in &found {
        match library.add(path).await {
            Ok(added) => {
                counts[added.outcome as usize] += 1;
                chunks += added.chunks;
                let told = match added.outcome {
                    AddOutcome::Added => format!("{} added, {}", added.slug, chunks_of(added.chunks)),
                    AddOutcome::Changed => {
                        format!("{} has changed, {} new", added.slug, chunks_of(added.chunks))
                    }
                    AddOutcome::Unchanged => format!("{} has not changed", added.slug),
                    AddOutcome::SameAs => format!("{} is the same as {}", path.display(), added.slug),
                    AddOutcome::Moved => format!("{} is in {} now", added.slug, path.display()),
                };
                if found.len() <= 20 {
                    bar.suspend(|| println!("{}", printable(&told)));
                }
            }
            Err(LibraryError::File { path, reason }) => {
                faults.push(format!("{}: {reason}", path.display()));
            }
            Err(error) => return Err(error.into()),
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    let [added, changed, unchanged, same, moved] = counts;
    if found.len() > 20 {
        println!(
            "{added} added, {changed} changed, {unchanged} unchanged, {same} the same as others, {moved} moved; {} new.",
            chunks_of(chunks)
        );
    }
    give_vectors(recall, embedding).await?;
    for fault in &faults {
        eprintln!("{}.", printable(fault));
    }
    let taken: u64 = counts.iter().sum();
    match faults.len() {
        0 => Ok(()),
        _ if taken == 0 => Err(Failure::new(FailureKind::Failed, "nothing was added")
            .hint("Give files of text (UTF-8), or folders that hold .md or .txt files.")),
        1 => Err(Failure::new(FailureKind::Failed, "one was left out")
            .hint("Mend it and add it again: the others are not read twice.")),
        some => Err(Failure::new(FailureKind::Failed, format!("{some} were left out"))
            .hint("Mend them and add them again: the others are not read twice.")),
    }
}

/// Has chunks get the vectors that they lack.
async fn give_vectors(recall: &Recall, embedding: Embedding<'_>) -> Result<(), Failure> {
    let waiting = recall.store.unembedded_count(SubjectKind::Chunk, &recall.embeddable()).await?;
    if waiting == 0 {
        return Ok(());
    }
    let office = match embedding {
        Embedding::Here(office) if recall.embedder.is_available() => office,
        Embedding::Here(_) => {
            println!(
                "{} cannot be called: until it can, documents are found by their words.",
                recall.embedder.name()
            );
            return Ok(());
        }
        Embedding::InBackground => {
            println!("In the background {} will be read; until then words find them.", chunks_of(waiting));
            return Ok(());
        }
        Embedding::Off => {
            println!(
                "Vectors are switched off: documents are found by their words. /embeddings on makes them."
            );
            return Ok(());
        }
    };
    let bar = bar(waiting, "{wide_bar} {pos} of {len} chunks read, {eta} left");
    let mut told = |progress: &WorkerProgress| {
        if let WorkerProgress::Worked { done, .. } = progress {
            bar.inc(done.len() as u64);
        }
    };
    let report = embed_documents(office, &mut told).await?;
    bar.finish_and_clear();
    let trouble = match report.stopped {
        Some(Stopped::OverBudget(broke)) => Some(worker_text::why(broke).to_owned()),
        _ => report.last_error,
    };
    if let Some(trouble) = trouble {
        eprintln!(
            "Not everything was read: {}. The rest is read in the background; until then its words find it.",
            printable(&trouble)
        );
    }
    Ok(())
}

fn print_line(text: &str) -> Result<(), Failure> {
    Ok(writeln!(stdout(), "{text}")?)
}

fn bar(length: u64, template: &str) -> ProgressBar {
    let bar = ProgressBar::new(length);
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar
}

fn chunks_of(count: u64) -> String {
    if count == 1 { "1 chunk".into() } else { format!("{count} chunks") }
}

/// All documents, a line each.
async fn list(store: &dyn Store) -> Result<String, Failure> {
    let documents = store.documents().await?;
    if documents.is_empty() {
        return Ok("There are no documents. memoir docs add PATH adds files and folders.".into());
    }
    let width = documents.iter().map(|document| document.slug.chars().count()).max().unwrap_or(0).min(40);
    let mut text = String::new();
    for document in &documents {
        let kind = if document.kind == DocumentKind::Post { "  (post)" } else { "" };
        let tags = if document.tags.is_empty() {
            String::new()
        } else {
            format!("  [{}]", document.tags.join(", "))
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{}  {:width$}  {:>10}  {}{tags}{kind}",
            document.date,
            document.slug,
            chunks_of(document.chunks),
            document.title,
        );
    }
    Ok(printable(text.trim_end()).into_owned())
}

/// One document with what it says.
async fn show(name: &str, recall: &Recall) -> Result<String, Failure> {
    let document = find(name, recall.store.as_ref()).await?;
    let text = Library { recall }.text(&document).await?;
    let Document { slug, title, date, tags, source, chunks, tokens, .. } = &document;
    let tags = if tags.is_empty() { "none".to_owned() } else { tags.join(", ") };
    let head = format!(
        "{title}\n{slug}, {date}, tags: {tags}\n{source}\n{}, {tokens} tokens\n\n{}",
        chunks_of(*chunks),
        text.trim_end()
    );
    Ok(printable(&head).into_owned())
}

/// Forgets some documents.
pub(crate) async fn remove(names: &[String], recall: &Recall, posts: &Path) -> Result<(), Failure> {
    // All of them are looked for first: a slip removes nothing.
    for document in find_all(names, recall.store.as_ref()).await? {
        let file = match (Library { recall }).remove(&document, posts).await? {
            false => "its file is left alone",
            true => "its file too",
        };
        println!("{} is forgotten, with {}; {file}.", printable(&document.slug), chunks_of(document.chunks));
    }
    Ok(())
}

/// Reads some documents anew, or all.
async fn reindex(names: &[String], recall: &Recall, embedding: Embedding<'_>) -> Result<(), Failure> {
    let documents = match names {
        [] => recall.store.documents().await?,
        names => find_all(names, recall.store.as_ref()).await?,
    };
    let bar = bar(documents.len() as u64, "{wide_bar} {pos} of {len} documents");
    let (mut gone, mut faults, mut read) = (Vec::new(), Vec::new(), 0_usize);
    for document in &documents {
        match (Library { recall }).reindex(document).await {
            Ok(true) => read += 1,
            Ok(false) => {
                read += 1;
                gone.push(format!("{} ({})", document.slug, document.source));
            }
            Err(LibraryError::File { path, reason }) => faults.push(format!("{}: {reason}", path.display())),
            Err(error) => return Err(error.into()),
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    println!("{} read anew.", if read == 1 { "1 document".into() } else { format!("{read} documents") });
    for document in gone {
        println!("{} is not on the disk any more; what was kept of it was read.", printable(&document));
    }
    give_vectors(recall, embedding).await?;
    for fault in &faults {
        eprintln!("{}.", printable(fault));
    }
    match faults.is_empty() {
        true => Ok(()),
        false => Err(Failure::new(FailureKind::Failed, "not everything was read anew")
            .hint("What could not be read is remembered as it was.")),
    }
}

async fn find_all(names: &[String], store: &dyn Store) -> Result<Vec<Document>, Failure> {
    let mut documents = Vec::new();
    for name in names {
        documents.push(find(name, store).await?);
    }
    Ok(documents)
}

/// The document of a name or a number.
pub(crate) async fn find(name: &str, store: &dyn Store) -> Result<Document, Failure> {
    store.document(name).await?.ok_or_else(|| {
        Failure::new(FailureKind::Usage, format!("there is no document \"{name}\""))
            .hint("memoir docs list shows all of them.")
    })
}
