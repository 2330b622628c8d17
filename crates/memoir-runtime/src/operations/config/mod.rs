//! The configuration: every setting with its value and origin, and changing the files.

mod change;
mod names;
mod validation;

use std::path::{Path, PathBuf};

use memoir_agent::ContextSettings;
use memoir_core::setting::{HasSettings, Setting};
use memoir_models::Provider;
use memoir_store::Settings;
use memoir_workers::WorkerSettings;
use serde::Serialize;

use crate::{
    config::{Config, read_file},
    environment::Environment,
    failure::Failure,
    home::Home,
    settings,
};

pub use change::{ChangeSetting, ConfigFile, SettingChange, change};
pub use validation::validate;

/// Where settings come from, besides the memory.
#[derive(Clone, Copy)]
pub struct ConfigSources<'a> {
    /// The directory of the user's file.
    pub home: &'a Home,
    /// The project's file.
    pub project: &'a Path,
    /// The process that Memoir runs in.
    pub environment: &'a Environment,
}

impl ConfigSources<'_> {
    fn read(&self) -> Result<Config, Failure> {
        Config::read(&self.home.config_file(), self.project)
    }
}

/// Where a value comes from. An earlier origin overrides a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SettingOrigin {
    /// An environment variable.
    Environment,
    /// The project's file.
    Project,
    /// The memory: set with `/rag set`, `/models set` and similar commands.
    Program,
    /// The user's file.
    User,
    /// Built in.
    Default,
}

/// A setting with its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SettingEntry {
    /// Name, as in `rag.token_budget`.
    pub key: String,
    /// Value; empty if nothing is set.
    pub value: String,
    /// Where the value comes from.
    pub origin: SettingOrigin,
    /// Description of the values that it takes.
    pub takes: &'static str,
    /// What it does.
    pub summary: &'static str,
}

/// Every setting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct SettingList {
    /// The settings, grouped by area.
    pub settings: Vec<SettingEntry>,
}

/// Lists every setting with its value.
///
/// # Errors
///
/// Fails if a configuration file has a mistake.
pub async fn list(sources: &ConfigSources<'_>, store: &dyn Settings) -> Result<SettingList, Failure> {
    let config = sources.read()?;
    let mut entries = Vec::new();
    for setting in names::unlisted() {
        entries.push(look_up(setting, sources, store).await?);
    }
    add_area::<memoir_recall::RecallSettings>("rag", &config, store, &mut entries).await?;
    add_area::<ContextSettings>("context", &config, store, &mut entries).await?;
    add_area::<WorkerSettings>("workers", &config, store, &mut entries).await?;
    Ok(SettingList { settings: entries })
}

/// Returns one setting, by its name or one of its other names.
///
/// # Errors
///
/// Fails if there is no such setting, or if a configuration file has a mistake.
pub async fn get(
    key: &str,
    sources: &ConfigSources<'_>,
    store: &dyn Settings,
) -> Result<SettingEntry, Failure> {
    let name = names::canonical(key)?;
    let entries = list(sources, store).await?.settings;
    entries.into_iter().find(|entry| entry.key == name).ok_or_else(|| names::unknown(key))
}

/// Where the files are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConfigPaths {
    /// The user's file.
    pub user: PathBuf,
    /// The project's file.
    pub project: PathBuf,
    /// The memory.
    pub memory: PathBuf,
    /// Those of the three that do not exist yet.
    pub missing: Vec<PathBuf>,
}

/// Returns where the files are. It reads none of them, so it works when one has a mistake.
pub fn locate(sources: &ConfigSources<'_>) -> ConfigPaths {
    let (user, project, memory) =
        (sources.home.config_file(), sources.project.to_owned(), sources.home.database());
    let missing = [&user, &project, &memory].into_iter().filter(|path| !path.exists()).cloned().collect();
    ConfigPaths { user, project, memory, missing }
}

async fn add_area<S: HasSettings>(
    area: &str,
    config: &Config,
    store: &dyn Settings,
    entries: &mut Vec<SettingEntry>,
) -> Result<(), Failure> {
    let current: S = settings::read(config, area, store, &mut Vec::new()).await?;
    let is_in_file = |setting: &Setting<S>| {
        let is_meant = |key: &String| Setting::<S>::find(key).is_ok_and(|found| found.key == setting.key);
        config.table(area).keys().any(is_meant)
    };
    for setting in S::ALL {
        let origin = match (settings::is_by_project(setting, config), store.setting(setting.key).await?) {
            (true, _) => SettingOrigin::Project,
            (false, Some(_)) => SettingOrigin::Program,
            (false, None) if is_in_file(setting) => SettingOrigin::User,
            (false, None) => SettingOrigin::Default,
        };
        let (value, key) = (setting.show(&current), setting.key.to_owned());
        entries.push(SettingEntry { key, value, origin, takes: setting.takes, summary: setting.summary });
    }
    Ok(())
}

