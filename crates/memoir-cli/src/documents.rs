//! `memoir docs` and `/docs`.

use std::path::Path;

use anstream::eprintln;
use memoir_recall::Recall;
use memoir_runtime::{
    Failure,
    home::Home,
    operations::documents::{self, AddDocuments, DocumentNames},
};
use memoir_workers::WorkerContext;

use crate::{
    args::DocsCommand,
    progress::ProgressBars,
    render::{self, print, print_report},
};

/// Who embeds what was added.
pub(crate) enum Embedding<'a> {
    /// This process, now, with a bar.
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
    match command {
        DocsCommand::Add { paths } => add(AddDocuments { paths }, recall, embedding).await,
        DocsCommand::List { json } => {
            print_report(&documents::list(recall.store.as_ref()).await?, json, render::documents::list)
        }
        DocsCommand::Show { name, json } => {
            print_report(&documents::show(&name, recall).await?, json, render::documents::details)
        }
        DocsCommand::Remove { names } => remove(&names, recall, &home.posts()).await,
        DocsCommand::Reindex { names } => reindex(DocumentNames { names }, recall, embedding).await,
    }
}

async fn add(request: AddDocuments, recall: &Recall, embedding: Embedding<'_>) -> Result<(), Failure> {
    let report = {
        let mut bars = ProgressBars::default();
        documents::add(&request, recall, &mut |progress| bars.show(progress)).await?
    };
    if let Some(text) = render::documents::added(&report) {
        print(&text)?;
    }
    embed(recall, embedding).await?;
    render::documents::skipped(&report.skipped).iter().for_each(|line| eprintln!("{line}"));
    report.check_complete()
}

/// Removes documents, and says so.
pub(crate) async fn remove(names: &[String], recall: &Recall, posts: &Path) -> Result<(), Failure> {
    let request = DocumentNames { names: names.to_vec() };
    let report = documents::remove(&request, recall, posts).await?;
    print(&render::documents::removed(&report))
}

async fn reindex(request: DocumentNames, recall: &Recall, embedding: Embedding<'_>) -> Result<(), Failure> {
    let report = {
        let mut bars = ProgressBars::default();
        documents::reindex(&request, recall, &mut |progress| bars.show(progress)).await?
    };
    print(&render::documents::reindexed(&report))?;
    embed(recall, embedding).await?;
    render::documents::skipped(&report.skipped).iter().for_each(|line| eprintln!("{line}"));
    report.check_complete()
}

/// Embeds new chunks, or says who does.
async fn embed(recall: &Recall, embedding: Embedding<'_>) -> Result<(), Failure> {
    let waiting = documents::count_unembedded(recall).await?;
    if waiting == 0 {
        return Ok(());
    }
    match embedding {
        Embedding::Here(context) if recall.embedder.is_available() => {
            let report = {
                let mut bars = ProgressBars::default();
                documents::embed(context, &mut |progress| bars.show(progress)).await?
            };
            if let Some(trouble) = render::documents::embed_trouble(&report) {
                eprintln!("{trouble}");
            }
            Ok(())
        }
        Embedding::Here(_) => print(&format!(
            "{} cannot be called: until it can, documents are found by their words.",
            recall.embedder.name()
        )),
        Embedding::InBackground => print(&format!(
            "In the background {} will be read; until then words find them.",
            render::documents::chunks(waiting)
        )),
        Embedding::Off => {
            print("Vectors are switched off: documents are found by their words. /embeddings on makes them.")
        }
    }
}
