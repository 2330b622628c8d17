//! Killing the program in the middle of whatever it does, again and again.

use std::{
    collections::{BTreeMap, HashSet},
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

/// What came of it.
#[derive(Debug, Default)]
pub struct CrashReport {
    /// How often it was killed, by what it was doing.
    pub kills: BTreeMap<String, usize>,
    /// How often it was quicker.
    pub survived: usize,
    /// How many exchanges were acknowledged.
    pub acknowledged: usize,
    /// How many of them were forgotten, as asked.
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

/// Kills the program `kills` times in the middle of things, and checks after each time that the memory is whole and that everything
/// that was acknowledged is there. Panics with the seed and what it was doing otherwise.
pub fn crash(binary: &Path, seed: u64, kills: usize) -> CrashReport {
    let mut trial = Trial::new(binary, seed);
    let mut done = 0;
    while done < kills {
        let deed = *trial.chance.one_of(&DEEDS);
        if trial.interrupt(deed) {
            done += 1;
            if done % SEARCH_EVERY == 0 {
                trial.search();
            }
        }
        trial.check(deed);
    }
    trial.report.acknowledged = trial.acknowledged.len();
    trial.report
}

struct Trial {
    seed: u64,
    chance: Chance,
    home: Home,
    provider: ScriptedProvider,
    /// Exchanges that the program said it had kept, with a word that was said in them.
    acknowledged: BTreeMap<i64, String>,
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
            doubtful: HashSet::new(),
            lasts: BTreeMap::new(),
            number: 0,
            report: CrashReport::default(),
        }
    }

    /// Begins something and kills it at a random moment. Says whether it was still at it.
    fn interrupt(&mut self, deed: Deed) -> bool {
        self.number += 1;
        let word = format!("quux{}", self.number);
        let forgetting = self.acknowledged.keys().next_back().copied().filter(|_| deed == Deed::Forget);
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

    /// What it said before it was killed, it promised.
    fn take_in(&mut self, said: &str, word: String, forgetting: Option<i64>) {
        if let Some(id) = forgetting
            && said.contains("It is forgotten.")
        {
            self.acknowledged.remove(&id);
            self.doubtful.remove(&id);
            self.report.forgotten += 1;
        }
        let result: Option<Value> =
            said.lines().filter_map(|line| serde_json::from_str(line).ok()).next_back();
        if let Some(id) = result.and_then(|result| result["exchange_id"].as_i64()) {
            self.acknowledged.insert(id, word);
        }
    }

    fn check(&mut self, deed: Deed) {
        if !self.home.database().exists() {
            return;
        }
        let (faults, there) = faults_of(&self.home.database());
        let seed = self.seed;
        assert!(faults.is_empty(), "seed {seed}, step {}, after {deed:?}: {faults:?}", self.number);
        for id in std::mem::take(&mut self.doubtful) {
            // Killed while it forgot: it did or it did not, and nothing between.
            if !there.contains(&id) {
                self.acknowledged.remove(&id);
            }
        }
        let lost: Vec<_> = self.acknowledged.keys().filter(|id| !there.contains(id)).collect();
        assert!(
            lost.is_empty(),
            "seed {seed}, step {}, after {deed:?}: exchanges {lost:?} are lost",
            self.number
        );
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
