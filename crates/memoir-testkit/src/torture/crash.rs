//! Kills the program again and again in the middle of its actions.

use std::{
    collections::{BTreeMap, HashSet},
    io::Read,
    path::Path,
    process::{Child, ExitStatus},
    time::{Duration, Instant},
};

use fastrand::Rng;
use serde_json::json;

use super::{
    PromptAndAnswer, PromptsAndAnswers, copies,
    crash_report::{ACTIONS, CrashAction, CrashReport},
    history,
    promises::{TURN_PREFIX, acknowledged_exchange, find_lost, find_traces, unique_word},
    random::{pick, seed_step},
};
use crate::{
    Reply, ScriptedProvider, TestHome, WAIT_TIMEOUT,
    database::{Inspection, inspect},
};

/// Number of steps between two checks that an acknowledged exchange can be found by search.
const SEARCH_INTERVAL: u64 = 40;

/// The first `kills / SMALL_DATABASE_DIVISOR` steps run on a small database. Then a long history is imported.
const SMALL_DATABASE_DIVISOR: u64 = 10;

/// Number of documents, which are changed and added repeatedly.
const NOTES: u64 = 5;

/// Resolution of the moment of a kill, as a fraction of the usual duration.
const PARTS: u32 = 10_000;

/// Kills the program `kills` times in the middle of an action, mostly with a database whose index is large
/// enough to be packed. After each kill, checks that the database is intact, that all acknowledged data is
/// there, and that deleted exchanges are gone.
///
/// # Panics
///
/// Panics with the seed and the action if a check fails.
pub fn crash(binary: &Path, seed: u64, kills: usize) -> CrashReport {
    let mut trial = CrashTrial::new(binary, seed);
    // The number of runs that are killed in time depends on the speed of the machine. Continue until every
    // action has been killed often enough, up to a limit.
    let needs_more =
        |trial: &CrashTrial| trial.report.shortfall().is_some() && trial.step < 10 * kills as u64;
    while trial.report.total() < kills || needs_more(&trial) {
        // As far as possible, all random choices depend only on the seed and the step.
        trial.step += 1;
        if trial.step == kills as u64 / SMALL_DATABASE_DIVISOR + 1 {
            trial.import_history();
        }
        let action = trial.interrupt();
        trial.check(action);
        if trial.step.is_multiple_of(SEARCH_INTERVAL) {
            trial.search();
        }
    }
    trial.finish()
}

struct CrashTrial {
    seed: u64,
    step: u64,
    home: TestHome,
    provider: ScriptedProvider,
    acknowledged: PromptsAndAnswers,
    /// Unique words of deleted exchanges by id.
    deleted: BTreeMap<i64, String>,
    /// The exchange being deleted, which may or may not exist until the program confirms the deletion.
    pending_deletion: Option<i64>,
    /// Unique words of exchanges that were deleted without a confirmation. They may remain in the files until
    /// the database is opened again.
    unerased_words: Vec<String>,
    /// Number of exchanges per conversation in the last confirmed import.
    imported: u64,
    /// Words of the confirmed notes. A note contains one of its words: the confirmed one, or a later one if
    /// the program was killed while it added the note again.
    notes: BTreeMap<u64, Vec<String>>,
    /// Estimated duration of each action.
    durations: BTreeMap<CrashAction, Duration>,
    report: CrashReport,
}

impl CrashTrial {
    fn new(binary: &Path, seed: u64) -> Self {
        let provider =
            ScriptedProvider::always(Reply::text("That is noted, and will be remembered.").in_chunks_of(5));
        Self {
            seed,
            step: 0,
            home: TestHome::new(binary),
            provider,
            acknowledged: PromptsAndAnswers::new(),
            deleted: BTreeMap::new(),
            pending_deletion: None,
            unerased_words: Vec::new(),
            imported: 0,
            notes: BTreeMap::new(),
            durations: BTreeMap::new(),
            report: CrashReport::default(),
        }
    }

    /// Describes the current step for failure messages.
    fn describe_step(&self) -> String {
        format!("seed {}, step {}", self.seed, self.step)
    }

