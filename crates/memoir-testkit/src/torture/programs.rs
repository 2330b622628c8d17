//! Runs MCP servers, hooks and a watcher at once on one memory, and kills some of them.

use std::{
    collections::HashMap,
    fmt, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use fastrand::Rng;
use serde_json::json;

use crate::{McpClient, McpRevision, TestHome, database::inspect, wait_until};

/// How much a run does.
#[derive(Debug, Clone, Copy)]
pub struct ProgramsSize {
    /// Number of MCP servers that run at once.
    pub servers: usize,
    /// Number of calls of each server.
    pub calls: usize,
    /// Number of agents that run hooks at once.
    pub agents: usize,
    /// Number of turns of each agent. A turn runs two hooks.
    pub turns: usize,
}

/// The results of a run.
#[derive(Debug, Default)]
pub struct ProgramsReport {
    /// Durations of tool calls.
    pub calls: Vec<Duration>,
    /// Durations of hooks that were not killed.
    pub hooks: Vec<Duration>,
    /// Number of servers and hooks that were killed.
    pub kills: usize,
    /// Number of statements and exchanges that were acknowledged and stored once.
    pub stored: usize,
}

impl ProgramsReport {
    fn add(&mut self, other: Self) {
        self.calls.extend(other.calls);
        self.hooks.extend(other.hooks);
        self.kills += other.kills;
    }

    /// Describes what was done too rarely for a meaningful result.
    pub fn shortfall(&self) -> Option<String> {
        let counts = [self.calls.len(), self.hooks.len(), self.kills, self.stored];
        counts.contains(&0).then(|| format!("something was never done: {self}"))
    }
}

impl fmt::Display for ProgramsReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { calls, hooks, kills, stored } = self;
        write!(
            formatter,
            "{} calls ({}), {} hooks ({}), {kills} kills, {stored} statements and exchanges stored once",
            calls.len(),
            percentiles(calls),
            hooks.len(),
            percentiles(hooks)
        )
    }
}

fn percentiles(durations: &[Duration]) -> String {
    let mut sorted = durations.to_vec();
    sorted.sort_unstable();
    let at = |percent: usize| {
        let index = (sorted.len() * percent / 100).min(sorted.len().saturating_sub(1));
        sorted.get(index).copied().unwrap_or_default().as_secs_f64() * 1000.0
    };
    format!("p50 {:.0} ms, p95 {:.0} ms, p99 {:.0} ms", at(50), at(95), at(99))
}

/// Runs servers, agents with hooks and a watcher on one memory. Checks that everything acknowledged is stored, and
/// nothing twice.
///
/// # Panics
///
/// Panics with the seed if something was lost or stored twice.
pub fn programs(binary: &Path, seed: u64, size: ProgramsSize) -> ProgramsReport {
    let home = TestHome::new(binary);
    home.memoir(["conversations"]).succeed();
    let mut watch = home.memoir(["import", "--watch"]).spawn_logging_to(&home.log());
    let mut report = ProgramsReport::default();
    let mut statements = Vec::new();
    thread::scope(|scope| {
        let servers: Vec<_> = (0..size.servers)
            .map(|number| {
                let home = &home;
                scope
                    .spawn(move || use_server(home, number, size.calls, Rng::with_seed(seed + number as u64)))
            })
            .collect();
        let agents: Vec<_> = (0..size.agents)
            .map(|number| {
                let home = &home;
                let random = Rng::with_seed(seed + 1000 + number as u64);
                scope.spawn(move || run_agent(home, number, size.turns, random))
            })
            .collect();
        for server in servers {
            let (part, stored) = server.join().unwrap();
            report.add(part);
            statements.extend(stored);
        }
        for agent in agents {
            report.add(agent.join().unwrap());
        }
    });
    let texts = || -> HashMap<String, usize> {
        let mut counts = HashMap::new();
        for message in home.messages() {
            *counts.entry(message.text).or_default() += 1;
        }
        counts
    };
    // The watcher stores what killed hooks did not.
    let turns = (0..size.agents).flat_map(|agent| (0..size.turns).map(move |turn| prompt(agent, turn)));
    let expected: Vec<String> = statements.into_iter().chain(turns).collect();
    wait_until("every session is stored", || {
        let stored = texts();
        expected.iter().all(|text| stored.contains_key(text))
    });
    watch.kill().unwrap();
    watch.wait().unwrap();
    let twice: Vec<String> = texts()
        .into_iter()
        .filter(|(text, count)| *count > 1 && is_unique(text))
        .map(|(text, _)| text)
        .collect();
    assert!(twice.is_empty(), "seed {seed}: stored twice: {twice:?}");
    let inspection = inspect(&home.database());
    assert!(inspection.faults.is_empty(), "seed {seed}: {:?}", inspection.faults);
    report.stored = expected.len();
    report
}

