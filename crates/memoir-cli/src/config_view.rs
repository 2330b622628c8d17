//! `memoir config`: what is set, where that comes from, and changing the files.

use std::{
    io::{Write as _, stdout},
    path::Path,
};

use memoir_agent::ContextSettings;
use memoir_core::{
    Clock as _, SystemClock,
    setting::{HasSettings, Setting, SettingError},
};
use memoir_models::Provider;
use memoir_store::Store;
use memoir_workers::WorkerSettings;
use serde::Serialize;
use toml_edit::{DocumentMut, Item, Table, TableLike};

use memoir_runtime::{
    config::{Config, read_file},
    environment::Environment,
    failure::{Failure, FailureKind},
    files::Partial,
    home::Home,
    models, permissions, printable, settings,
};

use crate::args::ConfigCommand;

/// Where a value comes from, the nearest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Origin {
    Environment,
    Project,
    /// Set in the program, with /rag set, /models set and their like.
    Program,
    User,
    Default,
}

impl Origin {
    fn words(self) -> &'static str {
        match self {
            Self::Environment => "environment",
            Self::Project => "project file",
            Self::Program => "set in the program",
            Self::User => "user file",
            Self::Default => "default",
        }
    }
}

/// A setting as it stands.
#[derive(Debug, Serialize)]
struct Entry {
    key: String,
    value: String,
    origin: Origin,
    takes: &'static str,
    summary: &'static str,
}

/// What is set outside the areas that have lists of their own: name, what it takes, what it does.
const OTHERS: [(&str, &str, &str); 12] = [
    ("chat.model", "a model", "Who answers."),
    ("chat.reasoning", "low, medium or high", "How much the model thinks first."),
    ("summarizer.model", "a model", "Who summarises in the background."),
    ("embedder.model", "a model", "Who tells the meaning of texts."),
    ("calls.idle_timeout_ms", "milliseconds", "How long a stream may be silent."),
    ("calls.retry_attempts", "a number", "How often a call is tried again."),
    ("calls.retry_first_wait_ms", "milliseconds", "How long the first wait is."),
    ("approval.mode", "read-only, ask, auto-edit or full", "What tools may do without asking."),
    ("approval.allow", "a list of rules", "What is allowed besides."),
    ("approval.deny", "a list of rules", "What is denied in every mode."),
    ("search.service", "searxng or brave", "Who searches the internet."),
    ("search.url", "an address", "Where that service is."),
];

/// The same for each provider.
const OF_PROVIDERS: [(&str, &str, &str); 2] = [
    ("base_url", "an address", "Where the provider is."),
    ("key_variable", "the name of a variable", "Which variable holds the key for that address."),
];

/// What the command works on.
pub(crate) struct Files<'a> {
    pub(crate) home: &'a Home,
    /// The project's file.
    pub(crate) project: &'a Path,
    pub(crate) environment: &'a Environment,
}

/// Does what is asked.
pub(crate) async fn run(command: ConfigCommand, files: &Files<'_>, store: &dyn Store) -> Result<(), Failure> {
    match command {
        ConfigCommand::List { json } => list(json, files, store).await,
        ConfigCommand::Get { key, json } => get(&key, json, files, store).await,
        ConfigCommand::Set { key, value, project } => set(&key, Some(&value), project, files, store).await,
        ConfigCommand::Unset { key, project } => set(&key, None, project, files, store).await,
        ConfigCommand::Path { json } => path(json, files),
    }
}

async fn list(json: bool, files: &Files<'_>, store: &dyn Store) -> Result<(), Failure> {
    let entries = entries(files, store).await?;
    if json {
        let text = serde_json::to_string(&entries).map_err(std::io::Error::from)?;
        return Ok(writeln!(stdout(), "{text}")?);
    }
    for entry in entries {
        let value = if entry.value.is_empty() { "-" } else { &entry.value };
        writeln!(stdout(), "{:<36} {:<24} {}", entry.key, printable(value), entry.origin.words())?;
    }
    Ok(())
}

async fn get(key: &str, json: bool, files: &Files<'_>, store: &dyn Store) -> Result<(), Failure> {
    let name = canonical(key)?;
    let entries = entries(files, store).await?;
    let Some(entry) = entries.into_iter().find(|entry| entry.key == name) else { return Err(unknown(key)) };
    let text = match json {
        true => serde_json::to_string(&entry).map_err(std::io::Error::from)?,
        false => printable(&entry.value).into_owned(),
    };
    Ok(writeln!(stdout(), "{text}")?)
}

pub(crate) fn path(json: bool, files: &Files<'_>) -> Result<(), Failure> {
    let (user, memory) = (files.home.config_file(), files.home.database());
    if json {
        let value = serde_json::json!({"user": user, "project": files.project, "memory": memory});
        return Ok(writeln!(stdout(), "{value}")?);
    }
    let there = |path: &Path| if path.exists() { "" } else { " (not there yet)" };
    for (what, path) in [("user file", user.as_path()), ("project file", files.project), ("memory", &memory)]
    {
        writeln!(stdout(), "{what:<14}{}{}", path.display(), there(path))?;
    }
    Ok(())
}

