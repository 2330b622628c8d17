//! Every format, from a file to the store.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

mod fixtures;
mod garbage;
mod store;

use memoir_import::{Format, ImportError, Talk, chatgpt, claude, claude_code, codex, memoir};

type Read = fn(&str) -> Result<Talk, ImportError>;

/// A file of each kind, with who reads it.
const FILES: [(Format, &str, Read); 6] = [
    (Format::ChatGpt, include_str!("../../fixtures/chatgpt.json"), chatgpt),
    (Format::Claude, include_str!("../../fixtures/claude.json"), claude),
    (Format::ClaudeCode, include_str!("../../fixtures/claude_code.jsonl"), claude_code),
    (Format::Codex, include_str!("../../fixtures/codex.jsonl"), codex),
    (Format::Codex, include_str!("../../fixtures/codex_old.jsonl"), codex),
    (Format::Memoir, include_str!("../../fixtures/memoir.jsonl"), memoir),
];
