//! Runs `memoir docs` and `/docs`.

use memoir_recall::Recall;
use memoir_runtime::{
    Failure,
    home::Home,
    operations::{
        documents::{self, AddDocuments, DocumentNames},
        sharing,
    },
};
use memoir_workers::WorkerContext;

use crate::{
    args::DocsCommand,
    progress::ProgressBars,
    render::{self, print, print_report},
};

/// How new chunks are embedded.
pub(crate) enum Embedding<'a> {
    /// Immediately, with a progress bar.
    Immediate(&'a WorkerContext),
    /// By a worker in the background.
    InBackground,
    /// Not at all, because embedding is switched off.
    Off,
}

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
        DocsCommand::Share { name } => share(&name, true, recall).await,
        DocsCommand::Unshare { name } => share(&name, false, recall).await,
        DocsCommand::Remove { names } => remove(&names, recall, home).await,
        DocsCommand::Reindex { names } => reindex(DocumentNames { names }, recall, embedding).await,
    }
}

async fn add(request: AddDocuments, recall: &Recall, embedding: Embedding<'_>) -> Result<(), Failure> {
    let report = {
        let mut bars = ProgressBars::default();
        documents::add(&request, recall, &mut |progress| bars.show(progress)).await?
    };
    if let Some(text) = render::documents::add_report(&report) {
        print(&text)?;
    }
    embed(recall, embedding).await?;
    render::documents::skipped_files(&report.skipped).iter().for_each(|line| note!("{line}"));
    report.check_complete()
}

async fn share(name: &str, is_shared: bool, recall: &Recall) -> Result<(), Failure> {
    let report = sharing::share_document(name, is_shared, recall.store.as_ref()).await?;
    let programs = if is_shared { "every project" } else { "its project only" };
    print(&format!("Programs that work for {programs} can now see the document {}.", report.document.slug))
}

async fn remove(names: &[String], recall: &Recall, home: &Home) -> Result<(), Failure> {
    let request = DocumentNames { names: names.to_vec() };
    let report = documents::remove(&request, recall, home).await?;
    print(&render::documents::remove_report(&report))
}

async fn reindex(request: DocumentNames, recall: &Recall, embedding: Embedding<'_>) -> Result<(), Failure> {
    let report = {
        let mut bars = ProgressBars::default();
        documents::reindex(&request, recall, &mut |progress| bars.show(progress)).await?
    };
    print(&render::documents::reindex_report(&report))?;
    embed(recall, embedding).await?;
    render::documents::skipped_files(&report.skipped).iter().for_each(|line| note!("{line}"));
    report.check_complete()
}

/// Embeds new chunks, or prints why they are not embedded yet.
async fn embed(recall: &Recall, embedding: Embedding<'_>) -> Result<(), Failure> {
    let unembedded = documents::count_unembedded(recall).await?;
    if unembedded == 0 {
        return Ok(());
    }
    match embedding {
        Embedding::Immediate(context) if recall.embedder.is_available() => {
            let report = {
                let mut bars = ProgressBars::default();
                documents::embed(context, &mut |progress| bars.show(progress)).await?
            };
            if let Some(warning) = render::documents::embed_warning(&report) {
                note!("{warning}");
            }
            Ok(())
        }
        Embedding::Immediate(_) => print(&format!(
            "The embedding model {} is not available. Until it is, documents can be found by keyword only.",
            recall.embedder.name()
        )),
        Embedding::InBackground => print(&format!(
            "{} will be embedded in the background. Until then, new text can be found by keyword only.",
            render::documents::chunks(unembedded)
        )),
        Embedding::Off => print(
            "Embedding is off, so documents can be found by keyword only. Switch it on with `/embeddings on`.",
        ),
    }
}
