//! Listing settings with their values and origins, and changing config files.

mod change;
mod names;
mod validation;

use std::path::{Path, PathBuf};

use memoir_agent::{ContextSettings, Limits};
use memoir_core::setting::{HasSettings, Setting};
use memoir_models::Provider;
use memoir_store::Settings;
use memoir_workers::WorkerSettings;
use serde::Serialize;

use crate::{
    config::{Config, project_config, read_file, read_project_config},
    environment::Environment,
    failure::Failure,
    home::Home,
    import_settings::ImportSettings,
    settings,
    terminal_settings::TerminalSettings,
};

pub(crate) use change::write_checked;
pub use change::{ChangeSetting, ConfigFile, SettingChange, change};
pub use validation::validate;

/// Sources of settings other than the store.
#[derive(Clone, Copy)]
pub struct ConfigSources<'a> {
    /// Home directory, which contains the user's config file.
    pub home: &'a Home,
    /// Directory of the project.
    pub project: &'a Path,
    /// Whether the user trusts the project, so that its config file is used.
    pub is_trusted: bool,
    /// Environment variables of the process.
    pub environment: &'a Environment,
}

impl ConfigSources<'_> {
    fn read(&self) -> Result<Config, Failure> {
        Config::read(&self.home.config_file(), self.is_trusted.then_some(self.project))
    }

    fn project_text(&self) -> String {
        match self.is_trusted {
            true => read_project_config(self.project).unwrap_or_default(),
            false => String::new(),
        }
    }
}

/// Source of a value. Earlier variants override later ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SettingOrigin {
    /// Set by an environment variable.
    Environment,
    /// Set in the project's config file.
    Project,
    /// Stored in the database by `/rag set`, `/models set` or a similar command.
    Program,
    /// Set in the user's config file.
    User,
    /// The built-in default, because no other origin sets the value.
    Default,
}

/// A setting, its current value and the origin of that value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SettingEntry {
    /// Name of the setting, such as `rag.token_budget`.
    pub key: String,
    /// Current value, or an empty string if there is none.
    pub value: String,
    /// Origin of the value.
    pub origin: SettingOrigin,
    /// Description of the accepted values.
    #[serde(rename = "takes")]
    pub valid_values: &'static str,
    /// Description of the setting.
    pub summary: &'static str,
}

/// All settings, serialized as an array.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct SettingList {
    /// Settings, grouped by area.
    pub settings: Vec<SettingEntry>,
}

/// Returns every setting with its value.
///
/// # Errors
///
/// Fails if a config file is invalid.
pub async fn list(sources: &ConfigSources<'_>, store: &dyn Settings) -> Result<SettingList, Failure> {
    let config = sources.read()?;
    let mut entries = Vec::new();
    for setting in names::unlisted() {
        entries.push(look_up(setting, sources, store).await?);
    }
    add_area::<memoir_recall::RecallSettings>("rag", &config, store, &mut entries).await?;
    add_area::<ContextSettings>("context", &config, store, &mut entries).await?;
    add_area::<Limits>("agent", &config, store, &mut entries).await?;
    add_area::<WorkerSettings>("workers", &config, store, &mut entries).await?;
    add_area::<TerminalSettings>("terminal", &config, store, &mut entries).await?;
    add_area::<ImportSettings>("import", &config, store, &mut entries).await?;
    Ok(SettingList { settings: entries })
}

/// Returns one setting by its name or an alias.
///
/// # Errors
///
/// Fails if the setting does not exist, or if a config file is invalid.
pub async fn get(
    key: &str,
    sources: &ConfigSources<'_>,
    store: &dyn Settings,
) -> Result<SettingEntry, Failure> {
    let name = names::canonical_name(key)?;
    let entries = list(sources, store).await?.settings;
    entries.into_iter().find(|entry| entry.key == name).ok_or_else(|| names::unknown_setting(key))
}

