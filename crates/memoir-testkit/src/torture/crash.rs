//! Killing the program in the middle of whatever it does, again and again.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    fmt,
    io::Read as _,
    path::Path,
    process::Child,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{Chance, faults_of};
use crate::{Home, PATIENCE, Reply, ScriptedProvider};

/// What the program is doing when it is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Deed {
    Turn,
    ToolTurn,
    Work,
    Import,
    Forget,
    Document,
}

/// Turns come most often: they are what people do.
const DEEDS: [Deed; 8] = [
    Deed::Turn,
    Deed::Turn,
    Deed::ToolTurn,
    Deed::Work,
    Deed::Import,
    Deed::Forget,
    Deed::Turn,
    Deed::Document,
];

/// After so many kills it is also asked whether what was said is found.
const SEARCH_EVERY: usize = 25;

/// After a tenth of the kills, on a memory that is made meanwhile, a history is brought in: so many conversations of so many exchanges, each with
/// two messages and a vector. Two segments of messages and one of vectors are packed of it.
const EARLY: usize = 10;
const CONVERSATIONS: usize = 30;
const EXCHANGES: usize = 50;

/// What came of it.
#[derive(Debug, Default)]
pub struct CrashReport {
    /// How often it was killed, by what it was doing.
    pub kills: BTreeMap<String, usize>,
    /// How often it was quicker.
    pub survived: usize,
    /// How many exchanges were acknowledged.
    pub acknowledged: usize,
    /// How many were forgotten, as asked: of them, or of what was brought in.
    pub forgotten: usize,
}

impl fmt::Display for CrashReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total: usize = self.kills.values().sum();
        write!(
            f,
            "{total} kills ({:?}), {} runs to the end, {} exchanges acknowledged, {} forgotten",
            self.kills, self.survived, self.acknowledged, self.forgotten
        )
    }
}

/// Kills the program `kills` times in the middle of things, most of them on a memory whose index is large enough to be packed, and checks after
/// each time that the memory is whole, that everything that was acknowledged is there, and that nothing is of which it said that it is
/// forgotten. Panics with the seed and what it was doing otherwise.
pub fn crash(binary: &Path, seed: u64, kills: usize) -> CrashReport {
    let mut trial = Trial::new(binary, seed);
    let mut done = 0;
    let mut is_large = false;
    while done < kills {
        if !is_large && done >= kills / EARLY {
            trial.bring_in_history();
            is_large = true;
        }
        let deed = *trial.chance.one_of(&DEEDS);
        if trial.interrupt(deed) {
            done += 1;
            if done % SEARCH_EVERY == 0 {
                trial.search();
            }
        }
        trial.check(deed);
    }
    trial.report
}

struct Trial {
    seed: u64,
    chance: Chance,
    home: Home,
    provider: ScriptedProvider,
    /// Exchanges that the program said it had kept, with a word that was said in them and nowhere else.
    acknowledged: BTreeMap<i64, String>,
    /// Those of which it said that they are forgotten.
    gone: HashSet<i64>,
    /// Those that it was told to forget: they may be there or not, until it says.
    doubtful: HashSet<i64>,
    /// How long each thing takes, as far as is known.
    lasts: BTreeMap<Deed, Duration>,
    number: u64,
    report: CrashReport,
}

impl Trial {
    fn new(binary: &Path, seed: u64) -> Self {
        let provider =
            ScriptedProvider::always(Reply::text("That is noted, and will be remembered.").in_chunks_of(5));
        Self {
            seed,
            chance: Chance::new(seed),
            home: Home::new(binary),
            provider,
            acknowledged: BTreeMap::new(),
            gone: HashSet::new(),
            doubtful: HashSet::new(),
            lasts: BTreeMap::new(),
            number: 0,
            report: CrashReport::default(),
        }
    }

    /// Begins something and kills it at a random moment. Says whether it was still at it.
    fn interrupt(&mut self, deed: Deed) -> bool {
        self.number += 1;
        // Of one length, so that none is a part of another.
        let word = format!("quux{:05}", self.number);
        let forgetting = if deed == Deed::Forget { self.one_to_forget() } else { None };
        let mut child = self.begin(deed, &word, forgetting);
        let began = Instant::now();
        let usual = self.lasts.get(&deed).copied().unwrap_or(Duration::from_millis(200));
        let micros = u64::try_from(usual.as_micros()).unwrap_or(u64::MAX);
        // Sometimes a little after it has said that it is done, too.
        let moment = Duration::from_micros(self.chance.below(micros.saturating_mul(5) / 3 + 1));
        let ended = wait(&mut child, moment);
        if ended {
            self.lasts.insert(deed, began.elapsed());
            self.report.survived += 1;
        } else {
            child.kill().unwrap();
            child.wait().unwrap();
            // What is killed at its last moment may take longer the next time.
            self.lasts.insert(deed, usual + usual / 50);
            *self.report.kills.entry(format!("{deed:?}")).or_default() += 1;
        }
        let mut said = String::new();
        let _ = child.stdout.take().map(|mut out| out.read_to_string(&mut said));
        self.take_in(&said, word, forgetting);
        self.provider.clear();
        !ended
    }