/// Every setting with its value, by name.
async fn entries(files: &Files<'_>, store: &dyn Store) -> Result<Vec<Entry>, Failure> {
    let config = Config::read(&files.home.config_file(), files.project)?;
    let mut entries = Vec::new();
    for (key, takes, summary) in others() {
        entries.push(other(key, (takes, summary), files, store).await?);
    }
    area::<memoir_recall::Settings>("rag", &config, store, &mut entries).await?;
    area::<ContextSettings>("context", &config, store, &mut entries).await?;
    area::<WorkerSettings>("workers", &config, store, &mut entries).await?;
    Ok(entries)
}

fn others() -> impl Iterator<Item = (String, &'static str, &'static str)> {
    let of_providers =
        Provider::ALL.into_iter().filter(|provider| *provider != Provider::Memoir).flat_map(|provider| {
            OF_PROVIDERS
                .map(|(name, takes, summary)| (format!("providers.{provider}.{name}"), takes, summary))
        });
    OTHERS.iter().map(|(key, takes, summary)| ((*key).to_owned(), *takes, *summary)).chain(of_providers)
}

async fn area<S: HasSettings>(
    name: &str,
    config: &Config,
    store: &dyn Store,
    entries: &mut Vec<Entry>,
) -> Result<(), Failure> {
    let now: S = settings::read(config, name, store).await?;
    let in_file = |setting: &Setting<S>| {
        config
            .table(name)
            .keys()
            .any(|key| Setting::<S>::find(key).is_ok_and(|found| found.key == setting.key))
    };
    for setting in S::ALL {
        let origin = match (settings::is_by_project(setting, config), store.setting(setting.key).await?) {
            (true, _) => Origin::Project,
            (false, Some(_)) => Origin::Program,
            (false, None) if in_file(setting) => Origin::User,
            (false, None) => Origin::Default,
        };
        let (value, key) = (setting.show(&now), setting.key.to_owned());
        entries.push(Entry { key, value, origin, takes: setting.takes, summary: setting.summary });
    }
    Ok(())
}

/// One that has no list of its own: looked up in the files as they are written.
async fn other(
    key: String,
    (takes, summary): (&'static str, &'static str),
    files: &Files<'_>,
    store: &dyn Store,
) -> Result<Entry, Failure> {
    let written = |path: &Path| -> Result<Option<String>, Failure> {
        let table: toml::Table = toml::from_str(&read_file(path)?).unwrap_or_default();
        let mut value = Some(&toml::Value::Table(table)).cloned();
        for part in key.split('.') {
            value = value.and_then(|value| value.get(part).cloned());
        }
        Ok(value.map(|value| settings::plain(&value)))
    };
    let by_environment = match key.as_str() {
        "chat.model" => files.environment.model().map(str::to_owned),
        _ => Provider::ALL.into_iter().find_map(|provider| {
            let named = key == format!("providers.{provider}.base_url");
            named.then(|| {
                files
                    .environment
                    .base_url(provider)
                    .map(|url| memoir_redact::without_secrets(url).into_owned())
            })?
        }),
    };
    let found = [
        (by_environment, Origin::Environment),
        (written(files.project)?, Origin::Project),
        (store.setting(&key).await?, Origin::Program),
        (written(&files.home.config_file())?, Origin::User),
    ];
    let mut found: Vec<(String, Origin)> =
        found.into_iter().filter_map(|(value, origin)| Some((value?, origin))).collect();
    if key == "approval.deny" && found.len() > 1 {
        // What is denied anywhere is denied.
        let all: Vec<String> = found.iter().map(|(value, _)| value.clone()).collect();
        found[0].0 = all.join(",");
    }
    let found = found.into_iter().next();
    let (value, origin) = found.unwrap_or_else(|| (Config::default().shown(&key), Origin::Default));
    Ok(Entry { key, value, origin, takes, summary })
}

/// The full name of a setting, however it is called.
fn canonical(key: &str) -> Result<String, Failure> {
    if others().any(|(known, ..)| known == key) {
        return Ok(key.to_owned());
    }
    let found = match key.split_once('.') {
        Some((area, name)) if settings::AREAS.contains(&area) => settings::key_in(area, name),
        // Names that people know from elsewhere have no area, or another.
        _ => {
            let known = settings::AREAS.iter().find_map(|area| settings::key_in(area, key).ok());
            known.ok_or_else(|| SettingError::Unknown(key.to_owned()))
        }
    };
    found.map(str::to_owned).map_err(|error| match error {
        SettingError::Unknown(_) => unknown(key),
        error => Failure::new(FailureKind::Usage, error.to_string())
            .hint("memoir config list shows what there is."),
    })
}

/// There is no such setting; perhaps another was meant.
fn unknown(key: &str) -> Failure {
    let listed = settings::keys().map(str::to_owned);
    let nearest = listed
        .chain(others().map(|(known, ..)| known))
        .map(|known| (strsim::jaro_winkler(&known, key), known))
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let failure = Failure::new(FailureKind::Usage, format!("there is no setting \"{key}\""));
    match nearest {
        Some((likeness, known)) if likeness > 0.8 => failure.hint(format!("Did you mean {known}?")),
        _ => failure.hint("memoir config list shows what there is."),
    }
}

