//! Formats lists, details and changes of documents.

use std::fmt::Write as _;

use memoir_core::{Document, DocumentKind};
use memoir_docs::AddOutcome;
use memoir_runtime::{
    operations::{
        documents::{
            AddReport, DocumentDetails, DocumentFile, DocumentList, EmbedReport, ReindexReport, RemoveReport,
            SkippedFile,
        },
        workers::WorkerStop,
    },
    printable,
};

use super::{pluralize, workers::describe_stop};

/// Maximum number of files to list. More files are only counted.
const MAX_LISTED: u64 = 20;

/// Returns the result for each file or, if there are many, the totals. Returns `None` if no file was read.
pub(crate) fn add_report(report: &AddReport) -> Option<String> {
    if report.examined > MAX_LISTED {
        return Some(totals(report));
    }
    let lines: Vec<String> = report.files.iter().map(file_line).collect();
    (!lines.is_empty()).then(|| printable(&lines.join("\n")).into_owned())
}

fn totals(report: &AddReport) -> String {
    let counts = &report.counts;
    format!(
        "{} added, {} changed, {} unchanged, {} duplicates, {} moved; {}.",
        counts.added,
        counts.changed,
        counts.unchanged,
        counts.same,
        counts.moved,
        new_chunks(counts.chunks)
    )
}

fn file_line(file: &DocumentFile) -> String {
    let DocumentFile { path, outcome, slug, chunks: count, lost } = file;
    let line = match outcome {
        AddOutcome::Added => format!("Added {slug} ({})", chunks(*count)),
        AddOutcome::Changed => format!("Updated {slug} ({})", new_chunks(*count)),
        AddOutcome::Unchanged => format!("{slug} is unchanged"),
        AddOutcome::Duplicate => format!("{} is a duplicate of {slug}", path.display()),
        AddOutcome::Moved => format!("{slug} has moved to {}", path.display()),
    };
    match lost {
        Some(lost) => format!("{line}, without {lost}"),
        None => line,
    }
}

/// Returns one line per file that could not be read.
pub(crate) fn skipped_files(files: &[SkippedFile]) -> Vec<String> {
    let line = |file: &SkippedFile| format!("Skipped {}: {}.", file.path.display(), file.reason);
    files.iter().map(|file| printable(&line(file)).into_owned()).collect()
}

/// Returns one line per document: date, name, title, size and tags.
pub(crate) fn list(list: &DocumentList) -> String {
    let documents = &list.documents;
    if documents.is_empty() {
        return "There are no documents. Add files and directories with `memoir docs add PATH`.".into();
    }
    let width = documents.iter().map(|document| document.slug.chars().count()).max().unwrap_or(0).min(40);
    let mut text = String::new();
    for document in documents {
        let kind = if document.kind == DocumentKind::Post { "  (post)" } else { "" };
        let tags = if document.tags.is_empty() {
            String::new()
        } else {
            format!("  [{}]", document.tags.join(", "))
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{}  {:width$}  {} ({}){tags}{kind}",
            document.date,
            document.slug,
            document.title,
            chunks(document.chunks),
        );
    }
    printable(text.trim_end()).into_owned()
}

pub(crate) fn details(details: &DocumentDetails) -> String {
    let Document { slug, title, date, tags, source, chunks: count, tokens, .. } = &details.document;
    let tags = if tags.is_empty() { "none".to_owned() } else { tags.join(", ") };
    let text = format!(
        "{title}\n{slug}, {date}, tags: {tags}\n{source}\n{}, {tokens} tokens\n\n{}",
        chunks(*count),
        details.text.trim_end()
    );
    printable(&text).into_owned()
}

pub(crate) fn remove_report(report: &RemoveReport) -> String {
    let lines = report
        .removed
        .iter()
        .map(|document| deletion(&document.slug, document.chunks, document.is_file_deleted));
    let text = lines.collect::<Vec<_>>().join("\n") + &super::forgetting::copies(&report.copies);
    printable(&text).into_owned()
}

pub(super) fn deletion(slug: &str, count: u64, is_file_deleted: bool) -> String {
    let file = if is_file_deleted { "Its file was deleted too." } else { "Its file was kept." };
    format!("Deleted {slug} ({}). {file}", chunks(count))
}

/// Returns the number of reindexed documents, and a line for each whose file is missing.
pub(crate) fn reindex_report(report: &ReindexReport) -> String {
    let mut text = format!("Reindexed {}.", pluralize(report.reindexed, "document", "documents"));
    for file in &report.missing {
        text.push_str(&format!(
            "\n{} ({}) no longer exists on disk, so its stored text was used.",
            file.slug, file.source
        ));
    }
    printable(&text).into_owned()
}

/// Returns a warning if some chunks could not be embedded.
pub(crate) fn embed_warning(report: &EmbedReport) -> Option<String> {
    let reason = match report.stopped {
        Some(stop @ (WorkerStop::BudgetSpent | WorkerStop::PriceUnknown)) => describe_stop(stop).to_owned(),
        Some(WorkerStop::Failing) | None => report.last_error.clone()?,
    };
    let text = format!(
        "Some chunks were not embedded: {reason}. They will be embedded in the background. Until then, they can be \
         found by keyword only."
    );
    Some(printable(&text).into_owned())
}

pub(crate) fn chunks(count: u64) -> String {
    pluralize(count, "chunk", "chunks")
}

fn new_chunks(count: u64) -> String {
    pluralize(count, "new chunk", "new chunks")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(files: u64) -> AddReport {
        let file = DocumentFile {
            path: "tea.md".into(),
            outcome: AddOutcome::Added,
            slug: "tea".into(),
            chunks: 2,
            lost: None,
        };
        let mut report = AddReport { examined: files, ..AddReport::default() };
        (report.counts.added, report.counts.chunks) = (files, 2 * files);
        report.files = (0..files).map(|_| file.clone()).collect();
        report
    }

    #[test]
    fn few_files_are_listed_and_many_are_counted() {
        assert_eq!(add_report(&report(0)), None);
        assert_eq!(add_report(&report(2)).as_deref(), Some("Added tea (2 chunks)\nAdded tea (2 chunks)"));
        assert_eq!(
            add_report(&report(21)).as_deref(),
            Some("21 added, 0 changed, 0 unchanged, 0 duplicates, 0 moved; 42 new chunks.")
        );
    }
}
