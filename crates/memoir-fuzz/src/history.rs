//! Task history files, which are JSON Lines and may be damaged.

use std::fs;

use memoir_core::{DraftMessage, MessageBody, Provenance, RunId, TimeZone, Timestamp, Visibility};
use memoir_schedule::TaskHistory;

/// Maximum number of runs to load.
const MAX_RUNS: usize = 5;

/// Sunday, 15 November 2026.
const NOW: Timestamp = Timestamp::from_millis(1_794_700_800_000);

/// Checks that lines that are not messages are skipped with a warning, that loaded runs are complete, and
/// that a new run can be read regardless of the lines before it.
pub fn history(data: &[u8]) {
    #[expect(clippy::expect_used, reason = "the target needs a directory")]
    let directory = tempfile::tempdir().expect("create a temporary directory");
    let history = TaskHistory::in_data_directory(directory.path());
    let file = history.task_directory("task").join("2026-11-15.jsonl");
    let result = fs::create_dir_all(history.task_directory("task")).and_then(|()| fs::write(&file, data));
    assert!(result.is_ok(), "{result:?}");
    let lines = data.split(|byte| *byte == b'\n').filter(|line| !line.iter().all(u8::is_ascii_whitespace));
    // Only lines that start like JSON objects or arrays can be messages.
    let invalid = lines.clone().filter(|line| !matches!(line.trim_ascii_start(), [b'{' | b'[', ..])).count();
    let line_count = lines.count();
    let runs = load(&history, line_count, invalid);

    let messages = ["ask", "report"].map(|text| DraftMessage {
        author: None,
        body: match text {
            "ask" => MessageBody::User { text: text.into() },
            _ => MessageBody::Assistant { text: text.into(), tool_calls: Vec::new() },
        },
        visibility: Visibility::Shown,
        provenance: Provenance::Original,
        by_others: false,
        tokens: 1,
        created: NOW,
    });
    let appended = history.append("task", RunId::new(i64::MAX), &messages, &TimeZone::UTC, NOW);
    assert!(appended.is_ok(), "{appended:?}");
    let runs_after = load(&history, line_count + messages.len(), invalid);
    assert_eq!(runs_after.len(), (runs.len() + 1).min(MAX_RUNS));
    let last: Vec<&str> = runs_after.last().into_iter().flatten().map(String::as_str).collect();
    assert!(last.ends_with(&["ask", "report"]), "{last:?}");
}

/// Loads a history file with `line_count` lines, of which at least `invalid` are not messages. Returns the
/// texts of its runs.
fn load(history: &TaskHistory, line_count: usize, invalid: usize) -> Vec<Vec<String>> {
    #[expect(clippy::expect_used, reason = "loading must not fail, whatever the file contains")]
    let loaded = history.load("task", MAX_RUNS).expect("load the history");
    assert!(loaded.runs.len() <= MAX_RUNS);
    let messages: usize = loaded.runs.iter().map(Vec::len).sum();
    assert!(messages + loaded.warnings.len() <= line_count, "a line is a message or a warning");
    assert!(loaded.warnings.len() >= invalid, "every skipped line has a warning: {:?}", loaded.warnings);
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
