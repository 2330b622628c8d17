//! Diagnosing problems: checks everything that Memoir depends on and suggests a remedy for each problem.

mod files;
mod hub;
mod log;
mod sessions;

use std::{collections::BTreeMap, path::Path, sync::Arc};

use memoir_core::TimeZone;
use memoir_models::Provider;
use memoir_store::{Inspectable, Jobs, Settings, Store, StoreFault};
use serde::Serialize;

use super::{config::validate, database};
use crate::{
    config::Config,
    environment::Environment,
    failure::Failure,
    home::Home,
    memory::connect_recall,
    models::Models,
    trust::{self, Trust},
};

/// Severity of a check result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckState {
    /// The check found nothing to report.
    Good,
    /// The check passed, but something could be improved.
    Note,
    /// The check failed, so the whole report is unhealthy.
    Bad,
}

/// Result of one check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckResult {
    /// Name of the check, as one word.
    #[serde(rename = "what")]
    pub name: &'static str,
    /// Severity of the result.
    pub state: CheckState,
    /// Description of the result.
    #[serde(rename = "said")]
    pub detail: String,
    /// What the user can do, or `None` if nothing needs to be done.
    pub advice: Option<String>,
    /// Number of stored records by kind. Only set by the check of the database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<BTreeMap<String, u64>>,
}

/// Results of all checks, serialized as an array.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[serde(transparent)]
pub struct DoctorReport {
    /// Results in the order of the checks.
    pub findings: Vec<CheckResult>,
}

impl DoctorReport {
    /// Returns `true` if no check failed.
    pub fn is_healthy(&self) -> bool {
        self.findings.iter().all(|finding| finding.state != CheckState::Bad)
    }

    /// Adds the result of a check that passed.
    pub fn add_good(&mut self, name: &'static str, detail: impl Into<String>) {
        self.add(name, CheckState::Good, detail.into(), None);
    }

    /// Adds the result of a check that passed but found something to improve.
    pub fn add_note(&mut self, name: &'static str, detail: impl Into<String>, advice: impl Into<String>) {
        self.add(name, CheckState::Note, detail.into(), Some(advice.into()));
    }

    /// Adds the result of a check that failed.
    pub fn add_bad(&mut self, name: &'static str, detail: impl Into<String>, advice: impl Into<String>) {
        self.add(name, CheckState::Bad, detail.into(), Some(advice.into()));
    }

    fn add(&mut self, name: &'static str, state: CheckState, detail: String, advice: Option<String>) {
        self.findings.push(CheckResult { name, state, detail, advice, counts: None });
    }

    fn add_failure(&mut self, name: &'static str, failure: &Failure) {
        self.add_bad(name, failure.message.clone(), failure.hint_text().unwrap_or("Fix this first."));
    }
}

/// Checks files, disk, database, config, API keys, models, index and log. If a check fails, the remaining checks still run.
pub async fn examine(home: &Home, project: &Path, environment: &Environment) -> DoctorReport {
    let mut report = DoctorReport::default();
    files::check_permissions(home, &mut report);
    files::check_free_space(home, &mut report);
    let store = check_memory(home, &mut report).await;
    let trust = match &store {
        Some(store) => trust::read(store.as_ref(), environment, project).await.ok(),
        None => None,
    };
    let config = check_config(home, (trust == Some(Trust::Trusted)).then_some(project), &mut report);
    files::check_backups(home, &config, &mut report);
    check_keys(environment, &mut report);
    match Models::new(environment.clone(), config, TimeZone::system(), |_| ()) {
        Ok(models) => {
            if let Some(store) = &store {
                check_model(&models, store.as_ref(), &mut report).await;
                check_index(&models, store, &mut report).await;
            }
        }
        Err(failure) => report.add_failure("model", &failure),
    }
    if let Some(store) = &store
        && let Err(failure) = sessions::check(environment, store.as_ref(), &mut report).await
    {
        report.add_failure("sessions", &failure);
    }
    hub::check(home, environment, &mut report).await;
    log::check(&home.log_file(), &mut report);
    if let Some(store) = store {
        store.close().await;
    }
    report
}

fn check_config(home: &Home, project: Option<&Path>, report: &mut DoctorReport) -> Config {
    let config = match Config::read(&home.config_file(), project) {
        Ok(config) => config,
        Err(failure) => {
            report.add_failure("config", &failure);
            return Config::default();
        }
    };
    match validate(&config) {
        Ok(()) if !config.problems.is_empty() => {
            let remedy = "Make it your own file, or delete it.";
            config.problems.iter().for_each(|problem| report.add_bad("config", problem.clone(), remedy));
        }
        Ok(()) => report.add_good("config", "valid"),
        Err(error) => {
            report.add_bad("config", error.to_string(), format!("Fix {}.", home.config_file().display()));
        }
    }
    config
}

