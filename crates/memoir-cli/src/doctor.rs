//! `memoir doctor`: whether everything is as it should be, and what to do where it is not.

use std::{
    collections::BTreeMap,
    io::{IsTerminal as _, Write as _, stdout},
    path::Path,
    sync::Arc,
};

use memoir_core::TimeZone;
use memoir_models::Provider;
use memoir_store::Store;
use serde::Serialize;

use memoir_runtime::{
    config::Config, connect_recall, environment::Environment, failure::Failure, home::Home, models::Models,
    printable, stores,
};

use crate::config_view;

/// How it stands with something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    Good,
    /// It works, and could be better.
    Note,
    /// It does not work.
    Bad,
}

/// What was looked at.
#[derive(Debug, Serialize)]
struct Finding {
    what: &'static str,
    state: State,
    said: String,
    /// What to do.
    advice: Option<String>,
    /// Number of stored records by kind, for JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    counts: Option<BTreeMap<String, u64>>,
}

#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn good(&mut self, what: &'static str, said: impl Into<String>) {
        self.0.push(Finding { what, state: State::Good, said: said.into(), advice: None, counts: None });
    }

    fn note(&mut self, what: &'static str, said: impl Into<String>, advice: impl Into<String>) {
        let advice = Some(advice.into());
        self.0.push(Finding { what, state: State::Note, said: said.into(), advice, counts: None });
    }

    fn bad(&mut self, what: &'static str, said: impl Into<String>, advice: impl Into<String>) {
        let advice = Some(advice.into());
        self.0.push(Finding { what, state: State::Bad, said: said.into(), advice, counts: None });
    }

    fn failed(&mut self, what: &'static str, failure: &Failure) {
        self.bad(what, failure.message.clone(), failure.advice().unwrap_or("Mend that first.").to_owned());
    }
}

/// Less than this much free room is worth a word, in bytes.
const LITTLE_ROOM: u64 = 500 << 20;

/// Looks at everything, whatever fails; says whether it all works.
pub(crate) async fn run(
    home: &Home,
    project: &Path,
    environment: Environment,
    json: bool,
) -> Result<bool, Failure> {
    let mut findings = Findings::default();
    files(home, &mut findings);
    room(home, &mut findings);
    let store = memory(home, &mut findings).await;
    let config = match Config::read(&home.config_file(), project) {
        Ok(config) => {
            match config_view::fits(&config) {
                Ok(()) => findings.good("config", "no mistakes"),
                Err(reason) => {
                    findings.bad("config", reason, format!("Mend {}.", home.config_file().display()));
                }
            }
            config
        }
        Err(failure) => {
            findings.failed("config", &failure);
            Config::default()
        }
    };
    keys(&environment, &mut findings);
    match Models::new(environment, config, TimeZone::system()) {
        Ok(models) => {
            if let Some(store) = &store {
                answering(&models, store.as_ref(), &mut findings).await;
                index(&models, store, &mut findings).await;
            }
        }
        Err(failure) => findings.failed("model", &failure),
    }
    terminal(&mut findings);
    if let Some(store) = store {
        store.close().await;
    }
    print(&findings.0, json)?;
    Ok(findings.0.iter().all(|finding| finding.state != State::Bad))
}

fn print(findings: &[Finding], json: bool) -> Result<(), Failure> {
    if json {
        let text = serde_json::to_string(findings).map_err(std::io::Error::from)?;
        return Ok(writeln!(stdout(), "{text}")?);
    }
    for finding in findings {
        let mark = match finding.state {
            State::Good => "ok  ",
            State::Note => "note",
            State::Bad => "BAD ",
        };
        writeln!(stdout(), "{mark}  {:<12} {}", finding.what, printable(&finding.said))?;
        if let Some(advice) = &finding.advice {
            writeln!(stdout(), "                   {}", printable(advice))?;
        }
    }
    Ok(())
}

/// Whether nobody else can read what is remembered.
#[cfg(unix)]
fn files(home: &Home, findings: &mut Findings) {
    use std::os::unix::fs::PermissionsExt as _;
    let data = home.data();
    let mut open_to_others = Vec::new();
    let mut looked_at = 0;
    let beside = std::fs::read_dir(&data).into_iter().flatten().flatten().map(|entry| entry.path());
    for path in std::iter::once(data.clone()).chain(beside) {
        let Ok(found) = std::fs::symlink_metadata(&path) else { continue };
        looked_at += 1;
        // In a folder that is closed to others, what lies in it is, too.
        let is_memory = path == data
            || path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("memoir.db"));
        if is_memory && found.permissions().mode() & 0o077 != 0 {
            open_to_others.push(path.display().to_string());
        }
    }
    let above = data.ancestors().find(|folder| folder.exists());
    let is_closed = |folder: &Path| rustix::fs::access(folder, rustix::fs::Access::WRITE_OK).is_err();
    match (looked_at, open_to_others.is_empty()) {
        (0, _) if above.is_some_and(is_closed) => findings.bad(
            "files",
            format!(
                "{} cannot be made: {} is closed to you",
                data.display(),
                above.unwrap_or(&data).display()
            ),
            "Make it writable, or set MEMOIR_HOME to a folder that is.".to_owned(),
        ),
        (0, _) => {
            findings.good("files", format!("{} is not there yet; the first talk makes it", data.display()))
        }
        (_, true) => findings.good("files", format!("{} is yours alone", data.display())),
        (_, false) => findings.bad(
            "files",
            format!("others may read {}", open_to_others.join(", ")),
            format!("chmod -R go= {}", data.display()),
        ),
    }
}

#[cfg(not(unix))]
fn files(home: &Home, findings: &mut Findings) {
    findings.good("files", home.data().display().to_string());
}

