//! Documents as text.

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

use super::workers::describe_stop;

/// More files than this are counted instead of listed.
const MOST_LISTED: u64 = 20;

/// Returns what became of added files, or `None` if none was read.
pub(crate) fn added(report: &AddReport) -> Option<String> {
    if report.examined > MOST_LISTED {
        return Some(totals(report));
    }
    let lines: Vec<String> = report.files.iter().map(added_file).collect();
    (!lines.is_empty()).then(|| printable(&lines.join("\n")).into_owned())
}

fn totals(report: &AddReport) -> String {
    let counts = &report.counts;
    format!(
        "{} added, {} changed, {} unchanged, {} the same as others, {} moved; {} new.",
        counts.added,
        counts.changed,
        counts.unchanged,
        counts.same,
        counts.moved,
        chunks(counts.chunks)
    )
}

fn added_file(file: &DocumentFile) -> String {
    let DocumentFile { path, outcome, slug, chunks: count } = file;
    match outcome {
        AddOutcome::Added => format!("{slug} added, {}", chunks(*count)),
        AddOutcome::Changed => format!("{slug} has changed, {} new", chunks(*count)),
        AddOutcome::Unchanged => format!("{slug} has not changed"),
        AddOutcome::SameAs => format!("{} is the same as {slug}", path.display()),
        AddOutcome::Moved => format!("{slug} is in {} now", path.display()),
    }
}

/// Returns a line for each file that could not be read.
pub(crate) fn skipped(files: &[SkippedFile]) -> Vec<String> {
    let line = |file: &SkippedFile| format!("{}: {}.", file.path.display(), file.reason);
    files.iter().map(|file| printable(&line(file)).into_owned()).collect()
}

/// Returns a line for each document.
pub(crate) fn list(list: &DocumentList) -> String {
    let documents = &list.documents;
    if documents.is_empty() {
        return "There are no documents. memoir docs add PATH adds files and folders.".into();
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
            "{}  {:width$}  {:>10}  {}{tags}{kind}",
            document.date,
            document.slug,
            chunks(document.chunks),
            document.title,
        );
    }
    printable(text.trim_end()).into_owned()
}

/// Returns a document with its text.
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

/// Returns a line for each document that was removed.
pub(crate) fn removed(report: &RemoveReport) -> String {
    let lines = report.removed.iter().map(|document| {
        let file = if document.is_file_deleted { "its file too" } else { "its file is left alone" };
        format!("{} is forgotten, with {}; {file}.", document.slug, chunks(document.chunks))
    });
    printable(&lines.collect::<Vec<_>>().join("\n")).into_owned()
}

/// Returns what became of documents that were read again.
pub(crate) fn reindexed(report: &ReindexReport) -> String {
    let documents = match report.reindexed {
        1 => "1 document".to_owned(),
        count => format!("{count} documents"),
    };
    let mut text = format!("{documents} read anew.");
    for file in &report.missing {
        text.push_str(&format!(
            "\n{} ({}) is not on the disk any more; what was kept of it was read.",
            file.slug, file.source
        ));
    }
    printable(&text).into_owned()
}

/// Returns why not every chunk was embedded, if some were not.
pub(crate) fn embed_trouble(report: &EmbedReport) -> Option<String> {
    let reason = match report.stopped {
        Some(stop @ (WorkerStop::BudgetSpent | WorkerStop::PriceUnknown)) => describe_stop(stop).to_owned(),
        Some(WorkerStop::Failing) | None => report.last_error.clone()?,
    };
    let text = format!(
        "Not everything was read: {reason}. The rest is read in the background; until then its words find it."
    );
    Some(printable(&text).into_owned())
}

/// Returns a number of chunks in words.
pub(crate) fn chunks(count: u64) -> String {
    if count == 1 { "1 chunk".into() } else { format!("{count} chunks") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(files: u64) -> AddReport {
        let file =
            DocumentFile { path: "tea.md".into(), outcome: AddOutcome::Added, slug: "tea".into(), chunks: 2 };
        let mut report = AddReport { examined: files, ..AddReport::default() };
        (report.counts.added, report.counts.chunks) = (files, 2 * files);
        report.files = (0..files).map(|_| file.clone()).collect();
        report
    }

    #[test]
    fn few_files_are_listed_and_many_are_counted() {
        assert_eq!(added(&report(0)), None);
        assert_eq!(added(&report(2)).as_deref(), Some("tea added, 2 chunks\ntea added, 2 chunks"));
        assert_eq!(
            added(&report(21)).as_deref(),
            Some("21 added, 0 changed, 0 unchanged, 0 the same as others, 0 moved; 42 chunks new.")
        );
    }
}