    /// Starts an action and kills it at a random moment, unless it ends before. Returns the action.
    fn interrupt(&mut self) -> CrashAction {
        let mut random = seed_step(self.seed, self.step);
        let choice = *pick(&mut random, &ACTIONS);
        let part = random.u32(..PARTS);
        self.pending_deletion =
            if choice == CrashAction::Forget { self.choose_exchange_to_delete(&mut random) } else { None };
        let is_possible = match choice {
            CrashAction::Forget => self.pending_deletion.is_some(),
            CrashAction::Repair => self.home.database().exists(),
            _ => true,
        };
        let action = if is_possible { choice } else { CrashAction::Turn };
        let mut child = self.start(action);
        let started = Instant::now();
        let duration = self.durations.get(&action).copied().unwrap_or(Duration::from_millis(200));
        // The limit exceeds the usual duration, so that some kills come shortly after the program has
        // confirmed the action.
        let limit = duration * 5 * part / (3 * PARTS);
        let status = wait(&mut child, limit);
        if status.is_some() {
            self.durations.insert(action, started.elapsed());
            self.report.survived += 1;
        } else {
            child.kill().unwrap();
            child.wait().unwrap();
            // The estimate may be too short, so allow more time at the next attempt.
            self.durations.insert(action, duration + duration / 10);
            *self.report.kills.entry(format!("{action:?}")).or_default() += 1;
        }
        let (stdout, stderr) = (read(child.stdout.take()), read(child.stderr.take()));
        self.provider.clear();
        let is_confirmed = self.record(action, &stdout);
        if let Some(status) = status {
            let step = self.describe_step();
            assert!(
                status.success() && is_confirmed,
                "{step}, {action:?}: {status}; its output: {stdout}\n{stderr}"
            );
            self.check_unerased_words();
        }
        action
    }

    /// Chooses an acknowledged exchange. Half of the time it is a turn, because imported exchanges are far
    /// more numerous.
    fn choose_exchange_to_delete(&self, random: &mut Rng) -> Option<i64> {
        let prefix = if random.bool() { TURN_PREFIX } else { "" };
        let candidates = self.acknowledged.iter().filter(|(_, text)| text.unique_word().starts_with(prefix));
        let ids: Vec<i64> = candidates.map(|(id, _)| *id).collect();
        (!ids.is_empty()).then(|| *pick(random, &ids))
    }

    fn start(&self, action: CrashAction) -> Child {
        let prompt = self.compose_prompt();
        let run = match action {
            CrashAction::Turn => self.home.memoir(["-p", &prompt, "--output-format", "json"]),
            CrashAction::ToolTurn => {
                self.provider.push(Reply::tool_call("c1", "dir_list", &json!({"path": "."})));
                self.home.memoir(["-c", "-p", &prompt, "--output-format", "json"])
            }
            CrashAction::Work => self.home.memoir(["worker", "run", "--until-idle"]),
            CrashAction::Import => {
                let file = self.home.workspace().join("growing.jsonl");
                std::fs::write(&file, history::growing_export(self.history_length())).unwrap();
                self.home.memoir(["import", "memoir", &file.to_string_lossy()])
            }
            CrashAction::Forget => {
                let id = self.pending_deletion.unwrap_or_default().to_string();
                self.home.memoir(["memory", "forget", "--exchange", &id, "--yes"])
            }
            CrashAction::BackUp => {
                let directory = copies::backup_directory(&self.home, self.step);
                self.home.memoir(["backup", &directory.to_string_lossy()])
            }
            CrashAction::Repair => self.home.memoir(["repair"]),
            CrashAction::Document => {
                let file = self.home.workspace().join(note_name(self.note()));
                let text = format!("# Note\n\nAbout {}, at length.\n\n{}", self.word(), "More. ".repeat(300));
                std::fs::write(&file, text).unwrap();
                self.home.memoir(["docs", "add", &file.to_string_lossy()])
            }
        };
        run.provider(&self.provider).spawn()
    }

    /// Returns the unique word of this step.
    fn word(&self) -> String {
        unique_word(TURN_PREFIX, self.step)
    }

    fn compose_prompt(&self) -> String {
        format!("Please remember the word {} for me, it is important.", self.word())
    }

    fn note(&self) -> u64 {
        self.step % NOTES
    }

    /// Returns the length of the history, which grows over time.
    fn history_length(&self) -> u64 {
        1 + self.step / 10
    }