/// Paths of the config files and the database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ConfigPaths {
    /// Path of the user's config file.
    pub user: PathBuf,
    /// Path of the project's config file.
    pub project: PathBuf,
    /// Path of the database.
    pub memory: PathBuf,
    /// Paths from the other fields that do not exist yet.
    pub missing: Vec<PathBuf>,
}

/// Returns the paths of the config files and the database. Does not read them, so it works even if one is invalid.
pub fn locate(sources: &ConfigSources<'_>) -> ConfigPaths {
    let (user, project, memory) =
        (sources.home.config_file(), project_config(sources.project), sources.home.database());
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
        let matches_setting =
            |key: &String| Setting::<S>::find(key).is_ok_and(|other| other.key == setting.key);
        config.table(area).keys().any(matches_setting)
    };
    for setting in S::ALL {
        let origin = match (settings::is_set_by_project(setting, config), store.setting(setting.key).await?) {
            (true, _) => SettingOrigin::Project,
            (false, Some(_)) => SettingOrigin::Program,
            (false, None) if is_in_file(setting) => SettingOrigin::User,
            (false, None) => SettingOrigin::Default,
        };
        let (value, key) = (setting.show(&current), setting.key.to_owned());
        entries.push(SettingEntry {
            key,
            value,
            origin,
            valid_values: setting.valid_values,
            summary: setting.summary,
        });
    }
    Ok(())
}

/// Returns a setting that belongs to no area, read directly from the TOML of the config files.
async fn look_up(
    setting: names::UnlistedSetting,
    sources: &ConfigSources<'_>,
    store: &dyn Settings,
) -> Result<SettingEntry, Failure> {
    let names::UnlistedSetting { key, valid_values, summary } = setting;
    let candidates = [
        (value_from_environment(&key, sources.environment), SettingOrigin::Environment),
        (value_in(&key, &sources.project_text()), SettingOrigin::Project),
        (store.setting(&key).await?, SettingOrigin::Program),
        (value_in(&key, &read_file(&sources.home.config_file())?), SettingOrigin::User),
    ];
    let mut values: Vec<(String, SettingOrigin)> =
        candidates.into_iter().filter_map(|(value, origin)| Some((value?, origin))).collect();
    if key == "approval.deny" && values.len() > 1 {
        // Deny rules from all files apply, so the value combines them.
        let rules: Vec<String> = values.iter().map(|(value, _)| value.clone()).collect();
        values[0].0 = rules.join(",");
    }
    let first = values.into_iter().next();
    let (value, origin) =
        first.unwrap_or_else(|| (Config::default().default_value(&key), SettingOrigin::Default));
    Ok(SettingEntry { key, value, origin, valid_values, summary })
}

/// Returns the value of a setting in the text of a config file.
fn value_in(key: &str, text: &str) -> Option<String> {
    let table: toml::Table = toml::from_str(text).unwrap_or_default();
    let mut value = Some(toml::Value::Table(table));
    for part in key.split('.') {
        value = value.and_then(|value| value.get(part).cloned());
    }
    value.map(|value| settings::format_value(&value))
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
    async fn earlier_origins_override_later_ones() {
        let directory = tempfile::TempDir::new().unwrap();
        let home = Home::in_directory(directory.path());
        let project = directory.path().join("project");
        std::fs::create_dir_all(project.join(".memoir")).unwrap();
        let environment = Environment::new([("MEMOIR_MODEL".into(), "grok-3".into())]);
        let (empty, store) = (Environment::default(), database::open_empty().await.unwrap());
        let sources =
            |environment| ConfigSources { home: &home, project: &project, is_trusted: true, environment };
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
        std::fs::write(
            project.join(".memoir/config.toml"),
            "[rag]\ntoken_budget = 1300\n[approval]\ndeny = [\"b\"]\n",
        )
        .unwrap();
        assert_eq!(entry("rag.token_budget", &empty).await, ("1300".into(), SettingOrigin::Project));
        assert_eq!(entry("approval.deny", &empty).await, ("b,a".into(), SettingOrigin::Project));
        assert_eq!(entry("chat.model", &environment).await, ("grok-3".into(), SettingOrigin::Environment));
    }
}