/// Returns a setting that belongs to no area: its value is looked up in the text of the files.
async fn look_up(
    setting: names::UnlistedSetting,
    sources: &ConfigSources<'_>,
    store: &dyn Settings,
) -> Result<SettingEntry, Failure> {
    let names::UnlistedSetting { key, takes, summary } = setting;
    let candidates = [
        (value_from_environment(&key, sources.environment), SettingOrigin::Environment),
        (value_in_file(&key, sources.project)?, SettingOrigin::Project),
        (store.setting(&key).await?, SettingOrigin::Program),
        (value_in_file(&key, &sources.home.config_file())?, SettingOrigin::User),
    ];
    let mut values: Vec<(String, SettingOrigin)> =
        candidates.into_iter().filter_map(|(value, origin)| Some((value?, origin))).collect();
    if key == "approval.deny" && values.len() > 1 {
        // A denial in any file holds, so that the value is all of them.
        let all: Vec<String> = values.iter().map(|(value, _)| value.clone()).collect();
        values[0].0 = all.join(",");
    }
    let first = values.into_iter().next();
    let (value, origin) = first.unwrap_or_else(|| (Config::default().shown(&key), SettingOrigin::Default));
    Ok(SettingEntry { key, value, origin, takes, summary })
}

fn value_in_file(key: &str, path: &Path) -> Result<Option<String>, Failure> {
    let table: toml::Table = toml::from_str(&read_file(path)?).unwrap_or_default();
    let mut value = Some(toml::Value::Table(table));
    for part in key.split('.') {
        value = value.and_then(|value| value.get(part).cloned());
    }
    Ok(value.map(|value| settings::plain(&value)))
}

fn value_from_environment(key: &str, environment: &Environment) -> Option<String> {
    if key == "chat.model" {
        return environment.model().map(str::to_owned);
    }
    let provider =
        Provider::ALL.into_iter().find(|provider| key == format!("providers.{provider}.base_url"))?;
    environment.base_url(provider).map(|url| memoir_redact::without_secrets(url).into_owned())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use memoir_core::{Clock as _, SystemClock};

    use super::*;
    use crate::operations::database;

    #[tokio::test]
    async fn the_nearest_origin_wins() {
        let folder = tempfile::TempDir::new().unwrap();
        let home = Home::in_one(folder.path());
        let project = folder.path().join("project.toml");
        let environment = Environment::new([("MEMOIR_MODEL".into(), "grok-3".into())]);
        let (empty, store) = (Environment::default(), database::open_empty().await.unwrap());
        let sources = |environment| ConfigSources { home: &home, project: &project, environment };
        let entry = async |key, environment| {
            let entry = get(key, &sources(environment), store.as_ref()).await.unwrap();
            (entry.value, entry.origin)
        };
        assert_eq!(entry("rag_token_budget", &empty).await.1, SettingOrigin::Default);
        let file = "[chat]\nmodel = \"m\"\n[rag]\ntoken_budget = 1100\n[approval]\ndeny = [\"a\"]\n";
        std::fs::write(home.config_file(), file).unwrap();
        assert_eq!(entry("rag.token_budget", &empty).await, ("1100".into(), SettingOrigin::User));
        assert_eq!(entry("chat.model", &empty).await, ("m".into(), SettingOrigin::User));
        store.set_setting("rag.token_budget", Some("1200"), SystemClock.now()).await.unwrap();
        assert_eq!(entry("rag.token_budget", &empty).await, ("1200".into(), SettingOrigin::Program));
        std::fs::write(&project, "[rag]\ntoken_budget = 1300\n[approval]\ndeny = [\"b\"]\n").unwrap();
        assert_eq!(entry("rag.token_budget", &empty).await, ("1300".into(), SettingOrigin::Project));
        assert_eq!(entry("approval.deny", &empty).await, ("b,a".into(), SettingOrigin::Project));
        assert_eq!(entry("chat.model", &environment).await, ("grok-3".into(), SettingOrigin::Environment));
    }
}
