//! Request to import conversations.

use std::path::PathBuf;

use memoir_import::{DateOrder, HistoryFormat};
use serde::{Deserialize, Serialize};

/// Request to import conversations from another program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportRequest {
    /// Program to import from.
    pub source: HistoryFormat,
    /// Files and directories to import. A directory selects all files of the program's format in it. If empty, the
    /// history of the current user, for programs that keep one.
    #[serde(default)]
    pub paths: Vec<PathBuf>,
    /// Name of a WhatsApp chat. Derived from the file name if `None`.
    pub name: Option<String>,
    /// Order of day, month and year in a WhatsApp chat. Detected from its dates if `None`.
    pub dates: Option<DateStyle>,
    /// Whether to only report what would be added.
    #[serde(default)]
    pub dry_run: bool,
}

impl ImportRequest {
    /// Creates a request to import these files and directories.
    pub fn new(source: HistoryFormat, paths: Vec<PathBuf>) -> Self {
        Self { source, paths, name: None, dates: None, dry_run: false }
    }
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
    fn the_source_is_named_by_its_tag() {
        for format in [HistoryFormat::ClaudeCode, HistoryFormat::AiChat, HistoryFormat::OpenWebUi] {
            let request: ImportRequest = serde_json::from_value(json!({"source": format.tag()})).unwrap();
            assert_eq!(request, ImportRequest::new(format, Vec::new()));
        }
    }
}
