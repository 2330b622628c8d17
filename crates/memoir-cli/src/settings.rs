//! Settings that the program itself changes, by their keys in the store.

use std::collections::BTreeMap;

use memoir_core::{
    Clock as _, SystemClock,
    setting::{HasSettings, Setting, SettingError},
};
use memoir_store::Store;

use crate::failure::{Failure, Kind};

/// What a model is set for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Task {
    /// Answering
    Chat,
    /// Summarising in the background
    Summarizer,
    /// Telling the meaning of what is said
    Embedder,
}

impl Task {
    /// The key under which the model is kept.
    pub(crate) const fn key(self) -> &'static str {
        match self {
            Self::Chat => "chat.model",
            Self::Summarizer => "summarizer.model",
            Self::Embedder => "embedder.model",
        }
    }

    /// The word for it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Summarizer => "summarizer",
            Self::Embedder => "embedder",
        }
    }
}

/// The settings of an area: what was set goes before the config's table, and that before the defaults.
pub(crate) async fn read<S: HasSettings>(
    table: &BTreeMap<String, toml::Value>,
    area: &str,
    store: &dyn Store,
) -> Result<S, Failure> {
    let mut settings = S::default();
    for (name, value) in table {
        let changed =
            Setting::<S>::find(name).and_then(|setting| setting.change(&mut settings, &plain(value)));
        changed.map_err(|error| {
            Failure::new(Kind::Failed, format!("the config's [{area}] has a mistake: {error}"))
                .hint("Mend the file; docs/settings.md lists what there is.")
        })?;
    }
    for setting in S::ALL {
        if let Some(value) = store.setting(setting.key).await? {
            // Written by another version, it may not fit; then the default holds, and is shown.
            let _ = setting.change(&mut settings, &value);
        }
    }
    Ok(settings)
}

/// Changes a setting for good; `default` goes back to the config's. `hint` says where to see what there is.
pub(crate) async fn change<S: HasSettings>(
    (key, value): (&str, &str),
    current: &S,
    table: &BTreeMap<String, toml::Value>,
    store: &dyn Store,
    hint: &str,
) -> Result<(&'static Setting<S>, S), Failure> {
    let wrong = |error: SettingError| Failure::new(Kind::Usage, error.to_string()).hint(hint);
    let setting = Setting::<S>::find(key).map_err(wrong)?;
    let area = setting.key.split_once('.').map_or("", |(area, _)| area);
    let now = SystemClock.now();
    if value.trim() == "default" {
        store.set_setting(setting.key, None, now).await?;
        return Ok((setting, read(table, area, store).await?));
    }
    let mut settings = current.clone();
    setting.change(&mut settings, value).map_err(wrong)?;
    store.set_setting(setting.key, Some(value.trim()), now).await?;
    Ok((setting, settings))
}

/// Every setting of an area with its value.
pub(crate) fn list<S: HasSettings>(settings: &S) -> String {
    let line = |setting: &Setting<S>| {
        format!("{:<32} {:<10} {}\n", setting.key, setting.show(settings), setting.summary)
    };
    S::ALL.iter().map(line).collect()
}

/// A value of the config as it would be typed.
fn plain(value: &toml::Value) -> String {
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
