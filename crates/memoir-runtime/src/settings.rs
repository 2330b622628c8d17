//! Settings that the program itself changes, by their keys in the store.

use memoir_core::{
    Clock as _, SystemClock,
    setting::{HasSettings, Setting, SettingError},
};
use memoir_store::Settings;
use serde::{Deserialize, Serialize};

use crate::{config::Config, failure::Failure};

/// What a model is set for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelTask {
    /// Answering
    Chat,
    /// Summarising in the background
    Summarizer,
    /// Telling the meaning of what is said
    Embedder,
}

impl ModelTask {
    /// Every task.
    pub const ALL: [Self; 3] = [Self::Chat, Self::Summarizer, Self::Embedder];

    /// The key under which the model is kept.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Chat => "chat.model",
            Self::Summarizer => "summarizer.model",
            Self::Embedder => "embedder.model",
        }
    }

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Summarizer => "summarizer",
            Self::Embedder => "embedder",
        }
    }
}

/// The settings of an area: the project's file goes before what was set, that before the user's file, and that before the defaults.
///
/// A stored value that does not fit is ignored, and a notice says so.
pub async fn read<S: HasSettings>(
    config: &Config,
    area: &str,
    store: &dyn Settings,
    notices: &mut Vec<String>,
) -> Result<S, Failure> {
    let mut settings = S::default();
    for (name, value) in config.table(area) {
        let changed =
            Setting::<S>::find(name).and_then(|setting| setting.change(&mut settings, &plain(value)));
        changed.map_err(|error| {
            Failure::failed(format!("the config's [{area}] has a mistake: {error}"))
                .hint("Mend the file; docs/settings.md lists what there is.")
        })?;
    }
    for setting in S::ALL.iter().filter(|setting| !is_by_project(setting, config)) {
        if let Some(value) = store.setting(setting.key).await? {
            // Another version may have written it. The value of the config, or the default, holds then.
            if let Err(error) = setting.change(&mut settings, &value) {
                tracing::warn!(key = setting.key, %error, "a stored setting is ignored");
                notices
                    .push(format!("The stored setting {} is ignored: {error}. Set it again.", setting.key));
            }
        }
    }
    Ok(settings)
}

/// Changes a setting for good; `default` goes back to the config's. `hint` says where to see what there is.
pub async fn change<S: HasSettings>(
    (key, value): (&str, &str),
    current: &S,
    config: &Config,
    store: &dyn Settings,
    hint: &str,
) -> Result<(&'static Setting<S>, S), Failure> {
    let wrong = |error: SettingError| Failure::usage(error.to_string()).hint(hint);
    let setting = Setting::<S>::find(key).map_err(wrong)?;
    let area = setting.key.split_once('.').map_or("", |(area, _)| area);
    if is_by_project(setting, config) {
        return Err(Failure::usage(format!("the config of this project sets {}", setting.key))
            .hint("Change .memoir/config.toml, or use memoir config set --project."));
    }
    let now = SystemClock.now();
    if value.trim() == "default" {
        store.set_setting(setting.key, None, now).await?;
        return Ok((setting, read(config, area, store, &mut Vec::new()).await?));
    }
    let mut settings = current.clone();
    setting.change(&mut settings, value).map_err(wrong)?;
    store.set_setting(setting.key, Some(value.trim()), now).await?;
    Ok((setting, settings))
}

/// Whether the project's file says what it is, by whichever of its names.
pub fn is_by_project<S: HasSettings>(setting: &Setting<S>, config: &Config) -> bool {
    let is_meant = |key: &String| {
        let (area, name) = key.split_once('.').unwrap_or_default();
        setting.key.starts_with(area) && Setting::<S>::find(name).is_ok_and(|found| found.key == setting.key)
    };
    config.by_project.iter().any(is_meant)
}

/// The names of all settings that stand in lists.
pub fn keys() -> impl Iterator<Item = &'static str> {
    let listed = memoir_recall::RecallSettings::ALL.iter().map(|setting| setting.key);
    let listed = listed.chain(memoir_agent::ContextSettings::ALL.iter().map(|setting| setting.key));
    listed.chain(memoir_workers::WorkerSettings::ALL.iter().map(|setting| setting.key))
}

/// The name of a setting of an area, however it is called there.
pub fn key_in(area: &str, name: &str) -> Result<&'static str, SettingError> {
    match area {
        "rag" => Setting::<memoir_recall::RecallSettings>::find(name).map(|setting| setting.key),
        "context" => Setting::<memoir_agent::ContextSettings>::find(name).map(|setting| setting.key),
        "workers" => Setting::<memoir_workers::WorkerSettings>::find(name).map(|setting| setting.key),
        _ => Err(SettingError::Unknown(name.to_owned())),
    }
}

/// The areas that have lists of settings.
pub const AREAS: [&str; 3] = ["rag", "context", "workers"];

/// Copies everything that was set from one memory to another.
pub async fn copy_all(from: &dyn Settings, to: &dyn Settings) -> Result<(), Failure> {
    let named = ModelTask::ALL.map(ModelTask::key);
    for key in keys().chain(named).chain([crate::personas::KEY]) {
        if let Some(value) = from.setting(key).await? {
            to.set_setting(key, Some(&value), SystemClock.now()).await?;
        }
    }
    Ok(())
}

/// Every setting of an area with its value.
pub fn list<S: HasSettings>(settings: &S) -> String {
    let line = |setting: &Setting<S>| {
        format!("{:<32} {:<10} {}\n", setting.key, setting.show(settings), setting.summary)
    };
    S::ALL.iter().map(line).collect()
}

/// A value of the config as it would be typed.
pub fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(","),
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Float(number) => number.to_string(),
        // Nothing takes one of these; what is said about it names it.
        toml::Value::Boolean(switch) => switch.to_string(),
        toml::Value::Datetime(date) => date.to_string(),
        toml::Value::Table(_) => "a table".into(),
    }
}