/// Sets a value in a file, or takes it out; the file is written only if it is right then.
async fn set(
    key: &str,
    value: Option<&str>,
    in_project: bool,
    files: &Files<'_>,
    store: &dyn Store,
) -> Result<(), Failure> {
    let name = canonical(key)?;
    let path = if in_project { files.project.to_owned() } else { files.home.config_file() };
    let text = read_file(&path)?;
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        Failure::new(FailureKind::Failed, format!("{} has a mistake: {}", path.display(), error.message()))
            .hint("Mend the file first.")
    })?;
    if !change(&mut document, &name, value) {
        return Err(Failure::new(
            FailureKind::Failed,
            format!("{} has something else in the place of {name}", path.display()),
        )
        .hint("Mend the file; nothing was changed."));
    }
    let mut changed = document.to_string();
    if !changed.is_empty() && !changed.ends_with('\n') {
        changed.push('\n');
    }
    check(&changed, in_project, &path)?;
    write_whole(&path, &changed)?;
    if !in_project && store.setting(&name).await?.is_some() {
        // Set in the program, it would go before the file.
        store.set_setting(&name, None, SystemClock.now()).await?;
    }
    let config = Config::read(&files.home.config_file(), files.project)?;
    match value {
        Some(value) => anstream::println!("{name} is {value} in {}.", path.display()),
        None => anstream::println!("{name} is not in {} any more.", path.display()),
    }
    if !in_project && config.by_project.contains(&name) {
        anstream::println!("Here the file of this project goes before it: {}.", files.project.display());
    }
    Ok(())
}

/// Puts a value in its place, or takes it out. Says whether there is such a place.
fn change(document: &mut DocumentMut, name: &str, value: Option<&str>) -> bool {
    let parts: Vec<&str> = name.split('.').collect();
    let (last, tables) = parts.split_last().map_or(("", &[][..]), |(last, tables)| (*last, tables));
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for part in tables {
        let item = table.entry(part).or_insert_with(|| Item::Table(Table::new()));
        let Some(next) = item.as_table_like_mut() else { return false };
        table = next;
    }
    // By whichever of its names it stands there.
    if let [area] = tables {
        let same = |known: &str| settings::key_in(area, known).is_ok_and(|key| key == name);
        let others: Vec<String> = table
            .iter()
            .map(|(known, _)| known.to_owned())
            .filter(|known| known != last && same(known))
            .collect();
        others.iter().for_each(|known| drop(table.remove(known)));
    }
    match value {
        Some(value) => {
            // A number, a switch or a list as such; anything else is text.
            let value = value.parse().unwrap_or_else(|_| toml_edit::Value::from(value));
            table.insert(last, toml_edit::value(value));
        }
        None => {
            table.remove(last);
        }
    }
    true
}

/// What is wrong with a config, though it can be read.
pub(crate) fn fits(config: &Config) -> Result<(), String> {
    areas_fit::<memoir_recall::Settings>(config, "rag")?;
    areas_fit::<ContextSettings>(config, "context")?;
    areas_fit::<WorkerSettings>(config, "workers")?;
    others_fit(config).map_err(|failure| failure.message)
}

/// Whether a file would be right.
fn check(text: &str, in_project: bool, path: &Path) -> Result<(), Failure> {
    let config = if in_project { Config::parse_project(text) } else { Config::parse(text) };
    let said = config.and_then(|config| fits(&config));
    said.map_err(|reason| {
        Failure::new(FailureKind::Usage, format!("{} would not be right: {reason}", path.display()))
            .hint("Nothing was changed.")
    })
}

fn areas_fit<S: HasSettings>(config: &Config, area: &str) -> Result<(), String> {
    for (name, value) in config.table(area) {
        let found = Setting::<S>::find(name);
        let fits = found.and_then(|setting| setting.change(&mut S::default(), &settings::plain(value)));
        fits.map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// What would stop the next start.
fn others_fit(config: &Config) -> Result<(), Failure> {
    if let Some(mode) = &config.approval.mode {
        permissions::mode(mode)?;
    }
    permissions::rules(&config.approval)?;
    for model in [&config.chat.model, &config.summarizer.model] {
        model.as_deref().map(|name| models::parse(name, "")).transpose()?;
    }
    Ok(())
}

/// Writes a file whole or not at all.
fn write_whole(path: &Path, text: &str) -> Result<(), Failure> {
    let written = || {
        path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        // Where a link leads, the file is; and it stays open to whom it was open.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let (partial, mut file) = Partial::file(&path)?;
        file.write_all(text.as_bytes())?;
        if let Ok(before) = std::fs::metadata(&path) {
            file.set_permissions(before.permissions())?;
        }
        partial.finish(&path)
    };
    written().map_err(|error| {
        Failure::new(FailureKind::Failed, format!("{} cannot be written: {error}", path.display()))
            .hint("Nothing was changed.")
    })
}
