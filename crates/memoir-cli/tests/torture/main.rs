//! The quick forms of what `cargo xtask torture` does for as long as it is told.

#![expect(clippy::print_stdout, reason = "figures, for who runs it with --nocapture")]

use std::{path::Path, time::Duration};

use memoir_testkit::torture::{crash, disk, faults, flat, load};

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

#[test]
fn a_disk_that_is_full_at_any_moment_loses_nothing() {
    let report = disk(memoir(), 11, 120);
    println!("{report:?}");
    assert!(report.well >= 10 && report.full >= 10, "{report:?}");
}

#[test]
fn a_long_sitting_holds_no_more_than_a_short_one() {
    let (early, late) = flat(memoir(), 150);
    println!("{early} kB after 30 turns, {late} kB after 150");
    assert!(late < early + 20_000, "{early} kB, then {late} kB");
}

#[test]
fn ten_processes_on_one_memory_lose_nothing() {
    let report = load(memoir(), 3, (10, 50), Duration::from_secs(10));
    println!("{report:?}");
    assert!(report.turns >= 10 && report.tasks >= 1, "{report:?}");
}