fn statement(server: usize, call: usize) -> String {
    format!(
        "Server {server} states in call {call} that shelf {} holds the spare parts.",
        server * 1000 + call
    )
}

fn prompt(agent: usize, turn: usize) -> String {
    format!("Agent {agent} asks in turn {turn} about shelf {}.", agent * 1000 + turn)
}

/// Returns whether a text is stored at most once. Answers repeat.
fn is_unique(text: &str) -> bool {
    text.starts_with("Server ") || text.starts_with("Agent ")
}

/// Calls tools of a server, which is sometimes killed. Returns the statements that were acknowledged.
fn use_server(
    home: &TestHome,
    number: usize,
    calls: usize,
    mut random: Rng,
) -> (ProgramsReport, Vec<String>) {
    let revision = if number.is_multiple_of(2) { McpRevision::V2025 } else { McpRevision::V2026 };
    let start = || McpClient::start(home.memoir(["mcp", "serve"]), revision, None);
    let (mut report, mut stored) = (ProgramsReport::default(), Vec::new());
    let mut client = start();
    for call in 0..calls {
        if random.u8(..) < 5 {
            kill(client.pid());
            report.kills += 1;
            client = start();
        }
        let started = Instant::now();
        match random.u8(..5) {
            0 => {
                let text = statement(number, call);
                let result = client.call("remember", json!({"statement": text}));
                assert!(result["structuredContent"]["id"].is_string(), "{result}");
                stored.push(text);
            }
            1 => drop(client.call("search", json!({"query": "spare parts"}))),
            2 => drop(client.call("conversations", json!({"limit": 5}))),
            _ => drop(client.call(
                "recall",
                json!({"question": format!("What does shelf {} hold?", random.u16(..3000))}),
            )),
        }
        report.calls.push(started.elapsed());
    }
    assert_eq!(client.close(), Some(0));
    (report, stored)
}

/// Writes a session of Claude Code and runs its hooks, some of which are killed.
fn run_agent(home: &TestHome, number: usize, turns: usize, mut random: Rng) -> ProgramsReport {
    let directory = home.workspace().parent().unwrap().join(".claude/projects/-work");
    fs::create_dir_all(&directory).unwrap();
    let session = format!("session-{number}");
    let file = directory.join(format!("{session}.jsonl"));
    let mut report = ProgramsReport::default();
    let mut lines = String::new();
    for turn in 0..turns {
        let input = json!({"session_id": session, "transcript_path": file, "cwd": home.workspace(), "prompt": prompt(number, turn)});
        run_hook(home, "UserPromptSubmit", &input.to_string(), &mut random, &mut report);
        for (role, text) in
            [("user", prompt(number, turn)), ("assistant", "It is in the archive.".to_owned())]
        {
            let line = lines.lines().count();
            lines.push_str(&session_line(&session, line, role, &text, home.workspace()));
        }
        fs::write(&file, &lines).unwrap();
        run_hook(home, "Stop", &input.to_string(), &mut random, &mut report);
    }
    report
}

fn session_line(session: &str, number: usize, role: &str, text: &str, directory: PathBuf) -> String {
    let line = json!({
        "type": role, "uuid": format!("{session}-{number}"), "sessionId": session, "cwd": directory,
        "parentUuid": number.checked_sub(1).map(|parent| format!("{session}-{parent}")),
        "message": {"role": role, "content": [{"type": "text", "text": text}], "id": format!("m{number}"), "stop_reason": "end_turn"},
        "timestamp": format!("2026-11-16T{:02}:{:02}:{:02}.000Z", number / 3600, number / 60 % 60, number % 60),
    });
    format!("{line}\n")
}

fn run_hook(home: &TestHome, event: &str, input: &str, random: &mut Rng, report: &mut ProgramsReport) {
    let run = home.memoir(["hook", event]).env("MEMOIR_HOOK_LIMIT_MS", "60000").stdin(input);
    let started = Instant::now();
    let child = run.spawn();
    if random.u8(..) < 12 {
        thread::sleep(Duration::from_millis(random.u64(..60)));
        kill(child.id());
        // Its output is not needed, only that it ends.
        child.wait_with_output().unwrap();
        report.kills += 1;
        return;
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    report.hooks.push(started.elapsed());
}

fn kill(process: u32) {
    // A process that has ended already needs no signal.
    Command::new("kill").args(["-KILL", &process.to_string()]).stderr(Stdio::null()).status().unwrap();
}