/// Whether there is room on the disk.
fn room(home: &Home, findings: &mut Findings) {
    let data = home.data();
    let Some(there) = data.ancestors().find(|folder| folder.exists()) else { return };
    let Ok(disk) = rustix::fs::statvfs(there) else { return };
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let said = format!("{} free", indicatif::HumanBytes(free));
    match free {
        0..LITTLE_ROOM => findings.note("disk", said, "Make room: what cannot be written is not remembered."),
        _ => findings.good("disk", said),
    }
}

/// Whether the memory can be opened and is sound.
async fn memory(home: &Home, findings: &mut Findings) -> Option<Arc<dyn Store>> {
    let path = home.database();
    let there = path.exists();
    let factory = stores::factory();
    let opened = if there { factory.open(&stores::url(home)).await } else { factory.open_in_memory().await };
    let store = match opened {
        Ok(store) => store,
        Err(error) => {
            let failure = Failure::from(error);
            findings.failed("memory", &failure);
            return None;
        }
    };
    if !there {
        findings.good("memory", "nothing is remembered yet");
        return Some(store);
    }
    match store.check().await {
        Ok(faults) if faults.is_empty() => {
            let size = std::fs::metadata(&path).map_or(0, |file| file.len());
            let said = format!("sound, schema {}, {}", store.schema_version(), indicatif::HumanBytes(size));
            let counts = count_records(store.as_ref()).await;
            findings.0.push(Finding { what: "memory", state: State::Good, said, advice: None, counts });
        }
        Ok(faults) => {
            let advice = if faults.iter().all(|fault| fault.contains("belong to nothing")) {
                "/migrate-exchanges gives messages their exchange back."
            } else {
                "Put a backup back with memoir restore; keep the file."
            };
            findings.bad("memory", format!("damaged: {}", faults.join("; ")), advice);
        }
        Err(error) => findings.failed("memory", &Failure::from(error)),
    }
    Some(store)
}

/// Returns the number of stored records by kind, or nothing if they cannot be counted.
async fn count_records(store: &dyn Store) -> Option<BTreeMap<String, u64>> {
    let tables = store.inspect()?.tables().await.ok()?;
    let mut counts: BTreeMap<String, u64> =
        tables.into_iter().map(|table| (table.name, table.rows)).collect();
    counts.insert("failed_jobs".into(), store.failed_count().await.ok()?);
    Some(counts)
}

/// Which keys are there; never what they are.
fn keys(environment: &Environment, findings: &mut Findings) {
    let mut there: Vec<&str> = Vec::new();
    for provider in Provider::ALL {
        if environment.key(provider).is_some() {
            there.extend(Environment::key_variables(provider).iter().filter(|name| environment.is_set(name)));
        }
    }
    there.sort_unstable();
    there.dedup();
    match there.is_empty() {
        true => findings.note(
            "keys",
            "none is set",
            "Without one, a server on this machine answers, or memory alone. To use a provider, set ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY or XAI_API_KEY.",
        ),
        false => findings.good("keys", format!("set: {}", there.join(", "))),
    }
}

/// Who would answer, and whether he is there.
async fn answering(models: &Models, store: &dyn Store, findings: &mut Findings) {
    let choice = models.choose(None, store).await;
    let mut choice = match choice {
        Ok(choice) => choice,
        Err(failure) => return findings.failed("model", &failure),
    };
    match models.connect(&mut choice).await {
        Ok(_) => {
            findings.good("model", format!("{} ({})", choice.name, choice.reason));
            match models.reached(&mut choice).await {
                None => {}
                Some((url, true)) => findings.good("server", format!("{url} answers")),
                Some((url, false)) => findings.bad(
                    "server",
                    format!("nobody listens at {url}"),
                    "Start the server, or mend the address; memoir models set auto chooses by itself.",
                ),
            }
        }
        Err(failure) => findings.failed("model", &failure),
    }
    let local = models.listening().await;
    match local.is_empty() {
        true => findings.good("local", "no server of models on this machine"),
        false => findings.good("local", format!("found: {}", local.join(", "))),
    }
}

/// Whether everything can be found.
async fn index(models: &Models, store: &Arc<dyn Store>, findings: &mut Findings) {
    let recall =
        match connect_recall(Arc::clone(store), models, &TimeZone::system(), None, &mut Vec::new()).await {
            Ok(recall) => recall,
            Err(failure) => return findings.failed("index", &failure),
        };
    match recall.waiting().await {
        Ok(0) => findings.good("index", format!("up to date, with vectors of {}", recall.embedder.name())),
        Ok(waiting) => findings.note(
            "index",
            memoir_recall::describe_backlog(waiting),
            "memoir worker run --until-idle does it now.",
        ),
        Err(error) => findings.bad("index", error.to_string(), "Look at the memory first."),
    }
}

fn terminal(findings: &mut Findings) {
    let set = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
    if !stdout().is_terminal() {
        return findings.good("terminal", "none: output is piped");
    }
    let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG")).unwrap_or_default();
    let kind = set("TERM").unwrap_or_default();
    let width = crate::screen::screen_width();
    let colours = if set("NO_COLOR").is_some() { "no colours (NO_COLOR)" } else { "colours" };
    let said = format!("{kind}, {width} columns, {colours}");
    let speaks_unicode = locale.to_lowercase().replace('-', "").contains("utf8");
    match (kind.as_str(), speaks_unicode) {
        ("" | "dumb", _) => findings.note(
            "terminal",
            said,
            "TERM says that it can do little; set it to what your terminal is.",
        ),
        (_, false) => findings.note(
            "terminal",
            format!("{said}, locale \"{locale}\""),
            "Set LANG to a UTF-8 locale, such as C.UTF-8.",
        ),
        _ => findings.good("terminal", said),
    }
}
