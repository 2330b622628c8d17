//! A provider that fails in every way it can, at every step of a turn.

use std::{collections::BTreeMap, path::Path};

use fastrand::Rng;
use serde_json::json;

use super::{
    SaidById, enough,
    promises::{kept_by, lost},
};
use crate::{Reply, ScriptedProvider, TestHome, database::look_at};

/// What came of it: how often runs ended with which exit code.
#[derive(Debug, Default)]
pub struct FaultReport(BTreeMap<i32, usize>);

impl FaultReport {
    /// What came too seldom to tell anything. About one in nine goes well.
    pub fn too_little(&self) -> Option<String> {
        let turns: usize = self.0.values().sum();
        let ended = |code: i32| self.0.get(&code).copied().unwrap_or(0);
        enough::too_little([
            ("turns that went well".into(), ended(0), (turns / 40).max(1)),
            ("turns that failed".into(), ended(1), (turns / 4).max(1)),
        ])
    }
}

/// Runs `turns` turns against a provider whose replies fail at random. Whatever happens, the program ends with a code it is allowed to end
/// with, keeps what it acknowledged and nothing in halves, and says something. Panics with the seed otherwise.
pub fn faults(binary: &Path, seed: u64, turns: usize) -> FaultReport {
    let mut random = Rng::with_seed(seed);
    let home = TestHome::new(binary);
    // Retries at once, because long waits would only take time. The timeout is only for replies that fall silent: a machine that is
    // busy must not make another reply look silent.
    home.write_config("[calls]\nretry_first_wait_ms = 1\nretry_attempts = 2\nidle_timeout_ms = 2000\n");
    let mut report = FaultReport::default();
    let mut kept = SaidById::new();
    for turn in 0..turns {
        let script: Vec<Reply> = (0..8).map(|_| draw_reply(&mut random)).collect();
        let provider = ScriptedProvider::start(script);
        let prompt = format!("Question number {turn}, with enough words to be kept in mind.");
        let arguments = ["-c", "-p", &prompt, "--output-format", "json", "--approval", "full"];
        let output = home.memoir(arguments).provider(&provider).output();
        let (printed, complained) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let code = output.status.code().unwrap_or(-1);
        let place = format!("seed {seed}, turn {turn}");
        assert!(
            (code == 0 || code == 1) && !complained.contains("panicked"),
            "{place}: exit {code}: {complained}"
        );
        assert!(code == 0 || !complained.trim().is_empty(), "{place}: it says nothing");
        // One that was stopped is kept, too, and is no success.
        let acknowledged = kept_by(&printed, &prompt);
        assert!(
            code != 0 || acknowledged.is_some(),
            "{place}: it went well, and tells of no exchange: {printed}"
        );
        kept.extend(acknowledged);
        let seen = look_at(&home.database());
        assert!(seen.faults.is_empty(), "{place}: {:?}", seen.faults);
        let lost = lost(&kept, &seen.exchanges);
        assert!(lost.is_empty(), "{place}: exchanges {lost:?} are lost, or not what was said in them");
        assert_eq!(seen.exchanges.len(), kept.len(), "{place}: what is kept is what was acknowledged");
        *report.0.entry(code).or_default() += 1;
    }
    report
}

/// Draws a good reply or a faulty one.
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
        5 => Reply::text(text).in_chunks_of(size).cut(),
        6 => Reply::text(text).in_chunks_of(size).closed(),
        7 => Reply::text(text).in_chunks_of(size).then_silence(),
        8 => Reply::text(text).and_garbage("data: {\"choices\":[{\"delta\":{\"content\":\n\n"),
        9 => tool().in_chunks_of(size).cut(),
        10 => Reply::text("").and_raw_tool_call("c2", "file_read", "{\"path\": \"x"),
        11 => Reply::text("").and_raw_tool_call("c3", "no_such_tool", "{}"),
        12 => tool().in_chunks_of(size),
        _ => Reply::text(text).in_chunks_of(size),
    }
}
