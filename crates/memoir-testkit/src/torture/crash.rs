//! Killing the program in the middle of whatever it does, again and again.

use std::{
    collections::{BTreeMap, HashSet},
    fmt,
    io::Read,
    path::Path,
    process::{Child, ExitStatus},
    time::{Duration, Instant},
};

use fastrand::Rng;
use serde_json::json;

use super::{
    Said, SaidById, enough, history,
    promises::{OWN, files_with, kept_by, lost, word},
    random::{pick, seed_step},
};
use crate::{
    PATIENCE, Reply, ScriptedProvider, TestHome,
    database::{Seen, look_at},
};

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

/// After so many steps it is also asked whether what was said is found.
const SEARCH_EVERY: u64 = 40;

/// A tenth as many steps as kills are done on a memory that is made meanwhile. Then a long history is brought in.
const EARLY: u64 = 10;

/// So many documents are read again and again.
const NOTES: u64 = 5;

/// A moment to kill it is so many parts of the time at most.
const PARTS: u32 = 10_000;

/// What came of it.
#[derive(Debug, Default)]
pub struct CrashReport {
    /// How often it was killed, by what it was doing.
    pub kills: BTreeMap<String, usize>,
    /// How often it was quicker.
    pub survived: usize,
    /// How many exchanges were acknowledged.
    pub acknowledged: usize,
    /// How often it said that it had brought in everything.
    pub imported: usize,
    /// How often it said that it had read a document.
    pub documents: usize,
    /// How many exchanges were forgotten, as asked: of those, or of what was brought in.
    pub forgotten: usize,
}

impl CrashReport {
    /// How often it was killed.
    fn total(&self) -> usize {
        self.kills.values().sum()
    }

    /// What came too seldom to tell anything. Of 300 kills about 35 are of each kind and 110 of turns; 90 exchanges are
    /// acknowledged, and 16 forgotten.
    pub fn too_little(&self) -> Option<String> {
        let total = self.total();
        let kinds: HashSet<String> = DEEDS.iter().map(|deed| format!("{deed:?}")).collect();
        let killed = kinds.into_iter().map(|kind| {
            let kills = self.kills.get(&kind).copied().unwrap_or(0);
            (format!("kills in {kind}"), kills, total / 60)
        });
        enough::too_little(killed.chain([
            ("exchanges that were acknowledged".into(), self.acknowledged, total / 15),
            ("histories that were brought in".into(), self.imported, total / 100),
            ("documents that were read".into(), self.documents, total / 100),
            ("exchanges that were forgotten".into(), self.forgotten, total / 100),
        ]))
    }
}

impl fmt::Display for CrashReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kills, survived, acknowledged, imported, documents, forgotten } = self;
        write!(
            f,
            "{} kills ({kills:?}), {survived} runs to the end, {acknowledged} exchanges acknowledged, \
             {imported} histories brought in, {documents} documents read, {forgotten} exchanges forgotten",
            self.total()
        )
    }
}

/// Kills the program `kills` times in the middle of things, most of them on a memory whose index is large enough to be packed, and checks after
/// each time that the memory is whole, that everything that was acknowledged is there, and that nothing is of which it said that it is
/// forgotten. Panics with the seed and what it was doing otherwise.
pub fn crash(binary: &Path, seed: u64, kills: usize) -> CrashReport {
    let mut trial = Trial::new(binary, seed);
    // How many of the runs are killed in time depends on the speed of the machine. It goes on until everything was done often
    // enough, within reason.
    let is_too_little =
        |trial: &Trial| trial.report.too_little().is_some() && trial.number < 10 * kills as u64;
    while trial.report.total() < kills || is_too_little(&trial) {
        // All that is chosen depends on the seed and on this alone, as far as it can.
        trial.number += 1;
        if trial.number == kills as u64 / EARLY + 1 {
            trial.bring_in_history();
        }
        let deed = trial.interrupt();
        trial.check(deed);
        if trial.number.is_multiple_of(SEARCH_EVERY) {
            trial.search();
        }
    }
    trial.end()
}

