//! What was found in memory, for reading.

use std::fmt::Write as _;

use memoir_core::{Passage, TimeZone};

use crate::printable::printable;

/// Passages with source, date and score.
pub(crate) fn text(passages: &[Passage], zone: &TimeZone) -> String {
    if passages.is_empty() {
        return "Nothing in memory about this.".into();
    }
    let mut text = String::new();
    for passage in passages {
        let who = passage.speaker("you");
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{}  {who}, conversation {}, exchange {}  (score {:.2}, similarity {:.2}, words {:.2})\n    {}\n",
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