    /// Records what the program confirmed in its output. Returns whether it confirmed the whole action.
    fn record(&mut self, action: CrashAction, stdout: &str) -> bool {
        match action {
            CrashAction::Turn | CrashAction::ToolTurn => {
                let exchange = acknowledged_exchange(stdout, &self.compose_prompt());
                let is_acknowledged = exchange.is_some();
                self.acknowledged.extend(exchange);
                self.report.acknowledged += usize::from(is_acknowledged);
                is_acknowledged
            }
            CrashAction::Work => true,
            CrashAction::Import => {
                let is_confirmed = stdout.contains("already imported.");
                if is_confirmed {
                    self.imported = self.history_length();
                    self.report.imported += 1;
                }
                is_confirmed
            }
            CrashAction::Forget => self.record_deletion(stdout),
            CrashAction::Document => self.record_document(stdout),
            CrashAction::BackUp => stdout.contains("Backed up the memory"),
            CrashAction::Repair => {
                let is_confirmed = stdout.contains("Nothing is known to be missing.");
                self.report.repairs += usize::from(is_confirmed);
                is_confirmed
            }
        }
    }

    fn record_deletion(&mut self, stdout: &str) -> bool {
        let is_confirmed = stdout.contains("Deleted. Core memory");
        if is_confirmed && let Some(id) = self.pending_deletion.take() {
            let word = self.mark_deleted(id);
            self.report.forgotten += 1;
            // Only a concurrent reader could keep the text in the log, and there is none.
            self.check_erased(&[word]);
        }
        is_confirmed
    }

    fn record_document(&mut self, stdout: &str) -> bool {
        let is_confirmed = stdout.contains("Added ") || stdout.contains("Updated ");
        let (note, word) = (self.note(), self.word());
        if is_confirmed {
            self.notes.insert(note, vec![word]);
            self.report.documents += 1;
        } else if let Some(words) = self.notes.get_mut(&note) {
            words.push(word);
        }
        is_confirmed
    }

    /// Records that an exchange is deleted. Returns its unique word.
    fn mark_deleted(&mut self, id: i64) -> String {
        let word = self.acknowledged.remove(&id).unwrap_or_default().unique_word().to_owned();
        self.deleted.insert(id, word.clone());
        word
    }

    /// Checks that interrupted deletions have been completed. Call this after a run that opened the database.
    fn check_unerased_words(&mut self) {
        let words = std::mem::take(&mut self.unerased_words);
        self.check_erased(&words);
    }

    fn check_erased(&self, words: &[String]) {
        let traces = find_traces(&self.home, words);
        assert!(
            traces.is_empty(),
            "{}: traces of deleted exchanges remain: {traces:?}",
            self.describe_step()
        );
    }

    /// Imports a long history, embeds it and packs its index.
    fn import_history(&mut self) {
        let (home, step) = (&self.home, self.describe_step());
        let file = home.workspace().join("before.jsonl");
        std::fs::write(&file, history::long_export()).unwrap();
        home.memoir(["import", "memoir", &file.to_string_lossy()]).succeed();
        // Only embed: summaries are written during the later kills.
        home.write_config("[workers]\nexchange_summarizer = \"off\"\nconversation_summarizer = \"off\"\n");
        home.memoir(["worker", "run", "--until-idle"]).succeed();
        std::fs::remove_file(home.memoir_home().join("config.toml")).unwrap();
        // A search packs the rows that it had to read one by one.
        home.memoir(["search", "things that we have"]).succeed();
        let inspection = inspect(&home.database());
        for kind in ["messages", "vectors"] {
            assert!(inspection.segments.contains(kind), "{step}: there are no segments of {kind}");
        }
        assert!(inspection.faults.is_empty(), "{step}, after the import: {:?}", inspection.faults);
        let expected: HashSet<PromptAndAnswer> = history::long_exchanges().collect();
        let stored: PromptsAndAnswers =
            inspection.exchanges.into_iter().filter(|(_, text)| expected.contains(text)).collect();
        assert_eq!(
            stored.len(),
            expected.len(),
            "{step}: exchanges of the history are missing or duplicated"
        );
        self.acknowledged.extend(stored);
    }

