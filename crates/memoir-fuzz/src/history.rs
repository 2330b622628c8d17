//! What a task remembers: lines of JSON that someone may have spoiled.

use std::fs;

use memoir_core::{DraftMessage, MessageBody, Provenance, RunId, TimeZone, Timestamp, Visibility};
use memoir_schedule::TaskHistory;

/// So many runs are loaded.
const MOST: usize = 5;

/// Sunday, 15 November 2026.
const NOW: Timestamp = Timestamp::from_millis(1_794_700_800_000);

/// What is no message is skipped and said; a run that is given is complete; and a run that is added is read again, whatever
/// stands before it.
pub fn history(data: &[u8]) {
    #[expect(clippy::expect_used, reason = "without a folder nothing can be tried")]
    let folder = tempfile::tempdir().expect("a folder");
    let history = TaskHistory::below(folder.path());
    let file = history.folder_of("task").join("2026-11-15.jsonl");
    let written = fs::create_dir_all(history.folder_of("task")).and_then(|()| fs::write(&file, data));
    assert!(written.is_ok(), "{written:?}");
    let lines = data.split(|byte| *byte == b'\n').filter(|line| !line.iter().all(u8::is_ascii_whitespace));
    // What begins like this may be a message; nothing else is.
    let spoiled = lines.clone().filter(|line| !matches!(line.trim_ascii_start(), [b'{' | b'[', ..])).count();
    let lines = lines.count();
    let runs = load(&history, lines, spoiled);

    let said = ["ask", "report"].map(|text| DraftMessage {
        author: None,
        body: match text {
            "ask" => MessageBody::User { text: text.into() },
            _ => MessageBody::Assistant { text: text.into(), tool_calls: Vec::new() },
        },
        visibility: Visibility::Shown,
        provenance: Provenance::Said,
        by_others: false,
        tokens: 1,
        created: NOW,
    });
    let added = history.append("task", RunId::new(i64::MAX), &said, &TimeZone::UTC, NOW);
    assert!(added.is_ok(), "{added:?}");
    let more = load(&history, lines + said.len(), spoiled);
    assert_eq!(more.len(), (runs.len() + 1).min(MOST));
    let last: Vec<&str> = more.last().into_iter().flatten().map(String::as_str).collect();
    assert!(last.ends_with(&["ask", "report"]), "{last:?}");
}

/// The texts of the runs of a history that has so many lines, of which so many are no messages for sure.
fn load(history: &TaskHistory, lines: usize, spoiled: usize) -> Vec<Vec<String>> {
    #[expect(clippy::expect_used, reason = "no content of a file is an error")]
    let loaded = history.load("task", MOST).expect("a history");
    assert!(loaded.runs.len() <= MOST);
    let messages: usize = loaded.runs.iter().map(Vec::len).sum();
    assert!(messages + loaded.warnings.len() <= lines, "a line is a message or a warning");
    assert!(loaded.warnings.len() >= spoiled, "what is skipped is said: {:?}", loaded.warnings);
    for run in &loaded.runs {
        let last = run.last().map(|message| &message.body);
        assert!(
            matches!(last, Some(MessageBody::Assistant { tool_calls, .. }) if tool_calls.is_empty()),
            "{run:?}"
        );
    }
    let texts = |run: &Vec<_>| run.iter().map(text_of).collect();
    loaded.runs.iter().map(texts).collect()
}

fn text_of(message: &memoir_core::Message) -> String {
    message.body.text().to_owned()
}
