//! What to import.

use std::path::PathBuf;

use memoir_import::DateOrder;
use serde::{Deserialize, Serialize};

/// Conversations to import.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportRequest {
    /// Where they come from.
    #[serde(flatten)]
    pub source: ImportSource,
    /// Whether to report what would be added, and add nothing.
    #[serde(default)]
    pub dry_run: bool,
}

/// A program to import from, and its files. A directory stands for all files of the format in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "source", rename_all = "kebab-case")]
pub enum ImportSource {
    /// A data export of ChatGPT.
    #[serde(rename = "chatgpt")]
    ChatGpt {
        /// Files and directories.
        paths: Vec<PathBuf>,
    },
    /// A data export of Claude.
    Claude {
        /// Files and directories.
        paths: Vec<PathBuf>,
    },
    /// Sessions of Claude Code.
    ClaudeCode {
        /// Files and directories; the sessions of this user if empty.
        #[serde(default)]
        paths: Vec<PathBuf>,
    },
    /// Sessions of Codex.
    Codex {
        /// Files and directories; the sessions of this user if empty.
        #[serde(default)]
        paths: Vec<PathBuf>,
    },
    /// An export of Memoir, in the format JSONL.
    Memoir {
        /// Files and directories.
        paths: Vec<PathBuf>,
    },
    /// A chat that WhatsApp exported as text.
    #[serde(rename = "whatsapp")]
    WhatsApp {
        /// The file.
        file: PathBuf,
        /// What the chat is called; derived from the name of the file if `None`.
        name: Option<String>,
        /// How dates are written; derived from the dates if `None`.
        dates: Option<DateStyle>,
    },
}

/// Which number of a date comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DateStyle {
    /// 31/12/2023
    Day,
    /// 12/31/2023
    Month,
    /// 2023-12-31
    Year,
}

impl DateStyle {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Day, Self::Month, Self::Year];

    /// Returns its name.
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
    fn requests_name_their_source() {
        let request: ImportRequest = serde_json::from_value(json!({"source": "claude-code"})).unwrap();
        let source = ImportSource::ClaudeCode { paths: Vec::new() };
        assert_eq!(request, ImportRequest { source, dry_run: false });
    }
}
