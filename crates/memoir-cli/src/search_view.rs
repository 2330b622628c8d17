//! What was found in memory, for reading.

use std::fmt::Write as _;

use memoir_core::{DocumentPassage, Passage, Recalled, Recollection, TimeZone};

use memoir_runtime::printable;

/// Passages with source, date and score, or that there are none.
pub(crate) fn text(found: &Recollection, zone: &TimeZone) -> String {
    let mut text: String = found.notices.iter().map(|notice| format!("{notice}\n")).collect();
    text.push_str(&match found.behind {
        _ if !found.is_empty() => {
            format!("{}{}", passages(&found.passages, zone), documents(&found.documents))
        }
        0 => "Nothing in memory about this.".into(),
        behind => format!("Nothing in memory about this. {}", memoir_recall::behind(behind)),
    });
    text
}

/// What memory put into a prompt.
pub(crate) fn recalled(recalled: &Recalled, zone: &TimeZone) -> String {
    format!("{}{}", passages(&recalled.passages, zone), documents(&recalled.documents))
}

/// What documents say, with source, date and score.
fn documents(documents: &[DocumentPassage]) -> String {
    let mut text = String::new();
    for passage in documents {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{}  document {}, \"{}\"  (score {:.2}, similarity {:.2}, words {:.2})\n    {}\n",
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

/// Passages with source, date and score.
fn passages(passages: &[Passage], zone: &TimeZone) -> String {
    let mut text = String::new();
    for passage in passages {
        let who = passage.speaker("you");
        let superseded = passage
            .superseded
            .map(|date| format!("  superseded on {}", date.minute_in(zone)))
            .unwrap_or_default();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{}  {who}, conversation {}, exchange {}  (score {:.2}, similarity {:.2}, words {:.2}){superseded}\n    {}\n",
            passage.created.minute_in(zone),
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