struct Trial {
    seed: u64,
    /// Which step it is.
    number: u64,
    home: TestHome,
    provider: ScriptedProvider,
    /// SaidById that the program said it had kept.
    acknowledged: SaidById,
    /// Those that are forgotten, with the word that was said in them and nowhere else.
    gone: BTreeMap<i64, String>,
    /// The one that it was told to forget: it may be there or not, until it says.
    doubtful: Option<i64>,
    /// Words of those that it forgot and was killed before it said so: they may stand in the files until the memory is
    /// opened next.
    fading: Vec<String>,
    /// So long the history is that it said it had brought in.
    imported: u64,
    /// Notes that it said it had read, and the words one of which stands in each. If it was killed while it read one
    /// again, that may be the old one or a newer one.
    notes: BTreeMap<u64, Vec<String>>,
    /// How long each thing takes, as far as is known.
    lasts: BTreeMap<Deed, Duration>,
    report: CrashReport,
}

impl Trial {
    fn new(binary: &Path, seed: u64) -> Self {
        let provider =
            ScriptedProvider::always(Reply::text("That is noted, and will be remembered.").in_chunks_of(5));
        Self {
            seed,
            number: 0,
            home: TestHome::new(binary),
            provider,
            acknowledged: SaidById::new(),
            gone: BTreeMap::new(),
            doubtful: None,
            fading: Vec::new(),
            imported: 0,
            notes: BTreeMap::new(),
            lasts: BTreeMap::new(),
            report: CrashReport::default(),
        }
    }

    /// Where it happened, for who reads of a failure.
    fn place(&self) -> String {
        format!("seed {}, step {}", self.seed, self.number)
    }

    /// Begins something and kills it at a random moment, unless it is quicker. Tells what it was.
    fn interrupt(&mut self) -> Deed {
        let mut random = seed_step(self.seed, self.number);
        let drawn = *pick(&mut random, &DEEDS);
        let part = random.u32(..PARTS);
        self.doubtful = if drawn == Deed::Forget { self.choose_to_forget(&mut random) } else { None };
        // Where there is nothing to forget, something is said.
        let deed = if drawn == Deed::Forget && self.doubtful.is_none() { Deed::Turn } else { drawn };
        let mut child = self.begin(deed);
        let began = Instant::now();
        let usual = self.lasts.get(&deed).copied().unwrap_or(Duration::from_millis(200));
        // Sometimes a little after it has said that it is done, too.
        let moment = usual * 5 * part / (3 * PARTS);
        let ended = wait(&mut child, moment);
        if ended.is_some() {
            self.lasts.insert(deed, began.elapsed());
            self.report.survived += 1;
        } else {
            child.kill().unwrap();
            child.wait().unwrap();
            // What is killed at its last moment may take longer the next time.
            self.lasts.insert(deed, usual + usual / 10);
            *self.report.kills.entry(format!("{deed:?}")).or_default() += 1;
        }
        let (said, complained) = (read(child.stdout.take()), read(child.stderr.take()));
        self.provider.clear();
        let promised = self.take_in(deed, &said);
        if let Some(status) = ended {
            let place = self.place();
            assert!(
                status.success() && promised,
                "{place}, {deed:?}: {status}; it said: {said}\n{complained}"
            );
            self.look_for_traces();
        }
        deed
    }

    /// One of all that it acknowledged, every other time one of its own turns: of what was brought in there is much more.
    fn choose_to_forget(&self, random: &mut Rng) -> Option<i64> {
        let beginning = if random.bool() { OWN } else { "" };
        let known = self.acknowledged.iter().filter(|(_, said)| said.word().starts_with(beginning));
        let known: Vec<i64> = known.map(|(id, _)| *id).collect();
        (!known.is_empty()).then(|| *pick(random, &known))
    }

