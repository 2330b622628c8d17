//! The programs that Memoir can be connected to, and the events that it hooks.

use crate::{hosts, places::Places};

/// A program that can use Memoir.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Host {
    /// Anthropic's Claude Code.
    ClaudeCode,
    /// OpenAI's Codex CLI.
    Codex,
    /// Google's Gemini CLI.
    Gemini,
    /// Cursor, the editor and its command-line agent.
    Cursor,
    /// opencode.
    OpenCode,
    /// The Zed editor.
    Zed,
    /// Visual Studio Code with Copilot.
    VsCode,
    /// Windsurf, now named Devin Desktop.
    Windsurf,
}

impl Host {
    /// Every host, in the order in which lists show them.
    pub const ALL: [Self; 8] = [
        Self::ClaudeCode,
        Self::Codex,
        Self::Gemini,
        Self::Cursor,
        Self::OpenCode,
        Self::Zed,
        Self::VsCode,
        Self::Windsurf,
    ];

    /// Returns the name that the command line uses.
    pub const fn tag(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Cursor => "cursor",
            Self::OpenCode => "opencode",
            Self::Zed => "zed",
            Self::VsCode => "vscode",
            Self::Windsurf => "windsurf",
        }
    }

    /// Returns the name of the program.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
            Self::Cursor => "Cursor",
            Self::OpenCode => "opencode",
            Self::Zed => "Zed",
            Self::VsCode => "VS Code",
            Self::Windsurf => "Windsurf",
        }
    }

    /// Returns whether the host keeps its configuration on this machine. A host that was installed but never
    /// started may have none, so callers check `PATH` as well.
    pub fn is_installed(self, places: &Places) -> bool {
        hosts::config_paths(self, places).iter().any(|path| path.exists())
    }
}

/// The moment at which a host runs `memoir hook`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HookMoment {
    /// A session starts or resumes.
    SessionStart,
    /// The user submits a prompt.
    PromptSubmit,
    /// The host is about to summarize the conversation to free its context window.
    BeforeCompaction,
    /// The model has finished its answer.
    TurnEnd,
    /// The session ends.
    SessionEnd,
}

impl HookMoment {
    /// Every event, in the order in which they are written.
    pub const ALL: [Self; 5] =
        [Self::SessionStart, Self::PromptSubmit, Self::BeforeCompaction, Self::TurnEnd, Self::SessionEnd];

    /// Returns the last argument of the hook command, the same for every host.
    pub const fn tag(self) -> &'static str {
        match self {
            Self::SessionStart => "session-start",
            Self::PromptSubmit => "prompt-submit",
            Self::BeforeCompaction => "before-compaction",
            Self::TurnEnd => "turn-end",
            Self::SessionEnd => "session-end",
        }
    }
}
