//! Request to import conversations.

use std::path::PathBuf;

use memoir_import::DateOrder;
use serde::{Deserialize, Serialize};

/// Request to import conversations from another program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportRequest {
    /// Program and files to import from.
    #[serde(flatten)]
    pub source: ImportSource,
    /// Whether to only report what would be added.
    #[serde(default)]
    pub dry_run: bool,
}

/// Program to import from, and its files. A directory selects all files of the program's format in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "source", rename_all = "kebab-case")]
pub enum ImportSource {
    /// aichat's sessions and messages.
    #[serde(rename = "aichat")]
    AiChat {
        /// Files and directories to import. If empty, the history of the current user.
        #[serde(default)]
        paths: Vec<PathBuf>,
    },
    /// A ChatGPT data export.
    #[serde(rename = "chatgpt")]
    ChatGpt {
        /// Files and directories to import.
        paths: Vec<PathBuf>,
    },
    /// A Claude data export.
    Claude {
        /// Files and directories to import.
        paths: Vec<PathBuf>,
    },
    /// Claude Code sessions, one file each.
    ClaudeCode {
        /// Files and directories to import. If empty, all sessions of the current user.
        #[serde(default)]
        paths: Vec<PathBuf>,
    },
    /// Codex sessions, one file each.
    Codex {
        /// Files and directories to import. If empty, all sessions of the current user.
        #[serde(default)]
        paths: Vec<PathBuf>,
    },
    /// Copilot CLI sessions, one file each.
    Copilot {
        /// Files and directories to import. If empty, all sessions of the current user.
        #[serde(default)]
        paths: Vec<PathBuf>,
    },
    /// Cursor's databases.
    Cursor {
        /// Files and directories to import. If empty, the history of the current user.
        #[serde(default)]
        paths: Vec<PathBuf>,
    },
    /// Gemini's activities in a Google Takeout.
    Gemini {
        /// Files and directories to import.
        paths: Vec<PathBuf>,
    },
    /// Log databases of the `llm` command.
    Llm {
        /// Files and directories to import. If empty, the history of the current user.
        #[serde(default)]
        paths: Vec<PathBuf>,
    },
    /// A Memoir export in JSONL format.
    Memoir {
        /// Files and directories to import.
        paths: Vec<PathBuf>,
    },
    /// opencode's sessions and databases.
    #[serde(rename = "opencode")]
    OpenCode {
        /// Files and directories to import. If empty, the history of the current user.
        #[serde(default)]
        paths: Vec<PathBuf>,
    },
    /// Chats exported from Open WebUI, or its database.
    #[serde(rename = "open-webui")]
    OpenWebUi {
        /// Files and directories to import.
        paths: Vec<PathBuf>,
    },
    /// A chat exported by WhatsApp, as a text or zip file.
    #[serde(rename = "whatsapp")]
    WhatsApp {
        /// File to import.
        file: PathBuf,
        /// Name of the chat. Derived from the file name if `None`.
        name: Option<String>,
        /// Order of day, month and year in dates. Detected from the dates if `None`.
        dates: Option<DateStyle>,
    },
}

/// Order of day, month and year, named after the first of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DateStyle {
    /// Day first, as in 31/12/2023.
    Day,
    /// Month first, as in 12/31/2023.
    Month,
    /// Year first, as in 2023-12-31.
    Year,
}

impl DateStyle {
    /// All date styles, in the order in which `--help` lists them.
    pub const ALL: [Self; 3] = [Self::Day, Self::Month, Self::Year];

    /// Returns the name of the style.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Month => "month",
            Self::Year => "year",
        }
    }
}

impl From<DateStyle> for DateOrder {
    fn from(style: DateStyle) -> Self {
        match style {
            DateStyle::Day => Self::DayFirst,
            DateStyle::Month => Self::MonthFirst,
            DateStyle::Year => Self::YearFirst,
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use serde_json::json;

    use super::*;

    #[test]
    fn the_source_is_a_field_of_the_request() {
        let request: ImportRequest = serde_json::from_value(json!({"source": "claude-code"})).unwrap();
        let source = ImportSource::ClaudeCode { paths: Vec::new() };
        assert_eq!(request, ImportRequest { source, dry_run: false });
        for source in ["aichat", "copilot", "cursor", "llm", "opencode"] {
            let request: Result<ImportRequest, _> = serde_json::from_value(json!({"source": source}));
            assert!(request.is_ok(), "{source}");
        }
        let open_webui: ImportRequest =
            serde_json::from_value(json!({"source": "open-webui", "paths": ["a"]})).unwrap();
        assert_eq!(open_webui.source, ImportSource::OpenWebUi { paths: vec!["a".into()] });
    }
}
