//! Changing a config file while preserving its comments and order.

use std::{
    io::{self, Write as _},
    path::{Path, PathBuf},
};

use memoir_core::{Clock as _, SystemClock};
use memoir_store::Settings;
use serde::{Deserialize, Serialize};
use toml_edit::{DocumentMut, Item, Table, TableLike};

use super::{ConfigSources, names, validate};
use crate::{
    config::{Config, ConfigError, project_config, read_file},
    failure::Failure,
    files::Partial,
    settings,
};

/// Config file to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConfigFile {
    /// The config file of the user.
    #[default]
    User,
    /// The config file of the project.
    Project,
}

/// Request to set or remove one setting in a config file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeSetting {
    /// Name of the setting, or one of its aliases.
    pub key: String,
    /// New value, or `None` to remove the setting from the file.
    pub value: Option<String>,
    /// File to change, by default the user's.
    #[serde(default)]
    pub file: ConfigFile,
}

/// Result of changing a setting in a config file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SettingChange {
    /// Full name of the setting.
    pub key: String,
    /// New value, or `None` if the setting was removed.
    pub value: Option<String>,
    /// Path of the changed file.
    pub path: PathBuf,
    /// Config file of the project, if it overrides this change.
    pub overridden_by: Option<PathBuf>,
}

/// Sets or removes a value in a config file. The file is only written if the result is valid. If the user's file is
/// changed, a value of the same setting in the store is removed, because it would override the file.
///
/// # Errors
///
/// Fails if the setting does not exist, or if the file cannot be parsed, would become invalid, or cannot be written.
pub async fn change(
    request: &ChangeSetting,
    sources: &ConfigSources<'_>,
    store: &dyn Settings,
) -> Result<SettingChange, Failure> {
    let key = names::canonical_name(&request.key)?;
    let path = match request.file {
        ConfigFile::User => sources.home.config_file(),
        ConfigFile::Project => project_config(sources.project),
    };
    let text = changed_text(&read_file(&path)?, &key, request.value.as_deref(), &path)?;
    let result = match request.file {
        ConfigFile::User => Config::parse(&text),
        ConfigFile::Project => Config::parse_project(&text),
    };
    write_if_valid(&path, &text, result)?;
    if request.file == ConfigFile::User && store.setting(&key).await?.is_some() {
        store.set_setting(&key, None, SystemClock.now()).await?;
    }
    let is_overridden = request.file == ConfigFile::User && sources.read()?.project_keys.contains(&key);
    let overridden_by = is_overridden.then(|| project_config(sources.project));
    Ok(SettingChange { key, value: request.value.clone(), path, overridden_by })
}

/// Writes the user's config if it is valid.
///
/// # Errors
///
/// Fails if it is not, or cannot be written.
pub(crate) fn write_checked(path: &Path, text: &str) -> Result<(), Failure> {
    write_if_valid(path, text, Config::parse(text))
}

fn write_if_valid(path: &Path, text: &str, parsed: Result<Config, ConfigError>) -> Result<(), Failure> {
    parsed.and_then(|config| validate(&config)).map_err(|error| invalid_config(&error, path))?;
    write_atomically(path, text).map_err(|error| {
        Failure::failed(format!("could not write {}: {error}", path.display())).hint("Nothing was changed.")
    })
}

fn invalid_config(error: &ConfigError, path: &Path) -> Failure {
    Failure::usage(format!("{} would become invalid: {error}", path.display())).hint("Nothing was changed.")
}

fn changed_text(text: &str, key: &str, value: Option<&str>, path: &Path) -> Result<String, Failure> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        Failure::failed(format!("could not parse {}: {}", path.display(), error.message()))
            .hint("Nothing was changed. Fix the file first.")
    })?;
    if !change_document(&mut document, key, value) {
        return Err(Failure::failed(format!(
            "could not change {key} in {}: a parent key is not a table",
            path.display()
        ))
        .hint("Nothing was changed. Fix the file first."));
    }
    let mut new_text = document.to_string();
    if !new_text.is_empty() && !new_text.ends_with('\n') {
        new_text.push('\n');
    }
    Ok(new_text)
}

/// Sets or removes a value. Returns `false` if a parent of `key` exists and is not a table.
fn change_document(document: &mut DocumentMut, key: &str, value: Option<&str>) -> bool {
    let parts: Vec<&str> = key.split('.').collect();
    let (last, tables) = parts.split_last().map_or(("", &[][..]), |(last, tables)| (*last, tables));
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for part in tables {
        let item = table.entry(part).or_insert_with(|| Item::Table(Table::new()));
        let Some(next) = item.as_table_like_mut() else { return false };
        table = next;
    }
    // The file may contain the setting under an alias.
    if let [area] = tables {
        let is_alias = |name: &str| settings::find_key(area, name).is_ok_and(|full_key| full_key == key);
        let aliases: Vec<String> = table
            .iter()
            .map(|(name, _)| name.to_owned())
            .filter(|name| name != last && is_alias(name))
            .collect();
        aliases.iter().for_each(|name| drop(table.remove(name)));
    }
    match value {
        Some(value) => {
            // Text that does not parse as a TOML value, such as a number or a list, is written as a string.
            let value = value.parse().unwrap_or_else(|_| toml_edit::Value::from(value));
            table.insert(last, toml_edit::value(value));
        }
        None => {
            table.remove(last);
        }
    }
    true
}

fn write_atomically(path: &Path, text: &str) -> io::Result<()> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    // Replace the target of a symbolic link rather than the link, and keep the target's permissions.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (partial, mut file) = Partial::create_file(&path)?;
    file.write_all(text.as_bytes())?;
    if let Ok(metadata) = std::fs::metadata(&path) {
        file.set_permissions(metadata.permissions())?;
    }
    partial.finish(&path)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    #[test]
    fn comments_are_kept_and_aliases_are_removed() {
        let apply = |text: &str, value| changed_text(text, "rag.token_budget", value, Path::new("f"));
        let text = "# Mine.\n[rag]\ntop_k = 5 # few\n";
        assert_eq!(
            apply(text, Some("900")).unwrap(),
            "# Mine.\n[rag]\ntop_k = 5 # few\ntoken_budget = 900\n"
        );
        assert_eq!(apply("[rag]\nrag_token_budget = 1\n", Some("2")).unwrap(), "[rag]\ntoken_budget = 2\n");
        assert_eq!(apply("[rag]\ntoken_budget = 1\n", None).unwrap(), "[rag]\n");
        assert!(apply("rag = 1\n", Some("2")).is_err(), "rag is not a table");
        assert!(apply("[rag", Some("2")).is_err(), "not valid TOML");
    }
}
