//! The words that a model knows, and their ids.

mod hash;

use std::collections::HashMap;

use hash::{EMPTY, PLACES, first_place};

/// The built-in words, one per line, in order of their ids.
const WORDS: &str = include_str!("../../assets/vocab.txt");

/// Where each line of [`WORDS`] begins, and where the last one ends, as 32-bit numbers. The build script computes this and
/// the next table, because each start of the program would spend milliseconds on it.
const BEGINNINGS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/beginnings.bin"));

/// Ids of the built-in words at the places that their hashes select, as 16-bit numbers.
const TABLE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/table.bin"));

/// Ids by word.
pub(crate) enum Vocabulary {
    /// The words of the built-in models.
    BuiltIn,
    /// The words of a model in a directory.
    Read(HashMap<String, u32>),
}

impl Vocabulary {
    /// Returns the id of a word.
    pub(crate) fn id(&self, word: &str) -> Option<u32> {
        match self {
            Self::BuiltIn => find(word),
            Self::Read(ids) => ids.get(word).copied(),
        }
    }

    /// Returns the largest id.
    pub(crate) fn max_id(&self) -> u32 {
        match self {
            Self::BuiltIn => u32::try_from(BEGINNINGS.len() / 4 - 2).unwrap_or(0),
            Self::Read(ids) => ids.values().copied().max().unwrap_or(0),
        }
    }
}

fn find(word: &str) -> Option<u32> {
    let places = (first_place(word)..PLACES).chain(0..PLACES);
    let ids = places.map_while(|place| {
        let (id, _) = TABLE.get(place * 2..)?.split_first_chunk()?;
        Some(u16::from_le_bytes(*id)).filter(|id| *id != EMPTY)
    });
    ids.map(usize::from).find(|id| built_in_word(*id) == Some(word)).and_then(|id| u32::try_from(id).ok())
}

fn built_in_word(id: usize) -> Option<&'static str> {
    let beginning = |id: usize| {
        let (beginning, _) = BEGINNINGS.get(id * 4..)?.split_first_chunk()?;
        usize::try_from(u32::from_le_bytes(*beginning)).ok()
    };
    WORDS.get(beginning(id)?..beginning(id + 1)?)?.strip_suffix('\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_word_has_the_id_of_its_line() {
        let mut count = 0;
        for (id, word) in (0..).zip(WORDS.lines()) {
            assert_eq!(Vocabulary::BuiltIn.id(word), Some(id), "{word}");
            count = id;
        }
        assert_eq!(Vocabulary::BuiltIn.max_id(), count);
        for unknown in ["", "notawordatall", "[CLS]\n", "a\nb", "##"] {
            assert_eq!(Vocabulary::BuiltIn.id(unknown), None, "{unknown:?}");
        }
    }
}
