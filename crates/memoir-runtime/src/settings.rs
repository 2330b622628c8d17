//! Reads and changes settings. They come from the config files and from the store.

use std::collections::HashMap;

use memoir_core::{
    Clock as _, SystemClock,
    setting::{HasSettings, Setting, SettingError},
};
use memoir_store::Settings;
use serde::{Deserialize, Serialize};

use crate::{
    config::Config, failure::Failure, import_settings::ImportSettings, terminal_settings::TerminalSettings,
};

/// A task that a model can be set for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelTask {
    /// Answering the user's prompts.
    Chat,
    /// Writing summaries in the background.
    Summarizer,
    /// Embedding messages and documents.
    Embedder,
}

impl ModelTask {
    /// All tasks, in display order.
    pub const ALL: [Self; 3] = [Self::Chat, Self::Summarizer, Self::Embedder];

    /// Returns the key of the setting that names the model.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Chat => "chat.model",
            Self::Summarizer => "summarizer.model",
            Self::Embedder => "embedder.model",
        }
    }

    /// Returns the name of the task.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Summarizer => "summarizer",
            Self::Embedder => "embedder",
        }
    }
}

/// Returns the settings of an area. Precedence: project config, stored settings, user config, defaults.
///
/// A stored value that is invalid is ignored, with a notice.
pub async fn read<S: HasSettings>(
    config: &Config,
    area: &str,
    store: &dyn Settings,
    notices: &mut Vec<String>,
) -> Result<S, Failure> {
    let mut settings = S::default();
    for (name, value) in config.table(area) {
        let result =
            Setting::<S>::find(name).and_then(|setting| setting.change(&mut settings, &format_value(value)));
        result.map_err(|error| {
            Failure::failed(format!("the [{area}] section of the config is invalid: {error}"))
                .hint("Fix the file. See docs/settings.md for all settings.")
        })?;
    }
    let stored: HashMap<String, String> = store.settings_in(area).await?.into_iter().collect();
    for setting in S::ALL.iter().filter(|setting| !is_set_by_project(setting, config)) {
        if let Some(value) = stored.get(setting.key) {
            // Another version may have written an invalid value. Use the config or the default instead.
            if let Err(error) = setting.change(&mut settings, value) {
                tracing::warn!(key = setting.key, %error, "an invalid stored setting is ignored");
                notices
                    .push(format!("The stored setting {} is ignored: {error}. Set it again.", setting.key));
            }
        }
    }
    Ok(settings)
}

/// Stores a setting and returns it with the changed settings. The value `default` deletes the stored value. `hint` is
/// added to the error for an invalid key or value.
///
/// # Errors
///
/// Fails if the key or value is invalid, or if the project config sets it.
pub async fn change<S: HasSettings>(
    (key, value): (&str, &str),
    current: &S,
    config: &Config,
    store: &dyn Settings,
    hint: &str,
) -> Result<(&'static Setting<S>, S), Failure> {
    let invalid = |error: SettingError| Failure::usage(error.to_string()).hint(hint);
    let setting = Setting::<S>::find(key).map_err(invalid)?;
    let area = setting.key.split_once('.').map_or("", |(area, _)| area);
    if is_set_by_project(setting, config) {
        return Err(Failure::usage(format!("the project config sets {}", setting.key))
            .hint("Edit .memoir/config.toml, or use `memoir config set --project`."));
    }
    let now = SystemClock.now();
    if value.trim() == "default" {
        store.set_setting(setting.key, None, now).await?;
        return Ok((setting, read(config, area, store, &mut Vec::new()).await?));
    }
    let mut settings = current.clone();
    setting.change(&mut settings, value).map_err(invalid)?;
    store.set_setting(setting.key, Some(value.trim()), now).await?;
    Ok((setting, settings))
}

/// Returns whether the project config sets a setting, by its key or an alias.
pub fn is_set_by_project<S: HasSettings>(setting: &Setting<S>, config: &Config) -> bool {
    let is_same = |key: &String| {
        let (area, name) = key.split_once('.').unwrap_or_default();
        setting.key.starts_with(area) && Setting::<S>::find(name).is_ok_and(|other| other.key == setting.key)
    };
    config.project_keys.iter().any(is_same)
}

/// Returns the keys of all settings of recall, context, agent, workers, terminal and imports.
pub fn keys() -> impl Iterator<Item = &'static str> {
    let recall = memoir_recall::RecallSettings::ALL.iter().map(|setting| setting.key);
    let context = memoir_agent::ContextSettings::ALL.iter().map(|setting| setting.key);
    let agent = memoir_agent::Limits::ALL.iter().map(|setting| setting.key);
    let terminal = TerminalSettings::ALL.iter().map(|setting| setting.key);
    recall
        .chain(context)
        .chain(agent)
        .chain(terminal)
        .chain(ImportSettings::ALL.iter().map(|setting| setting.key))
        .chain(memoir_workers::WorkerSettings::ALL.iter().map(|setting| setting.key))
}

/// Returns the key of a setting, found by its key, alias or short name within an area.
pub fn find_key(area: &str, name: &str) -> Result<&'static str, SettingError> {
    match area {
        "rag" => Setting::<memoir_recall::RecallSettings>::find(name).map(|setting| setting.key),
        "context" => Setting::<memoir_agent::ContextSettings>::find(name).map(|setting| setting.key),
        "agent" => Setting::<memoir_agent::Limits>::find(name).map(|setting| setting.key),
        "workers" => Setting::<memoir_workers::WorkerSettings>::find(name).map(|setting| setting.key),
        "terminal" => Setting::<TerminalSettings>::find(name).map(|setting| setting.key),
        "import" => Setting::<ImportSettings>::find(name).map(|setting| setting.key),
        _ => Err(SettingError::Unknown(name.to_owned())),
    }
}

/// The areas covered by [`keys`].
pub const AREAS: [&str; 6] = ["rag", "context", "agent", "workers", "terminal", "import"];

/// Copies all stored settings to another store.
pub async fn copy_all(from: &dyn Settings, to: &dyn Settings) -> Result<(), Failure> {
    let models = ModelTask::ALL.map(ModelTask::key);
    for key in keys().chain(models).chain([crate::personas::KEY]) {
        if let Some(value) = from.setting(key).await? {
            to.set_setting(key, Some(&value), SystemClock.now()).await?;
        }
    }
    Ok(())
}

/// Returns one line per setting, with its value and description.
pub fn list<S: HasSettings>(settings: &S) -> String {
    let line = |setting: &Setting<S>| {
        format!("{:<32} {:<10} {}\n", setting.key, setting.show(settings), setting.summary)
    };
    S::ALL.iter().map(line).collect()
}

/// Returns a config value as the user would type it.
pub fn format_value(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Array(values) => values.iter().map(format_value).collect::<Vec<_>>().join(","),
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Float(number) => number.to_string(),
        // No setting takes these types. The text appears in the error message.
        toml::Value::Boolean(switch) => switch.to_string(),
        toml::Value::Datetime(date) => date.to_string(),
        toml::Value::Table(_) => "a table".into(),
    }
}