    /// One of all that it acknowledged, every other time one of its own turns: of what was brought in there is much more.
    fn one_to_forget(&mut self) -> Option<i64> {
        let beginning = if self.chance.below(2) == 0 { "quux" } else { "" };
        let known = self.acknowledged.iter().filter(|(_, word)| word.starts_with(beginning));
        let known: Vec<i64> = known.map(|(id, _)| *id).collect();
        (!known.is_empty()).then(|| *self.chance.one_of(&known))
    }

    fn begin(&mut self, deed: Deed, word: &str, forgetting: Option<i64>) -> Child {
        let asked = format!("Please remember the word {word} for me, it is important.");
        let file = self.home.workspace().join("talk.jsonl");
        let arguments: Vec<String> = match (deed, forgetting) {
            (Deed::ToolTurn, _) => {
                self.provider.push(Reply::tool_call("c1", "dir_list", &json!({"path": "."})));
                vec!["-c".into(), "-p".into(), asked, "--output-format".into(), "json".into()]
            }
            (Deed::Work, _) => ["worker", "run", "--until-idle"].map(str::to_owned).to_vec(),
            (Deed::Import, _) => {
                std::fs::write(&file, self.history()).unwrap();
                vec!["import".into(), "memoir".into(), file.to_string_lossy().into_owned()]
            }
            (Deed::Forget, Some(id)) => {
                self.doubtful.insert(id);
                vec!["memory".into(), "forget".into(), "--exchange".into(), id.to_string(), "--yes".into()]
            }
            (Deed::Document, _) => {
                let note = self.home.workspace().join(format!("note{}.md", self.number % 5));
                std::fs::write(
                    &note,
                    format!("# Note\n\nAbout {word}, at length.\n\n{}", "More. ".repeat(300)),
                )
                .unwrap();
                vec!["docs".into(), "add".into(), note.to_string_lossy().into_owned()]
            }
            (Deed::Turn | Deed::Forget, _) => {
                vec!["-p".into(), asked, "--output-format".into(), "json".into()]
            }
        };
        self.home.memoir(arguments).provider(&self.provider).spawn()
    }

    /// A history that grows with every time.
    fn history(&self) -> String {
        let mut lines = String::from("{\"kind\":\"memoir\",\"format\":1}\n");
        for conversation in 0..3 {
            let talk = json!({"kind": "conversation", "id": conversation, "origin": format!("torture/{conversation}"),
                "title": "Imported", "scope": "elsewhere", "created": "2026-01-05T08:00:00Z"});
            lines.push_str(&format!("{talk}\n"));
            for exchange in 0..1 + self.number / 10 {
                let moment = format!("2026-01-05T{:02}:{:02}:00Z", 8 + exchange / 60 % 12, exchange % 60);
                let said = json!({"kind": "exchange", "conversation": conversation, "model": "imported", "messages": [
                    {"role": "user", "text": format!("Imported question {exchange} of talk {conversation}"), "created": moment},
                    {"role": "assistant", "text": format!("Imported answer {exchange}, with some words"), "created": moment}]});
                lines.push_str(&format!("{said}\n"));
            }
        }
        lines
    }

    /// Brings in a long history, and has its vectors made and its index packed.
    fn bring_in_history(&mut self) {
        let home = &self.home;
        let file = home.workspace().join("before.jsonl");
        std::fs::write(&file, long_history()).unwrap();
        home.memoir(["import", "memoir", &file.to_string_lossy()]).succeed();
        // Vectors alone: summaries are made while it is killed.
        home.write_config("[workers]\nexchange_summarizer = \"off\"\nconversation_summarizer = \"off\"\n");
        home.memoir(["worker", "run", "--until-idle"]).succeed();
        std::fs::remove_file(home.memoir_home().join("config.toml")).unwrap();
        // Who searches packs what he had to read row by row.
        home.memoir(["search", "things that we have"]).succeed();
        let segments = home.rows("_index_segments");
        for kind in ["'messages'", "'vectors'"] {
            let is_packed = segments.iter().any(|row| row.split('|').nth(1) == Some(kind));
            assert!(is_packed, "seed {}: there are no segments of {kind}", self.seed);
        }
        let (faults, there) = faults_of(&home.database());
        assert!(faults.is_empty(), "seed {}, after the history: {faults:?}", self.seed);
        let before = self.acknowledged.len();
        for (id, asked) in there {
            let word = asked.split(' ').find(|word| word.starts_with("stock"));
            self.acknowledged.extend(word.map(|word| (id, word.to_owned())));
        }
        assert_eq!(self.acknowledged.len() - before, CONVERSATIONS * EXCHANGES, "seed {}", self.seed);
    }

