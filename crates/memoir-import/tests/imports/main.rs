//! Tests every format from file to store.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

mod archives;
mod fixtures;
mod garbage;
mod store;

use memoir_import::{
    HistoryFormat, ImportError, ImportedHistory, read_chatgpt, read_claude, read_claude_code, read_codex,
    read_memoir,
};

type Read = fn(&str) -> Result<ImportedHistory, ImportError>;

/// Fixtures of every format except WhatsApp, each with its reader.
const FILES: [(HistoryFormat, &str, Read); 6] = [
    (HistoryFormat::ChatGpt, include_str!("../../fixtures/chatgpt.json"), read_chatgpt),
    (HistoryFormat::Claude, include_str!("../../fixtures/claude.json"), read_claude),
    (HistoryFormat::ClaudeCode, include_str!("../../fixtures/claude_code.jsonl"), read_claude_code),
    (HistoryFormat::Codex, include_str!("../../fixtures/codex.jsonl"), read_codex),
    (HistoryFormat::Codex, include_str!("../../fixtures/codex_old.jsonl"), read_codex),
    (HistoryFormat::Memoir, include_str!("../../fixtures/memoir.jsonl"), read_memoir),
];
