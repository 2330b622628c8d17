//! Tests every format from file to store.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

mod archives;
mod databases;
mod fixtures;
mod garbage;
mod store;

use memoir_core::{TimeZone, Timestamp};
use memoir_import::{
    HistoryFormat, ImportError, ImportedHistory, read_aichat, read_chatgpt, read_claude, read_claude_code,
    read_codex, read_copilot, read_gemini, read_gemini_cli, read_memoir, read_open_webui, read_opencode,
};

type Read = fn(&str) -> Result<ImportedHistory, ImportError>;

/// Fixtures of every format except WhatsApp, each with its reader.
const FILES: [(HistoryFormat, &str, Read); 14] = [
    (HistoryFormat::ChatGpt, include_str!("../../fixtures/chatgpt.json"), read_chatgpt),
    (HistoryFormat::Claude, include_str!("../../fixtures/claude.json"), read_claude),
    (HistoryFormat::ClaudeCode, include_str!("../../fixtures/claude_code.jsonl"), read_claude_code),
    (HistoryFormat::Codex, include_str!("../../fixtures/codex.jsonl"), read_codex),
    (HistoryFormat::Codex, include_str!("../../fixtures/codex_old.jsonl"), read_codex),
    (HistoryFormat::Memoir, include_str!("../../fixtures/memoir.jsonl"), read_memoir),
    (HistoryFormat::AiChat, include_str!("../../fixtures/aichat.yaml"), read_aichat_file),
    (HistoryFormat::AiChat, include_str!("../../fixtures/aichat_messages.md"), read_aichat_file),
    (HistoryFormat::Copilot, include_str!("../../fixtures/copilot.jsonl"), read_copilot_file),
    (HistoryFormat::Copilot, include_str!("../../fixtures/copilot_old.json"), read_copilot_file),
    (HistoryFormat::Gemini, include_str!("../../fixtures/gemini.json"), read_gemini),
    (HistoryFormat::OpenCode, include_str!("../../fixtures/opencode.json"), read_opencode),
    (HistoryFormat::OpenWebUi, include_str!("../../fixtures/open_webui.json"), read_open_webui),
    (HistoryFormat::GeminiCli, include_str!("../../fixtures/gemini_cli.jsonl"), read_gemini_cli_file),
];

fn read_gemini_cli_file(text: &str) -> Result<ImportedHistory, ImportError> {
    read_gemini_cli(text, None)
}

fn read_aichat_file(text: &str) -> Result<ImportedHistory, ImportError> {
    read_aichat(text, "garden", Timestamp::from_millis(1_750_000_000_000), &TimeZone::UTC)
}

fn read_copilot_file(text: &str) -> Result<ImportedHistory, ImportError> {
    read_copilot(text, None)
}
