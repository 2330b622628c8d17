//! Short versions of the torture tests that `cargo xtask torture` runs for a given time.

#![expect(clippy::print_stdout, reason = "reports are printed for runs with --nocapture")]

use std::{path::Path, time::Duration};

use memoir_testkit::torture::{ProgramsSize, crash, faults, load, programs};
#[cfg(target_os = "linux")]
use memoir_testkit::{
    Reply, ScriptedProvider, Terminal, TestHome,
    database::inspect,
    torture::{BadDisk, disk, measure_memory_use},
};

fn memoir() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_memoir"))
}

#[test]
fn no_data_is_lost_in_300_kills() {
    let report = crash(memoir(), 20_261_115, 300);
    println!("{report}");
    assert_eq!(report.shortfall(), None, "{report}");
}

#[test]
fn servers_hooks_and_a_watcher_share_one_memory() {
    let report = programs(memoir(), 5, ProgramsSize { servers: 4, calls: 30, agents: 3, turns: 12 });
    println!("{report}");
    assert_eq!(report.shortfall(), None, "{report}");
}

#[test]
fn provider_failures_leave_no_partial_exchanges() {
    let report = faults(memoir(), 7, 80);
    println!("{report:?}");
    assert_eq!(report.shortfall(), None, "{report:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn disk_failures_lose_no_acknowledged_data() {
    let report = disk(memoir(), 11, 200);
    println!("{report:?}");
    assert_eq!(report.shortfall(), None, "{report:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_read_only_disk_is_reported() {
    let home = TestHome::new(memoir());
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    home.memoir(["-p", "My boat is called Petrel."]).provider(&provider).succeed();
    for arguments in [&["-p", "And the cat?"][..], &["memory", "forget", "--exchange", "1", "--yes"]] {
        let stderr = BadDisk::read_only().apply(&home, home.memoir(arguments).provider(&provider)).fail(1);
        assert!(stderr.contains("write"), "{arguments:?}: {stderr}");
        assert_eq!(stderr.trim().lines().count(), 1, "{arguments:?}: {stderr}");
    }
    assert!(home.memoir(["search", "boat"]).succeed().contains("Petrel"), "no data is lost");
}

// Among its first changes, the program links the log to a second name and removes that name again.
#[cfg(target_os = "linux")]
#[expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]
#[test]
fn a_leftover_log_survives_a_disk_failure_while_the_database_is_opened() {
    let live = TestHome::new(memoir());
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    let terminal = Terminal::open(&live, Some(&provider), (24, 80), &[]);
    terminal.wait_for_prompt();
    terminal.submit("My boat is called Petrel.");
    terminal.wait_for("Noted.");
    terminal.wait_for_prompt();
    for after in 0..20 {
        // Copying the files of the running program gives the state that a kill would leave.
        let crashed = TestHome::new(memoir());
        std::fs::create_dir_all(crashed.memoir_home()).unwrap();
        for name in ["memoir.db", "memoir.db-wal", "memoir.db-shm"] {
            std::fs::copy(live.memoir_home().join(name), crashed.memoir_home().join(name)).unwrap();
        }
        BadDisk::broken(after, 3).apply(&crashed, crashed.memoir(["search", "boat"])).output();
        let inspection = inspect(&crashed.database());
        assert!(
            inspection.faults.is_empty() && inspection.exchanges.len() == 1,
            "after {after} changes: {inspection:?}"
        );
        assert!(crashed.memoir(["search", "boat"]).succeed().contains("Petrel"), "after {after} changes");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn memory_use_of_a_long_session_levels_off() {
    let report = measure_memory_use(memoir(), 150);
    println!("{report:?}");
    assert_eq!(report.excess(), None, "{report:?}");
    // Caches and the index grow during the first hundred turns.
    assert!(report.growth(3, 10) < 15_000, "{report:?}");
    let (early_growth, late_growth) = (report.growth(1, 4), report.growth(7, 10));
    assert!(
        late_growth <= early_growth.max(6_000),
        "memory use keeps growing, by {early_growth} kB at first and {late_growth} kB at the end: {report:?}"
    );
}

#[test]
fn ten_processes_on_one_database_lose_nothing() {
    let report = load(memoir(), 3, (10, 50), Duration::from_secs(10), 0);
    println!("{report:?}");
    assert_eq!(report.shortfall(), None, "{report:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn no_process_reports_a_busy_database_on_a_slow_disk() {
    let report = load(memoir(), 4, (6, 10), Duration::from_secs(8), 100);
    println!("{report:?}");
    assert_eq!(report.shortfall(), None, "{report:?}");
}
