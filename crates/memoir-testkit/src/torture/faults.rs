//! A provider that fails in every possible way, at every step of a turn.

use std::{collections::BTreeMap, path::Path};

use fastrand::Rng;
use serde_json::json;

use super::{
    PromptsAndAnswers, coverage,
    promises::{acknowledged_exchange, find_lost},
};
use crate::{Reply, ScriptedProvider, TestHome, database::inspect};

/// Number of runs by exit code.
#[derive(Debug, Default)]
pub struct FaultReport(BTreeMap<i32, usize>);

impl FaultReport {
    /// Describes an outcome that occurred too rarely for a meaningful result. About one turn in nine succeeds.
    pub fn shortfall(&self) -> Option<String> {
        let turns: usize = self.0.values().sum();
        let count = |code: i32| self.0.get(&code).copied().unwrap_or(0);
        coverage::find_shortfall([
            ("turns that succeeded".into(), count(0), (turns / 40).max(1)),
            ("turns that failed".into(), count(1), (turns / 4).max(1)),
        ])
    }
}

/// Runs `turns` turns against a provider whose replies fail at random. Checks that the program ends with a
/// valid exit code, reports errors, and stores exactly the exchanges that it acknowledged.
///
/// # Panics
///
/// Panics with the seed if a check fails.
pub fn faults(binary: &Path, seed: u64, turns: usize) -> FaultReport {
    let mut random = Rng::with_seed(seed);
    let home = TestHome::new(binary);
    // Short retry waits save time. The timeout is for replies that fall silent; it is long enough that a busy
    // machine does not make other replies look silent.
    home.write_config("[calls]\nretry_first_wait_ms = 1\nretry_attempts = 2\nidle_timeout_ms = 2000\n");
    let mut report = FaultReport::default();
    let mut acknowledged = PromptsAndAnswers::new();
    for turn in 0..turns {
        let script: Vec<Reply> = (0..8).map(|_| draw_reply(&mut random)).collect();
        let provider = ScriptedProvider::start(script);
        let prompt = format!("Question number {turn}, with enough words to be kept in mind.");
        let arguments = ["-c", "-p", &prompt, "--output-format", "json", "--approval", "full"];
        let output = home.memoir(arguments).provider(&provider).output();
        let (stdout, stderr) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let code = output.status.code().unwrap_or(-1);
        let step = format!("seed {seed}, turn {turn}");
        assert!((code == 0 || code == 1) && !stderr.contains("panicked"), "{step}: exit {code}: {stderr}");
        assert!(code == 0 || !stderr.trim().is_empty(), "{step}: it failed without an error message");
        // A stopped exchange is stored as well, although the run does not succeed.
        let exchange = acknowledged_exchange(&stdout, &prompt);
        assert!(
            code != 0 || exchange.is_some(),
            "{step}: it succeeded without acknowledging an exchange: {stdout}"
        );
        acknowledged.extend(exchange);
        let inspection = inspect(&home.database());
        assert!(inspection.faults.is_empty(), "{step}: {:?}", inspection.faults);
        let lost = find_lost(&acknowledged, &inspection.exchanges);
        assert!(lost.is_empty(), "{step}: exchanges {lost:?} are lost or changed");
        assert_eq!(
            inspection.exchanges.len(),
            acknowledged.len(),
            "{step}: only acknowledged exchanges are stored"
        );
        *report.0.entry(code).or_default() += 1;
    }
    report
}

/// Draws a valid or a faulty reply.
fn draw_reply(random: &mut Rng) -> Reply {
    let text = "Some words of an answer, long enough to be cut somewhere.";
    let tool = || Reply::tool_call("c1", "dir_list", &json!({"path": "."}));
    let size = random.usize(1..=40);
    match random.u8(..14) {
        0 => Reply::status(429, "slow down").header("retry-after", "0"),
        1 => Reply::status(500, "oops"),
        2 => Reply::status(503, "busy"),
        3 => Reply::status(400, "I do not understand"),
        4 => Reply::status_with_body(502, "<html>bad gateway</html>"),
        5 => Reply::text(text).in_chunks_of(size).disconnected(),
        6 => Reply::text(text).in_chunks_of(size).closed(),
        7 => Reply::text(text).in_chunks_of(size).stalled(),
        8 => Reply::text(text).and_garbage("data: {\"choices\":[{\"delta\":{\"content\":\n\n"),
        9 => tool().in_chunks_of(size).disconnected(),
        10 => Reply::text("").and_raw_tool_call("c2", "file_read", "{\"path\": \"x"),
        11 => Reply::text("").and_raw_tool_call("c3", "no_such_tool", "{}"),
        12 => tool().in_chunks_of(size),
        _ => Reply::text(text).in_chunks_of(size),
    }
}
