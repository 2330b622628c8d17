//! Short versions of the tests that `cargo xtask torture` runs for as long as requested.

#![expect(clippy::print_stdout, reason = "prints results for runs with --nocapture")]

use std::{path::Path, time::Duration};

use memoir_testkit::torture::{crash, faults, load};
#[cfg(target_os = "linux")]
use memoir_testkit::{
    Reply, ScriptedProvider, Terminal, TestHome,
    database::look_at,
    torture::{BadDisk, disk, flat},
};

fn memoir() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_memoir"))
}

#[test]
fn no_data_is_lost_in_300_kills() {
    let report = crash(memoir(), 20_261_115, 300);
    println!("{report}");
    assert_eq!(report.too_little(), None, "{report}");
}

#[test]
fn provider_failures_leave_no_partial_exchanges() {
    let report = faults(memoir(), 7, 80);
    println!("{report:?}");
    assert_eq!(report.too_little(), None, "{report:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn no_data_is_lost_when_the_disk_fails_at_any_time() {
    let report = disk(memoir(), 11, 200);
    println!("{report:?}");
    assert_eq!(report.too_little(), None, "{report:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn read_only_disk_is_reported() {
    let home = TestHome::new(memoir());
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    home.memoir(["-p", "My boat is called Petrel."]).provider(&provider).succeed();
    for arguments in
        [&["-p", "And the cat?"][..], &["search", "boat"], &["memory", "forget", "--exchange", "1", "--yes"]]
    {
        let stderr = BadDisk::read_only().beneath(&home, home.memoir(arguments).provider(&provider)).fail(1);
        assert!(stderr.contains("write"), "{arguments:?}: {stderr}");
        assert_eq!(stderr.trim().lines().count(), 1, "{arguments:?}: {stderr}");
    }
    assert!(home.memoir(["search", "boat"]).succeed().contains("Petrel"), "no data is lost");
}

// The first writes after opening include creating and deleting the second name of the write-ahead log.
#[cfg(target_os = "linux")]
#[expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]
#[test]
fn leftover_wal_survives_a_disk_failure_during_opening() {
    let source = TestHome::new(memoir());
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    let terminal = Terminal::open(&source, Some(&provider), (24, 80), &[]);
    terminal.wait_for_prompt();
    terminal.submit("My boat is called Petrel.");
    terminal.wait_for("Noted.");
    terminal.wait_for_prompt();
    for after in 0..20 {
        // Copy the files as a kill of the running program would leave them.
        let home = TestHome::new(memoir());
        std::fs::create_dir_all(home.memoir_home()).unwrap();
        for name in ["memoir.db", "memoir.db-wal", "memoir.db-shm"] {
            std::fs::copy(source.memoir_home().join(name), home.memoir_home().join(name)).unwrap();
        }
        BadDisk::broken(after, 3).beneath(&home, home.memoir(["search", "boat"])).output();
        let state = look_at(&home.database());
        assert!(state.faults.is_empty() && state.exchanges.len() == 1, "after {after}: {state:?}");
        assert!(home.memoir(["search", "boat"]).succeed().contains("Petrel"), "after {after}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn memory_use_does_not_grow_in_a_long_session() {
    let report = flat(memoir(), 150);
    println!("{report:?}");
    assert_eq!(report.too_much(), None, "{report:?}");
    // Caches and the index fill during the first hundred turns.
    assert!(report.grew(3, 10) < 15_000, "{report:?}");
    let (first, last) = (report.grew(1, 4), report.grew(7, 10));
    assert!(
        last <= first.max(6_000),
        "memory use keeps growing, by {first} kB at first and {last} kB later: {report:?}"
    );
}

#[test]
fn no_data_is_lost_with_ten_processes() {
    let report = load(memoir(), 3, (10, 50), Duration::from_secs(10), 0);
    println!("{report:?}");
    assert_eq!(report.too_little(), None, "{report:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn slow_disk_causes_no_busy_errors() {
    let report = load(memoir(), 4, (6, 10), Duration::from_secs(8), 100);
    println!("{report:?}");
    assert_eq!(report.too_little(), None, "{report:?}");
}