    fn check(&mut self, action: CrashAction) {
        let inspection = inspect(&self.home.database());
        let step = format!("{}, after {action:?}", self.describe_step());
        assert!(inspection.faults.is_empty(), "{step}: {:?}", inspection.faults);
        if let Some(id) = self.pending_deletion.take()
            && !inspection.exchanges.contains_key(&id)
        {
            // A deletion that was killed is done completely or not at all, and a completed one is permanent.
            let word = self.mark_deleted(id);
            self.unerased_words.push(word);
        }
        let lost = find_lost(&self.acknowledged, &inspection.exchanges);
        assert!(lost.is_empty(), "{step}: exchanges {lost:?} are lost or changed");
        let restored: Vec<&i64> =
            self.deleted.keys().filter(|&id| inspection.exchanges.contains_key(id)).collect();
        assert!(restored.is_empty(), "{step}: deleted exchanges {restored:?} exist again");
        self.check_imports(&inspection, &step);
        self.check_documents(&inspection, &step);
        if action == CrashAction::BackUp {
            let directory = copies::backup_directory(&self.home, self.step);
            let is_complete = copies::check_backup(&directory, &self.acknowledged, &step);
            self.report.backups += usize::from(is_complete);
        }
        copies::remove_old(&self.home);
    }

    /// Checks that every exchange of a confirmed import is stored exactly once.
    fn check_imports(&self, inspection: &Inspection, step: &str) {
        let stored =
            inspection.exchanges.values().filter(|text| text.prompt.starts_with(history::GROWING_PREFIX));
        let stored: Vec<&PromptAndAnswer> = stored.collect();
        let unique: HashSet<&PromptAndAnswer> = stored.iter().copied().collect();
        assert_eq!(stored.len(), unique.len(), "{step}: an exchange was imported twice");
        let expected = history::growing_exchanges(self.imported);
        let lost: Vec<PromptAndAnswer> = expected.filter(|text| !unique.contains(text)).collect();
        assert!(lost.is_empty(), "{step}: imported exchanges are lost: {lost:?}");
    }

    /// Checks that every confirmed document is stored.
    fn check_documents(&self, inspection: &Inspection, step: &str) {
        for (note, words) in &self.notes {
            let name = note_name(*note);
            let mut texts = inspection.documents.iter().filter(|(source, _)| source.ends_with(name.as_str()));
            let is_stored = texts.any(|(_, text)| words.iter().any(|word| text.contains(word.as_str())));
            assert!(
                is_stored,
                "{step}: {name} was added but contains none of {words:?}: {:?}",
                inspection.documents
            );
        }
    }

    /// Checks that an acknowledged exchange can be found, regardless of the state of the index.
    fn search(&mut self) {
        let candidates: Vec<(&i64, &PromptAndAnswer)> = self.acknowledged.iter().collect();
        if candidates.is_empty() {
            return;
        }
        // The candidates depend on the timing of the kills, so use a generator of its own to keep other
        // choices reproducible.
        let (id, text) = *pick(&mut seed_step(!self.seed, self.step), &candidates);
        let word = text.unique_word();
        let results = self.home.memoir(["search", word, "--json"]).succeed();
        let step = self.describe_step();
        assert!(
            results.contains(&format!("\"exchange_id\":{id},")),
            "{step}: a search for \"{word}\" does not find exchange {id}: {results}"
        );
        self.check_unerased_words();
    }

    /// Opens the database once more and checks that no trace of any deleted exchange remains.
    fn finish(self) -> CrashReport {
        self.home.memoir(["search", "the word for me"]).succeed();
        let words: Vec<String> = self.deleted.values().cloned().collect();
        self.check_erased(&words);
        copies::interrupt_repairs(&self.home, self.seed);
        self.report
    }
}

fn note_name(note: u64) -> String {
    format!("note{note}.md")
}

/// Reads a pipe to its end.
fn read(pipe: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        pipe.read_to_end(&mut bytes).unwrap();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Waits for a child and returns its status, or `None` if it does not end in time.
pub(super) fn wait(child: &mut Child, timeout: Duration) -> Option<ExitStatus> {
    let deadline = Instant::now() + timeout.min(WAIT_TIMEOUT);
    loop {
        let status = child.try_wait().unwrap();
        let remaining = deadline.saturating_duration_since(Instant::now());
        if status.is_some() || remaining.is_zero() {
            return status;
        }
        std::thread::sleep(remaining.min(Duration::from_micros(500)));
    }
}