    /// What it said before it was killed, it promised.
    fn take_in(&mut self, said: &str, word: String, forgetting: Option<i64>) {
        if let Some(id) = forgetting
            && said.contains("It is forgotten.")
        {
            let forgotten = self.acknowledged.remove(&id).unwrap_or_default();
            self.doubtful.remove(&id);
            self.gone.insert(id);
            self.report.forgotten += 1;
            // Only who reads beside it keeps the log from being emptied, and nobody does.
            let files = files_with(&self.home.database(), &forgotten);
            assert!(
                files.is_empty(),
                "seed {}, step {}: \"{forgotten}\" is forgotten, and stands in {files:?}; it said: {said}",
                self.seed,
                self.number
            );
        }
        let result: Option<Value> =
            said.lines().filter_map(|line| serde_json::from_str(line).ok()).next_back();
        if let Some(id) = result.and_then(|result| result["exchange_id"].as_i64()) {
            self.acknowledged.insert(id, word);
            self.report.acknowledged += 1;
        }
    }

    fn check(&mut self, deed: Deed) {
        if !self.home.database().exists() {
            return;
        }
        let (faults, there) = faults_of(&self.home.database());
        let place = format!("seed {}, step {}, after {deed:?}", self.seed, self.number);
        assert!(faults.is_empty(), "{place}: {faults:?}");
        for id in std::mem::take(&mut self.doubtful) {
            // Killed while it forgot: it did or it did not, and nothing between. What did it stays so.
            if !there.contains_key(&id) {
                self.acknowledged.remove(&id);
                self.gone.insert(id);
            }
        }
        let lost = lost(&self.acknowledged, &there);
        assert!(lost.is_empty(), "{place}: exchanges {lost:?} are lost, or not what was said in them");
        let back: Vec<_> = self.gone.iter().filter(|id| there.contains_key(id)).collect();
        assert!(back.is_empty(), "{place}: exchanges {back:?} are forgotten, and there again");
    }

    /// What was said is found, whatever the index went through.
    fn search(&mut self) {
        let known: Vec<(i64, String)> = self.acknowledged.clone().into_iter().collect();
        if known.is_empty() {
            return;
        }
        let (id, word) = self.chance.one_of(&known).clone();
        let found = self.home.memoir(["search", &word, "--json"]).succeed();
        assert!(
            found.contains(&format!("\"exchange_id\":{id},")),
            "seed {}, step {}: exchange {id} is not found by \"{word}\": {found}",
            self.seed,
            self.number
        );
    }
}

/// A history in which every exchange has its word.
fn long_history() -> String {
    let mut lines = String::from("{\"kind\":\"memoir\",\"format\":1}\n");
    for conversation in 0..CONVERSATIONS {
        let talk = json!({"kind": "conversation", "id": conversation, "origin": format!("before/{conversation}"),
            "title": "From before", "scope": "before", "created": "2025-01-05T08:00:00Z"});
        lines.push_str(&format!("{talk}\n"));
        for exchange in 0..EXCHANGES {
            let word = format!("stock{:05}", conversation * EXCHANGES + exchange);
            let moment = format!("2025-01-{:02}T08:{exchange:02}:00Z", 1 + conversation);
            // Long enough to be given a vector; the answers are not, for the sake of time.
            let said = json!({"kind": "exchange", "conversation": conversation, "model": "imported", "messages": [
                {"role": "user", "text": format!("Please put {word} on the list of things that we have"), "created": moment},
                {"role": "assistant", "text": "It is there.", "created": moment}]});
            lines.push_str(&format!("{said}\n"));
        }
    }
    lines
}

/// Exchanges that are not there, or in which something else stands.
fn lost(acknowledged: &BTreeMap<i64, String>, there: &HashMap<i64, String>) -> Vec<i64> {
    let mut lost = Vec::new();
    for (id, word) in acknowledged {
        if there.get(id).is_none_or(|asked| !asked.contains(word.as_str())) {
            lost.push(*id);
        }
    }
    lost
}

/// In which of the database and its log a word stands.
fn files_with(database: &Path, word: &str) -> Vec<String> {
    let mut found = Vec::new();
    for path in [database.to_owned(), database.with_extension("db-wal")] {
        let bytes = std::fs::read(&path).unwrap_or_default();
        if bytes.windows(word.len()).any(|part| part == word.as_bytes()) {
            found.push(path.display().to_string());
        }
    }
    found
}

/// Whether a child ends within a time.
fn wait(child: &mut Child, time: Duration) -> bool {
    let until = Instant::now() + time.min(PATIENCE);
    loop {
        if child.try_wait().unwrap().is_some() {
            return true;
        }
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        std::thread::sleep(left.min(Duration::from_micros(500)));
    }
}