    fn begin(&self, deed: Deed) -> Child {
        let asked = self.compose_prompt();
        let run = match deed {
            Deed::Turn => self.home.memoir(["-p", &asked, "--output-format", "json"]),
            Deed::ToolTurn => {
                self.provider.push(Reply::tool_call("c1", "dir_list", &json!({"path": "."})));
                self.home.memoir(["-c", "-p", &asked, "--output-format", "json"])
            }
            Deed::Work => self.home.memoir(["worker", "run", "--until-idle"]),
            Deed::Import => {
                let file = self.home.workspace().join("talk.jsonl");
                std::fs::write(&file, history::growing(self.history_length())).unwrap();
                self.home.memoir(["import", "memoir", &file.to_string_lossy()])
            }
            Deed::Forget => {
                let id = self.doubtful.unwrap_or_default().to_string();
                self.home.memoir(["memory", "forget", "--exchange", &id, "--yes"])
            }
            Deed::Document => {
                let file = self.home.workspace().join(name_of(self.note()));
                let text = format!("# Note\n\nAbout {}, at length.\n\n{}", self.word(), "More. ".repeat(300));
                std::fs::write(&file, text).unwrap();
                self.home.memoir(["docs", "add", &file.to_string_lossy()])
            }
        };
        run.provider(&self.provider).spawn()
    }

    /// The word of this step.
    fn word(&self) -> String {
        word(OWN, self.number)
    }

    fn compose_prompt(&self) -> String {
        format!("Please remember the word {} for me, it is important.", self.word())
    }

    fn note(&self) -> u64 {
        self.number % NOTES
    }

    /// The history grows with every time.
    fn history_length(&self) -> u64 {
        1 + self.number / 10
    }

    /// What it said before it was killed, it promised. Tells whether it said that it was done.
    fn take_in(&mut self, deed: Deed, said: &str) -> bool {
        match deed {
            Deed::Turn | Deed::ToolTurn => {
                let kept = kept_by(said, &self.compose_prompt());
                let promised = kept.is_some();
                self.acknowledged.extend(kept);
                self.report.acknowledged += usize::from(promised);
                promised
            }
            Deed::Work => true,
            Deed::Import => {
                let promised = said.contains("already imported.");
                if promised {
                    self.imported = self.history_length();
                    self.report.imported += 1;
                }
                promised
            }
            Deed::Forget => self.take_in_forgetting(said),
            Deed::Document => self.take_in_document(said),
        }
    }

    fn take_in_forgetting(&mut self, said: &str) -> bool {
        let promised = said.contains("Deleted. Core memory");
        if promised && let Some(id) = self.doubtful.take() {
            let word = self.let_go(id);
            self.report.forgotten += 1;
            // Only who reads beside it keeps the log from being emptied, and nobody does.
            self.nothing_is_left_of(&[word]);
        }
        promised
    }

    fn take_in_document(&mut self, said: &str) -> bool {
        let promised = said.contains("Added ") || said.contains("Updated ");
        let (note, word) = (self.note(), self.word());
        if promised {
            self.notes.insert(note, vec![word]);
            self.report.documents += 1;
        } else if let Some(words) = self.notes.get_mut(&note) {
            words.push(word);
        }
        promised
    }

    /// An exchange is forgotten. Gives its word.
    fn let_go(&mut self, id: i64) -> String {
        let word = self.acknowledged.remove(&id).unwrap_or_default().word().to_owned();
        self.gone.insert(id, word.clone());
        word
    }

    /// Whoever opens the memory after a forgetting was cut off brings it to its end; he has.
    fn look_for_traces(&mut self) {
        let words = std::mem::take(&mut self.fading);
        self.nothing_is_left_of(&words);
    }

    fn nothing_is_left_of(&self, words: &[String]) {
        let files = files_with(&self.home.database(), words);
        assert!(files.is_empty(), "{}: exchanges are forgotten, and not gone: {files:?}", self.place());
    }

    /// Brings in a long history, and has its vectors made and its index packed.
    fn bring_in_history(&mut self) {
        let (home, place) = (&self.home, self.place());
        let file = home.workspace().join("before.jsonl");
        std::fs::write(&file, history::long()).unwrap();
        home.memoir(["import", "memoir", &file.to_string_lossy()]).succeed();
        // Vectors alone: summaries are made while it is killed.
        home.write_config("[workers]\nexchange_summarizer = \"off\"\nconversation_summarizer = \"off\"\n");
        home.memoir(["worker", "run", "--until-idle"]).succeed();
        std::fs::remove_file(home.memoir_home().join("config.toml")).unwrap();
        // Who searches packs what he had to read row by row.
        home.memoir(["search", "things that we have"]).succeed();
        let seen = look_at(&home.database());
        for kind in ["messages", "vectors"] {
            assert!(seen.segments.contains(kind), "{place}: there are no segments of {kind}");
        }
        assert!(seen.faults.is_empty(), "{place}, after the history: {:?}", seen.faults);
        let all: HashSet<Said> = history::in_long().collect();
        let here: SaidById = seen.exchanges.into_iter().filter(|(_, said)| all.contains(said)).collect();
        assert_eq!(here.len(), all.len(), "{place}: not all of the history is here, or some of it twice");
        self.acknowledged.extend(here);
    }

