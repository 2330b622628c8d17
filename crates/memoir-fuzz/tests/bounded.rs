//! Every target, on random bytes, on random text, and on good input that was spoiled.
//!
//! `MEMOIR_FUZZ_CASES` says how many of each; what fails is shown as small as it could be made, and goes to `seeds/`.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

use std::{env, fs, path::Path};

use memoir_fuzz::{ALL, Target};
use proptest::{
    collection::vec,
    prelude::*,
    sample::Index,
    test_runner::{Config, TestRunner},
};

/// So many inputs of each target where nobody says otherwise.
const CASES: u32 = 256;

/// The good input of a target: its seeds, and for importers what their own tests read.
fn seeds(name: &str) -> Vec<Vec<u8>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut folders = vec![here.join("seeds").join(name)];
    if name == "importers" {
        folders.push(here.join("../memoir-import/fixtures"));
    }
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

/// One change to an input.
#[derive(Debug, Clone)]
enum Change {
    Truncate(Index),
    /// Bytes are put in.
    Insert(Index, Vec<u8>),
    /// A stretch goes.
    Remove(Index, usize),
    /// A stretch comes twice.
    Duplicate(Index, usize),
    Flip(Index, u8),
    /// It goes on as another seed does, from there.
    Splice(Index, Index, Index),
}

fn change() -> impl Strategy<Value = Change> {
    let telling = proptest::sample::select(
        &[
            "",
            "\n",
            "\n\n",
            "\"",
            "'",
            "\\",
            "{",
            "}",
            "[",
            "]",
            ":",
            ",",
            "null",
            "-1",
            "0",
            "9223372036854775807",
            "18446744073709551615",
            "2147483647",
            "1e999",
            "\u{feff}",
            "\u{0}",
            "\r\n",
            "\u{a0}",
            "\u{85}",
            "\u{2028}",
            "🦀",
            "é",
            "$(",
            "`",
            ";",
            "*",
            "---",
            "data: ",
            "\\ud800",
            " ",
            "\t",
        ][..],
    );
    let bytes = prop_oneof![
        3 => telling.prop_map(|text: &str| text.as_bytes().to_vec()),
        1 => vec(any::<u8>(), 1..9),
    ];
    let at = any::<Index>;
    prop_oneof![
        2 => at().prop_map(Change::Truncate),
        4 => (at(), bytes).prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        2 => (at(), 1..40_usize).prop_map(|(at, length)| Change::Remove(at, length)),
        2 => (at(), 1..200_usize).prop_map(|(at, length)| Change::Duplicate(at, length)),
        2 => (at(), 0..8_u8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        1 => (at(), at(), at()).prop_map(|(at, seed, from)| Change::Splice(at, seed, from)),
    ]
}

fn apply(mut data: Vec<u8>, change: &Change, seeds: &[Vec<u8>]) -> Vec<u8> {
    let place = |at: &Index, data: &[u8]| at.index(data.len() + 1);
    match change {
        Change::Truncate(at) => data.truncate(place(at, &data)),
        Change::Insert(at, bytes) => {
            let at = place(at, &data);
            data.splice(at..at, bytes.iter().copied());
        }
        Change::Remove(at, length) => {
            let at = place(at, &data);
            let end = (at + length).min(data.len());
            data.drain(at..end);
        }
        Change::Duplicate(at, length) => {
            let at = place(at, &data);
            let stretch = data[at..(at + length).min(data.len())].to_vec();
            data.splice(at..at, stretch);
        }
        Change::Flip(at, bit) => {
            let at = place(at, &data);
            if let Some(byte) = data.get_mut(at) {
                *byte ^= 1 << bit;
            }
        }
        Change::Splice(at, seed, from) => {
            let other = seed.get(seeds);
            data.truncate(place(at, &data));
            data.extend_from_slice(&other[place(from, other)..]);
        }
    }
    data
}

/// Input for a target: mostly good input that was spoiled, since random bytes are refused at the door.
fn input(seeds: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let spoiled = (any::<Index>(), vec(change(), 0..5)).prop_map(move |(seed, changes)| {
        changes.iter().fold(seed.get(&seeds).clone(), |data, change| apply(data, change, &seeds))
    });
    prop_oneof![
        1 => vec(any::<u8>(), 0..300),
        1 => any::<String>().prop_map(String::into_bytes),
        6 => spoiled,
    ]
}

fn run(name: &str, target: Target) {
    let seeds = seeds(name);
    assert!(!seeds.is_empty(), "{name} has no seeds");
    // What was found once is not found again.
    seeds.iter().for_each(|seed| target(seed));
    let cases = env::var("MEMOIR_FUZZ_CASES").ok().map_or(CASES, |cases| cases.parse().unwrap());
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let outcome = TestRunner::new(config).run(&input(seeds), |data| {
        target(&data);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{name}: {error}");
    }
}

/// A test of its own for each target, so that they run side by side and tell which one fails.
macro_rules! targets {
    ($($name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            run(stringify!($name), memoir_fuzz::$name);
        })*

        #[test]
        fn every_target_is_run_and_can_be_fuzzed() {
            let listed: Vec<&str> = ALL.iter().map(|(name, _)| *name).collect();
            assert_eq!(listed, [$(stringify!($name)),*]);
            let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
            let manifest = fs::read_to_string(package.join("Cargo.toml")).unwrap();
            for name in listed {
                assert!(manifest.contains(&format!("name = \"{name}\"")), "{name} is missing from fuzz/Cargo.toml");
                let target = fs::read_to_string(package.join(format!("fuzz_targets/{name}.rs"))).unwrap();
                assert!(target.contains(&format!("memoir_fuzz::{name}(data)")), "{name}");
            }
        }
    };
}

targets!(
    approvals,
    chunker,
    cron,
    front_matter,
    history,
    importers,
    search_words,
    stream_anthropic,
    stream_gemini,
    stream_ollama,
    stream_openai,
    stream_xai,
    time_expressions,
);
