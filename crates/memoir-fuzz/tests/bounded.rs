//! Runs every target on random bytes, on random text, and on mutated seeds.
//!
//! `MEMOIR_FUZZ_CASES` sets the number of inputs per target. Add the minimized input of a failure to `seeds/`.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

use std::{env, fs, path::Path};

use memoir_fuzz::{ALL, Target};
use proptest::{
    collection::vec,
    prelude::*,
    sample::Index,
    test_runner::{Config, TestRunner},
};

/// Default number of inputs per target.
const CASES: u32 = 256;

/// Returns the seeds of a target. Those of the importers include the fixtures of `memoir-import`.
fn seeds(name: &str) -> Vec<Vec<u8>> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut directories = vec![package.join("seeds").join(name)];
    if name == "importers" {
        directories.push(package.join("../memoir-import/fixtures"));
    }
    let entries = directories.iter().flat_map(|directory| fs::read_dir(directory).unwrap());
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| fs::read(file).unwrap()).collect()
}

#[derive(Debug, Clone)]
enum Mutation {
    Truncate(Index),
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
    Duplicate(Index, usize),
    Flip(Index, u8),
    /// Replaces the rest of the input by the rest of another seed.
    Splice(Index, Index, Index),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let special_texts = proptest::sample::select(
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
        3 => special_texts.prop_map(|text: &str| text.as_bytes().to_vec()),
        1 => vec(any::<u8>(), 1..9),
    ];
    let index = any::<Index>;
    prop_oneof![
        2 => index().prop_map(Mutation::Truncate),
        4 => (index(), bytes).prop_map(|(index, bytes)| Mutation::Insert(index, bytes)),
        2 => (index(), 1..40_usize).prop_map(|(index, length)| Mutation::Remove(index, length)),
        2 => (index(), 1..200_usize).prop_map(|(index, length)| Mutation::Duplicate(index, length)),
        2 => (index(), 0..8_u8).prop_map(|(index, bit)| Mutation::Flip(index, bit)),
        1 => (index(), index(), index()).prop_map(|(index, seed, from)| Mutation::Splice(index, seed, from)),
    ]
}

fn apply(mut data: Vec<u8>, mutation: &Mutation, seeds: &[Vec<u8>]) -> Vec<u8> {
    let offset = |index: &Index, data: &[u8]| index.index(data.len() + 1);
    match mutation {
        Mutation::Truncate(index) => data.truncate(offset(index, &data)),
        Mutation::Insert(index, bytes) => {
            let start = offset(index, &data);
            data.splice(start..start, bytes.iter().copied());
        }
        Mutation::Remove(index, length) => {
            let start = offset(index, &data);
            let end = (start + length).min(data.len());
            data.drain(start..end);
        }
        Mutation::Duplicate(index, length) => {
            let start = offset(index, &data);
            let bytes = data[start..(start + length).min(data.len())].to_vec();
            data.splice(start..start, bytes);
        }
        Mutation::Flip(index, bit) => {
            let start = offset(index, &data);
            if let Some(byte) = data.get_mut(start) {
                *byte ^= 1 << bit;
            }
        }
        Mutation::Splice(index, seed, from) => {
            let other = seed.get(seeds);
            data.truncate(offset(index, &data));
            data.extend_from_slice(&other[offset(from, other)..]);
        }
    }
    data
}

/// Input for a target: mostly mutated seeds, because parsers reject random bytes early.
fn input(seeds: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let mutated_seed = (any::<Index>(), vec(mutation(), 0..5)).prop_map(move |(seed, mutations)| {
        mutations.iter().fold(seed.get(&seeds).clone(), |data, mutation| apply(data, mutation, &seeds))
    });
    prop_oneof![
        1 => vec(any::<u8>(), 0..300),
        1 => any::<String>().prop_map(String::into_bytes),
        6 => mutated_seed,
    ]
}

fn run(name: &str, target: Target) {
    let seeds = seeds(name);
    assert!(!seeds.is_empty(), "{name} has no seeds");
    // Seeds include inputs that once failed.
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

/// Defines one test per target, so that targets run in parallel and failures are named.
macro_rules! targets {
    ($($name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            run(stringify!($name), memoir_fuzz::$name);
        })*

        #[test]
        fn every_target_has_a_test_and_a_fuzz_binary() {
            let names: Vec<&str> = ALL.iter().map(|(name, _)| *name).collect();
            assert_eq!(names, [$(stringify!($name)),*]);
            let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
            let manifest = fs::read_to_string(package.join("Cargo.toml")).unwrap();
            for name in names {
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
    stream_responses,
    stream_xai,
    time_expressions,
);
