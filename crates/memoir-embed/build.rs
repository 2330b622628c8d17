//! Computes the tables with which the words of the built-in models are found.

#![expect(clippy::unwrap_used, reason = "a build script can only stop the build")]

use std::{env, fs, path::Path};

#[path = "src/vocabulary/hash.rs"]
mod hash;

use hash::{EMPTY, PLACES, first_place};

const WORDS: &str = "assets/vocab.txt";

fn main() {
    println!("cargo::rerun-if-changed={WORDS}");
    println!("cargo::rerun-if-changed=src/vocabulary/hash.rs");
    let words = fs::read_to_string(WORDS).unwrap();
    let mut table = vec![EMPTY; PLACES];
    let mut beginnings = vec![0];
    for (id, line) in (0_u16..).zip(words.split_inclusive('\n')) {
        beginnings.push(beginnings[usize::from(id)] + u32::try_from(line.len()).unwrap());
        let mut place = first_place(line.strip_suffix('\n').unwrap());
        while table[place] != EMPTY {
            place = (place + 1) % PLACES;
        }
        table[place] = id;
    }
    let directory = env::var_os("OUT_DIR").unwrap();
    let write = |name, bytes: Vec<u8>| fs::write(Path::new(&directory).join(name), bytes).unwrap();
    write("table.bin", table.into_iter().flat_map(u16::to_le_bytes).collect());
    write("beginnings.bin", beginnings.into_iter().flat_map(u32::to_le_bytes).collect());
}
