//! The quick forms of what `cargo xtask torture` does for as long as it is told.

#![expect(clippy::print_stdout, reason = "figures, for who runs it with --nocapture")]

use std::{path::Path, time::Duration};

use memoir_testkit::torture::{crash, faults, flat, load};
#[cfg(target_os = "linux")]
use memoir_testkit::{
    Home, Reply, ScriptedProvider, Terminal,
    torture::{BadDisk, disk, faults_of},
};

fn memoir() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_memoir"))
}

#[test]
fn three_hundred_kills_lose_nothing() {
    let report = crash(memoir(), 20_261_115, 300);
    println!("{report}");
    assert_eq!(report.kills.values().sum::<usize>(), 300);
    assert!(report.acknowledged >= 10 && report.forgotten >= 1, "{report}");
}

#[test]
fn a_provider_that_fails_in_every_way_leaves_nothing_in_halves() {
    let report = faults(memoir(), 7, 80);
    println!("{report:?}");
    assert!(
        report.get(&0).is_some_and(|well| *well >= 10) && report.get(&1).is_some_and(|ill| *ill >= 10),
        "{report:?}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_goes_wrong_at_any_moment_loses_nothing() {
    let report = disk(memoir(), 11, 200);
    println!("{report:?}");
    let slow = report["Slow"];
    assert!(slow.0 >= 10 && slow.1 == 0, "a slow disk is no failure: {report:?}");
    for trouble in ["Full", "ReadOnly", "Broken", "NoRoom"] {
        assert!(report[trouble].1 >= 5, "{trouble}: {report:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_cannot_be_written_to_is_said() {
    let home = Home::new(memoir());
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

#[cfg(target_os = "linux")]
#[expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]
#[test]
fn a_log_that_was_left_behind_outlives_a_disk_that_fails_while_it_is_opened() {
    let talking = Home::new(memoir());
    let provider = ScriptedProvider::always(Reply::text("Noted."));
    let terminal = Terminal::open(&talking, Some(&provider), (24, 80), &[]);
    terminal.wait_for_prompt();
    terminal.type_keys("My boat is called Petrel.\r");
    terminal.wait_for("Noted.");
    terminal.wait_for_prompt();
    for after in 0..20 {
        // As it is when that one is killed now.
        let left = Home::new(memoir());
        std::fs::create_dir_all(left.memoir_home()).unwrap();
        for name in ["memoir.db", "memoir.db-wal", "memoir.db-shm"] {
            std::fs::copy(talking.memoir_home().join(name), left.memoir_home().join(name)).unwrap();
        }
        BadDisk::broken(after, 3).beneath(&left, left.memoir(["search", "boat"])).output();
        let (faults, there) = faults_of(&left.database());
        assert!(faults.is_empty() && there.len() == 1, "after {after}: {faults:?}, {there:?}");
        assert!(left.memoir(["search", "boat"]).succeed().contains("Petrel"), "after {after}");
    }
}

#[test]
fn a_long_sitting_holds_no_more_than_a_short_one() {
    let (early, late) = flat(memoir(), 150);
    println!("{early} kB after 50 turns, {late} kB after 150");
    // Some of what it holds comes with the first hundreds of turns.
    assert!(late < early + 15_000, "{early} kB, then {late} kB");
}

#[test]
fn ten_processes_on_one_memory_lose_nothing() {
    let report = load(memoir(), 3, (10, 50), Duration::from_secs(10), 0);
    println!("{report:?}");
    assert!(report.turns >= 10 && report.tasks >= 20, "{report:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn nobody_is_told_of_a_busy_memory_on_a_slow_disk() {
    let report = load(memoir(), 4, (6, 10), Duration::from_secs(8), 100);
    println!("{report:?}");
    assert!(report.turns >= 5, "{report:?}");
}
