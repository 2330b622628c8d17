//! What Memoir writes into a file, independent of the file's format.

use std::path::PathBuf;

use crate::{
    error::EditError,
    json_config::{self, JsonConfig},
    toml::{self, TomlEntry},
};

/// The keys from the root of a file to a value.
pub(crate) type KeyPath = Vec<String>;

/// A file of a host.
#[derive(Debug, Clone)]
pub(crate) struct HostFile {
    pub(crate) path: PathBuf,
    pub(crate) content: HostContent,
    /// Whether only the user may read the file if it is created.
    pub(crate) is_private: bool,
}

/// What Memoir writes into a file.
#[derive(Debug, Clone)]
pub(crate) enum HostContent {
    /// Keys in a JSON file.
    Json(JsonConfig),
    /// An MCP server in a TOML file.
    Toml(TomlEntry),
    /// The whole file.
    Text(String),
}

/// Which containers are removed once Memoir's keys are no longer in them.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Prune<'a> {
    /// Those that connecting has created.
    Created(&'a [KeyPath]),
    /// Every container that held only Memoir's keys, because nothing is recorded.
    Emptied,
}

impl Prune<'_> {
    pub(crate) fn includes(self, path: &[&str]) -> bool {
        match self {
            Self::Created(created) => created.iter().any(|keys| keys == path),
            Self::Emptied => true,
        }
    }
}

impl HostContent {
    /// Returns the text with Memoir's content. Leaves it alone if it has that content already.
    pub(crate) fn insert_into(&self, before: Option<&str>) -> Result<String, EditError> {
        match self {
            Self::Json(config) => json_config::insert(config, before),
            Self::Toml(entry) => toml::insert(entry, before.unwrap_or_default()),
            Self::Text(text) => Ok(text.clone()),
        }
    }

    /// Returns the text without Memoir's content.
    pub(crate) fn remove_from(&self, text: &str, prune: Prune<'_>) -> Result<String, EditError> {
        match self {
            Self::Json(config) => json_config::remove(config, text, prune),
            Self::Toml(entry) => toml::remove(entry, text),
            Self::Text(own) if is_same_template(own, text) => Ok(String::new()),
            // Someone has edited the file, so it stays.
            Self::Text(_) => Ok(text.to_owned()),
        }
    }

    /// Returns the containers of Memoir's keys that a text lacks.
    pub(crate) fn missing_containers(&self, before: Option<&str>) -> Vec<KeyPath> {
        match self {
            Self::Json(config) => json_config::missing_containers(config, before),
            Self::Toml(_) | Self::Text(_) => Vec::new(),
        }
    }

    /// Returns whether nothing would be lost if a file with this text were deleted.
    pub(crate) fn is_blank(&self, text: &str) -> bool {
        let content: String = text.trim_start_matches('\u{feff}').split_whitespace().collect();
        content.is_empty() || (matches!(self, Self::Json(_)) && content == "{}")
    }
}

/// Beginning of the only line in which two copies of a plugin may differ: the program that it runs.
const COMMAND_LINE: &str = "const COMMAND = ";

/// Returns whether a text is Memoir's own, for any program.
fn is_same_template(own: &str, text: &str) -> bool {
    let is_same_line = |(own, line): (&str, &str)| {
        own == line || (own.starts_with(COMMAND_LINE) && line.starts_with(COMMAND_LINE))
    };
    own.split('\n').count() == text.split('\n').count()
        && own.split('\n').zip(text.split('\n')).all(is_same_line)
}