/// Checks whether the database can be opened and is intact. If it does not exist, returns an empty in-memory database
/// instead of creating it.
async fn check_memory(home: &Home, report: &mut DoctorReport) -> Option<Arc<dyn Store>> {
    let path = home.database();
    let exists = path.exists();
    let store = match if exists { database::open(&path).await } else { database::open_empty().await } {
        Ok(store) => store,
        Err(error) => {
            report.add_failure("memory", &Failure::from(error));
            return None;
        }
    };
    if !exists {
        report.add_good("memory", "nothing is stored yet");
        return Some(store);
    }
    match store.check().await {
        Ok(faults) if faults.is_empty() => {
            let size = std::fs::metadata(&path).map_or(0, |file| file.len());
            let detail =
                format!("intact, schema version {}, {}", store.schema_version(), files::format_bytes(size));
            let (state, counts) = (CheckState::Good, count_records(store.as_ref()).await);
            report.findings.push(CheckResult { name: "memory", state, detail, advice: None, counts });
        }
        Ok(faults) => {
            let advice = if faults.iter().all(|fault| matches!(fault, StoreFault::Orphans { .. })) {
                "Run `/migrate-exchanges` to assign these messages to exchanges."
            } else {
                "Salvage what is readable with `memoir repair`, or restore a backup with `memoir restore`."
            };
            let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
            report.add_bad("memory", format!("damaged: {}", faults.join("; ")), advice);
        }
        Err(error) => report.add_failure("memory", &Failure::from(error)),
    }
    Some(store)
}

/// Returns the number of stored records by kind, or `None` if they cannot be counted.
async fn count_records(store: &(impl Inspectable + Jobs + ?Sized)) -> Option<BTreeMap<String, u64>> {
    let tables = store.inspect()?.tables().await.ok()?;
    let mut counts: BTreeMap<String, u64> =
        tables.into_iter().map(|table| (table.name, table.rows)).collect();
    counts.insert("failed_jobs".into(), store.failed_count().await.ok()?);
    Some(counts)
}

/// Reports which environment variables hold API keys, but never the keys themselves.
fn check_keys(environment: &Environment, report: &mut DoctorReport) {
    let mut variables: Vec<&str> = Vec::new();
    for provider in Provider::ALL {
        if environment.key(provider).is_some() {
            let names = Environment::key_variables(provider);
            variables.extend(names.iter().filter(|name| environment.is_set(name)));
        }
    }
    variables.sort_unstable();
    variables.dedup();
    match variables.is_empty() {
        true => report.add_note(
            "keys",
            "no API key is set",
            "Memoir uses a model server on this machine, or memory alone. To use a provider, set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or XAI_API_KEY. To use your own server, start Ollama, llama.cpp or LM Studio, or set OPENAI_BASE_URL.",
        ),
        false => report.add_good("keys", format!("set: {}", variables.join(", "))),
    }
}

async fn check_model(models: &Models, store: &dyn Settings, report: &mut DoctorReport) {
    let mut choice = match models.choose(None, store).await {
        Ok(choice) => choice,
        Err(failure) => return report.add_failure("model", &failure),
    };
    match models.connect(&mut choice).await {
        Ok(_) => {
            report.add_good("model", format!("{} ({})", choice.name, choice.reason));
            match models.probe_server(&mut choice).await {
                None => {}
                Some((url, true)) => report.add_good("server", format!("{url} answers")),
                Some((url, false)) => report.add_bad(
                    "server",
                    format!("no server is listening at {url}"),
                    "Start the server, fix its address, or run `memoir models set auto` to use another model.",
                ),
            }
        }
        Err(failure) => report.add_failure("model", &failure),
    }
    let servers = models.list_local_servers().await;
    match servers.is_empty() {
        true => report.add_good("local", "no model server on this machine"),
        false => report.add_good("local", format!("found: {}", servers.join(", "))),
    }
}

/// Checks whether all messages and documents are embedded.
async fn check_index(models: &Models, store: &Arc<dyn Store>, report: &mut DoctorReport) {
    let recall =
        match connect_recall(Arc::clone(store), models, &TimeZone::system(), None, &mut Vec::new()).await {
            Ok(recall) => recall,
            Err(failure) => return report.add_failure("index", &failure),
        };
    match recall.count_unembedded_messages().await {
        Ok(0) => report.add_good("index", format!("up to date, embedding model {}", recall.embedder.name())),
        Ok(waiting) => report.add_note(
            "index",
            memoir_recall::describe_backlog(waiting),
            "Run `memoir worker run --until-idle` to finish indexing now.",
        ),
        Err(error) => report.add_bad("index", error.to_string(), "Check the result for `memory` first."),
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    #[tokio::test]
    async fn an_invalid_config_does_not_stop_the_other_checks() {
        let directory = tempfile::TempDir::new().unwrap();
        let home = Home::in_directory(directory.path().join("home"));
        std::fs::create_dir(home.data()).unwrap();
        std::fs::write(home.config_file(), "[rag]\ntoken_budget = \"lots\"\n").unwrap();
        let environment = Environment::new([
            ("OPENAI_API_KEY".into(), "secret".into()),
            ("MEMOIR_LOCAL_SERVERS".into(), "none".into()),
        ]);
        let report = examine(&home, Path::new("/nowhere"), &environment).await;
        let find = |name: &str| report.findings.iter().find(|finding| finding.name == name).unwrap();
        assert!(!report.is_healthy());
        assert_eq!(find("config").state, CheckState::Bad);
        assert!(find("config").detail.contains("rag.token_budget must be"), "{}", find("config").detail);
        assert_eq!(find("keys").detail, "set: OPENAI_API_KEY");
        assert_eq!(find("memory").detail, "nothing is stored yet");
        assert!(find("log").detail.contains("memoir.log"));
        assert!(!home.database().exists(), "checking creates nothing");
        let json = serde_json::to_string(&report).unwrap();
        assert!(json.starts_with("[{\"what\":\"files\",\"state\":") && !json.contains("secret"), "{json}");
    }
}