    fn check(&mut self, deed: Deed) {
        let seen = look_at(&self.home.database());
        let place = format!("{}, after {deed:?}", self.place());
        assert!(seen.faults.is_empty(), "{place}: {:?}", seen.faults);
        if let Some(id) = self.doubtful.take()
            && !seen.exchanges.contains_key(&id)
        {
            // Killed while it forgot: it did or it did not, and nothing between. What did it stays so.
            let word = self.let_go(id);
            self.fading.push(word);
        }
        let lost = lost(&self.acknowledged, &seen.exchanges);
        assert!(lost.is_empty(), "{place}: exchanges {lost:?} are lost, or not what was said in them");
        let back: Vec<&i64> = self.gone.keys().filter(|&id| seen.exchanges.contains_key(id)).collect();
        assert!(back.is_empty(), "{place}: exchanges {back:?} are forgotten, and there again");
        self.check_imports(&seen, &place);
        self.check_documents(&seen, &place);
    }

    /// What was brought in is there, once.
    fn check_imports(&self, seen: &Seen, place: &str) {
        let here = seen.exchanges.values().filter(|said| said.asked.starts_with(history::IMPORTED));
        let here: Vec<&Said> = here.collect();
        let each: HashSet<&Said> = here.iter().copied().collect();
        assert_eq!(here.len(), each.len(), "{place}: something was brought in twice");
        let promised = history::in_growing(self.imported);
        let lost: Vec<Said> = promised.filter(|said| !each.contains(said)).collect();
        assert!(lost.is_empty(), "{place}: it was brought in, and is lost: {lost:?}");
    }

    /// What was read is there.
    fn check_documents(&self, seen: &Seen, place: &str) {
        for (note, words) in &self.notes {
            let name = name_of(*note);
            let mut texts = seen.documents.iter().filter(|(source, _)| source.ends_with(name.as_str()));
            let is_here = texts.any(|(_, text)| words.iter().any(|word| text.contains(word.as_str())));
            assert!(is_here, "{place}: {name} was read, and says nothing of {words:?}: {:?}", seen.documents);
        }
    }

    /// What was said is found, whatever the index went through.
    fn search(&mut self) {
        let known: Vec<(&i64, &Said)> = self.acknowledged.iter().collect();
        if known.is_empty() {
            return;
        }
        // What is known depends on when it was killed: who chooses among it draws beside the others.
        let (id, said) = *pick(&mut seed_step(!self.seed, self.number), &known);
        let word = said.word();
        let found = self.home.memoir(["search", word, "--json"]).succeed();
        let place = self.place();
        assert!(
            found.contains(&format!("\"exchange_id\":{id},")),
            "{place}: exchange {id} is not found by \"{word}\": {found}"
        );
        self.look_for_traces();
    }

    /// Opens it once more, and looks for everything that was ever forgotten.
    fn end(self) -> CrashReport {
        self.home.memoir(["search", "the word for me"]).succeed();
        let words: Vec<String> = self.gone.values().cloned().collect();
        self.nothing_is_left_of(&words);
        self.report
    }
}

fn name_of(note: u64) -> String {
    format!("note{note}.md")
}

/// Everything that was written to a pipe.
fn read(pipe: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        pipe.read_to_end(&mut bytes).unwrap();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// How a child ends, if it does within a time.
fn wait(child: &mut Child, time: Duration) -> Option<ExitStatus> {
    let until = Instant::now() + time.min(PATIENCE);
    loop {
        let ended = child.try_wait().unwrap();
        let left = until.saturating_duration_since(Instant::now());
        if ended.is_some() || left.is_zero() {
            return ended;
        }
        std::thread::sleep(left.min(Duration::from_micros(500)));
    }
}
