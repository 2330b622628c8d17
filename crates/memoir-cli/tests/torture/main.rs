//! The quick forms of what `cargo xtask torture` does for as long as it is told.

#![expect(clippy::print_stdout, reason = "figures, for who runs it with --nocapture")]

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
fn three_hundred_kills_lose_nothing() {
    let report = crash(memoir(), 20_261_115, 300);
    println!("{report}");
    assert_eq!(report.too_little(), None, "{report}");
}

#[test]
fn a_provider_that_fails_in_every_way_leaves_nothing_in_halves() {
    let report = faults(memoir(), 7, 80);
    println!("{report:?}");
    assert_eq!(report.too_little(), None, "{report:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_goes_wrong_at_any_moment_loses_nothing() {
    let report = disk(memoir(), 11, 200);
    println!("{report:?}");
    assert_eq!(report.too_little(), None, "{report:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_cannot_be_written_to_is_said() {
    let home = TestHome::new(memoir());
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    home.memoir(["-p", "My boat is called Petrel."]).provider(&provider).succeed();
    for arguments in
        [&["-p", "And the cat?"][..], &["search", "boat"], &["memory", "forget", "--exchange", "1", "--yes"]]
    {
        let said = BadDisk::read_only().beneath(&home, home.memoir(arguments).provider(&provider)).fail(1);
        assert!(said.contains("write"), "{arguments:?}: {said}");
        assert_eq!(said.trim().lines().count(), 1, "{arguments:?}: {said}");
    }
    assert!(home.memoir(["search", "boat"]).succeed().contains("Petrel"), "nothing is lost");
}

// The log has its second name made and taken away among the first of these changes.
#[cfg(target_os = "linux")]
#[expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]
#[test]
fn a_log_that_was_left_behind_outlives_a_disk_that_fails_while_it_is_opened() {
    let talking = TestHome::new(memoir());
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    let terminal = Terminal::open(&talking, Some(&provider), (24, 80), &[]);
    terminal.wait_for_prompt();
    terminal.submit("My boat is called Petrel.");
    terminal.wait_for("Noted.");
    terminal.wait_for_prompt();
    for after in 0..20 {
        // As it is when that one is killed now.
        let left = TestHome::new(memoir());
        std::fs::create_dir_all(left.memoir_home()).unwrap();
        for name in ["memoir.db", "memoir.db-wal", "memoir.db-shm"] {
            std::fs::copy(talking.memoir_home().join(name), left.memoir_home().join(name)).unwrap();
        }
        BadDisk::broken(after, 3).beneath(&left, left.memoir(["search", "boat"])).output();
        let seen = look_at(&left.database());
        assert!(seen.faults.is_empty() && seen.exchanges.len() == 1, "after {after}: {seen:?}");
        assert!(left.memoir(["search", "boat"]).succeed().contains("Petrel"), "after {after}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_long_sitting_holds_no_more_than_a_short_one() {
    let report = flat(memoir(), 150);
    println!("{report:?}");
    assert_eq!(report.too_much(), None, "{report:?}");
    // Some of what it holds comes with the first hundred turns: caches, and the index.
    assert!(report.grew(3, 10) < 15_000, "{report:?}");
    let (first, last) = (report.grew(1, 4), report.grew(7, 10));
    assert!(
        last <= first.max(6_000),
        "it grows as it goes on, {first} kB at first and then {last} kB: {report:?}"
    );
}

#[test]
fn ten_processes_on_one_memory_lose_nothing() {
    let report = load(memoir(), 3, (10, 50), Duration::from_secs(10), 0);
    println!("{report:?}");
    assert_eq!(report.too_little(), None, "{report:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn nobody_is_told_of_a_busy_memory_on_a_slow_disk() {
    let report = load(memoir(), 4, (6, 10), Duration::from_secs(8), 100);
    println!("{report:?}");
    assert_eq!(report.too_little(), None, "{report:?}");
}
