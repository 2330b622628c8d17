//! Changing a configuration file, with its comments and order as they are.

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
    config::{Config, ConfigError, read_file},
    failure::Failure,
    files::Partial,
    settings,
};

/// Which file is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConfigFile {
    /// The user's.
    #[default]
    User,
    /// The project's.
    Project,
}

/// A change of one setting in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeSetting {
    /// Name of the setting.
    pub key: String,
    /// The new value; removed from the file if left out.
    pub value: Option<String>,
    /// The file.
    #[serde(default)]
    pub file: ConfigFile,
}

/// A setting that was changed in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SettingChange {
    /// Full name of the setting.
    pub key: String,
    /// The new value; `None` if it was removed.
    pub value: Option<String>,
    /// Path of the file.
    pub path: PathBuf,
    /// The project's file, if it sets the same and overrides this change.
    pub overridden_by: Option<PathBuf>,
}

/// Sets a value in a configuration file, or removes it. The file is written only if it is valid afterwards. A value that
/// was set in the program is removed if it would override the user's file.
///
/// # Errors
///
/// Fails if there is no such setting, or if the file cannot be parsed, would not be valid, or cannot be written.
pub async fn change(
    request: &ChangeSetting,
    sources: &ConfigSources<'_>,
    store: &dyn Settings,
) -> Result<SettingChange, Failure> {
    let key = names::canonical(&request.key)?;
    let path = match request.file {
        ConfigFile::User => sources.home.config_file(),
        ConfigFile::Project => sources.project.to_owned(),
    };
    let text = changed_text(&read_file(&path)?, &key, request.value.as_deref(), &path)?;
    let parsed = match request.file {
        ConfigFile::User => Config::parse(&text),
        ConfigFile::Project => Config::parse_project(&text),
    };
    parsed.and_then(|config| validate(&config)).map_err(|error| refuse(&error, &path))?;
    write_whole(&path, &text).map_err(|error| {
        Failure::failed(format!("{} cannot be written: {error}", path.display())).hint("Nothing was changed.")
    })?;
    if request.file == ConfigFile::User && store.setting(&key).await?.is_some() {
        store.set_setting(&key, None, SystemClock.now()).await?;
    }
    let is_overridden = request.file == ConfigFile::User && sources.read()?.by_project.contains(&key);
    let overridden_by = is_overridden.then(|| sources.project.to_owned());
    Ok(SettingChange { key, value: request.value.clone(), path, overridden_by })
}

fn refuse(error: &ConfigError, path: &Path) -> Failure {
    Failure::usage(format!("{} would not be right: {error}", path.display())).hint("Nothing was changed.")
}

/// Returns the text of a file after the change.
fn changed_text(text: &str, key: &str, value: Option<&str>, path: &Path) -> Result<String, Failure> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        Failure::failed(format!("{} has a mistake: {}", path.display(), error.message()))
            .hint("Mend the file first.")
    })?;
    if !change_document(&mut document, key, value) {
        return Err(Failure::failed(format!("{} has something else in the place of {key}", path.display()))
            .hint("Mend the file; nothing was changed."));
    }
    let mut changed = document.to_string();
    if !changed.is_empty() && !changed.ends_with('\n') {
        changed.push('\n');
    }
    Ok(changed)
}

/// Sets or removes a value. Returns `false` if something that is not a table is in its way.
fn change_document(document: &mut DocumentMut, key: &str, value: Option<&str>) -> bool {
    let parts: Vec<&str> = key.split('.').collect();
    let (last, tables) = parts.split_last().map_or(("", &[][..]), |(last, tables)| (*last, tables));
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for part in tables {
        let item = table.entry(part).or_insert_with(|| Item::Table(Table::new()));
        let Some(next) = item.as_table_like_mut() else { return false };
        table = next;
    }
    // The file may have the setting by one of its other names.
    if let [area] = tables {
        let is_same = |name: &str| settings::key_in(area, name).is_ok_and(|found| found == key);
        let others: Vec<String> = table
            .iter()
            .map(|(name, _)| name.to_owned())
            .filter(|name| name != last && is_same(name))
            .collect();
        others.iter().for_each(|name| drop(table.remove(name)));
    }
    match value {
        Some(value) => {
            // A number, a switch or a list is written as such, anything else as text.
            let value = value.parse().unwrap_or_else(|_| toml_edit::Value::from(value));
            table.insert(last, toml_edit::value(value));
        }
        None => {
            table.remove(last);
        }
    }
    true
}

/// Replaces a file as a whole, or leaves it as it is.
fn write_whole(path: &Path, text: &str) -> io::Result<()> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    // A link stays a link: the file that it leads to is replaced, with its permissions.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let (partial, mut file) = Partial::file(&path)?;
    file.write_all(text.as_bytes())?;
    if let Ok(before) = std::fs::metadata(&path) {
        file.set_permissions(before.permissions())?;
    }
    partial.finish(&path)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    #[test]
    fn comments_stay_and_other_names_of_the_setting_go() {
        let changed = |text: &str, value| changed_text(text, "rag.token_budget", value, Path::new("f"));
        let text = "# Mine.\n[rag]\ntop_k = 5 # few\n";
        assert_eq!(
            changed(text, Some("900")).unwrap(),
            "# Mine.\n[rag]\ntop_k = 5 # few\ntoken_budget = 900\n"
        );
        assert_eq!(changed("[rag]\nrag_token_budget = 1\n", Some("2")).unwrap(), "[rag]\ntoken_budget = 2\n");
        assert_eq!(changed("[rag]\ntoken_budget = 1\n", None).unwrap(), "[rag]\n");
        assert!(changed("rag = 1\n", Some("2")).is_err(), "it is not a table");
        assert!(changed("[rag", Some("2")).is_err(), "it is not TOML");
    }
}
