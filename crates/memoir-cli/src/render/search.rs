//! Formats search results and recalled passages.

use std::fmt::Write as _;

use memoir_core::{DocumentPassage, Passage, RecalledPassages, TimeZone};
use memoir_runtime::{operations::search::SearchReport, printable};

/// Returns the matching passages with source, date and score, or a message that there are none.
pub(crate) fn report(report: &SearchReport, zone: &TimeZone) -> String {
    let mut text: String = report.notices.iter().map(|notice| format!("{notice}\n")).collect();
    text.push_str(&match report.unindexed {
        _ if !report.recalled.is_empty() => recollection(&report.recalled, zone),
        0 => "Nothing in memory about this.".into(),
        unindexed => format!("Nothing in memory about this. {}", memoir_recall::describe_backlog(unindexed)),
    });
    text
}

/// Returns passages of conversations, then those of documents.
pub(crate) fn recollection(recalled: &RecalledPassages, zone: &TimeZone) -> String {
    format!("{}{}", passages(&recalled.passages, zone), documents(&recalled.documents))
}

fn documents(documents: &[DocumentPassage]) -> String {
    let mut text = String::new();
    for passage in documents {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{}  document {}, \"{}\"  (score {:.2}, similarity {:.2}, coverage {:.2})\n    {}\n",
            passage.document.date,
            passage.document.slug,
            printable(&passage.document.title),
            passage.score,
            passage.similarity,
            passage.coverage,
            printable(&passage.text),
        );
    }
    text
}

fn passages(passages: &[Passage], zone: &TimeZone) -> String {
    let mut text = String::new();
    for passage in passages {
        let speaker = passage.speaker("you");
        let superseded = passage
            .superseded
            .map(|correction| format!("  superseded on {}", correction.created.format_minute(zone)))
            .unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{}  {speaker}, conversation {}, exchange {}  (score {:.2}, similarity {:.2}, coverage {:.2}){superseded}\n    {}\n",
            passage.created.format_minute(zone),
            passage.conversation_id,
            passage.exchange_id,
            passage.score,
            passage.similarity,
            passage.coverage,
            printable(passage.text.trim()).replace('\n', "\n    "),
        );
    }
    text
}
