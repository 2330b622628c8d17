//! Serialization of a graph's links.

use std::collections::HashMap;

use super::{BASE_LINKS, Graph, NONE};
use crate::Codes;

/// Magic number at the start of the file. The last byte is the format version.
const MAGIC: [u8; 8] = *b"memgrph\x01";

/// The reason a serialized graph cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphError {
    /// The data is damaged or has a different format version.
    Damaged,
    /// The graph was built for different rows.
    Stale,
}

impl Graph {
    /// Serializes the links. `fingerprint` identifies the rows the graph was built for.
    pub fn to_bytes(&self, fingerprint: u64) -> Vec<u8> {
        let append = |bytes: &mut Vec<u8>, values: &[u32]| {
            bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        };
        let count = |length: usize| u32::try_from(length).unwrap_or(NONE);
        let mut bytes = MAGIC.to_vec();
        bytes.extend(fingerprint.to_le_bytes());
        append(&mut bytes, &[self.entry, count(self.len())]);
        append(&mut bytes, &self.base);
        append(&mut bytes, &[count(self.upper.len())]);
        for (row, levels) in &self.upper {
            append(&mut bytes, &[*row, count(levels.len())]);
            for links in levels {
                append(&mut bytes, &[count(links.len())]);
                append(&mut bytes, links);
            }
        }
        let sum = checksum(&bytes);
        bytes.extend(sum.to_le_bytes());
        bytes
    }

    /// Deserializes a graph over the first rows of `codes`. `fingerprint` receives the number of rows in the graph and
    /// returns the current fingerprint of those rows.
    ///
    /// # Errors
    ///
    /// Fails if the data is damaged or the fingerprints differ.
    pub fn from_bytes(
        bytes: &[u8],
        codes: &Codes,
        fingerprint: impl FnOnce(usize) -> Option<u64>,
    ) -> Result<Self, GraphError> {
        let (body, sum) = bytes.split_last_chunk::<8>().ok_or(GraphError::Damaged)?;
        let rest = body.strip_prefix(&MAGIC).ok_or(GraphError::Damaged)?;
        let (stored_fingerprint, rest) = rest.split_first_chunk::<8>().ok_or(GraphError::Damaged)?;
        if u64::from_le_bytes(*sum) != checksum(body) {
            return Err(GraphError::Damaged);
        }
        let (numbers, _) = rest.as_chunks::<4>();
        let mut numbers = numbers.iter().map(|number| u32::from_le_bytes(*number));
        let mut next = || numbers.next().ok_or(GraphError::Damaged);
        let (entry, rows) = (next()?, next()? as usize);
        if rows > codes.len() || fingerprint(rows) != Some(u64::from_le_bytes(*stored_fingerprint)) {
            return Err(GraphError::Stale);
        }
        let base = (0..rows * BASE_LINKS).map(|_| next()).collect::<Result<Vec<_>, _>>()?;
        let mut upper = HashMap::new();
        for _ in 0..next()? {
            let (row, levels) = (next()?, next()?);
            let mut links = Vec::new();
            for _ in 0..levels {
                let count = next()?;
                links.push((0..count).map(|_| next()).collect::<Result<Vec<_>, _>>()?);
            }
            upper.insert(row, links);
        }
        // The checksum does not protect against a crafted file, so check that every link leads to an existing row.
        let exists = |row: &u32| (*row as usize) < rows;
        let is_valid = (rows == 0 || exists(&entry))
            && base.iter().all(|row| *row == NONE || exists(row))
            && upper.keys().all(exists)
            && upper.values().flatten().flatten().all(exists);
        if is_valid { Ok(Self::with_codes(entry, base, upper, codes)) } else { Err(GraphError::Damaged) }
    }
}

/// Returns a checksum that detects damage: FNV-1a over eight-byte words in four parallel lanes.
pub fn checksum(bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x0100_0000_01b3;
    let mut sums = [0xcbf2_9ce4_8422_2325_u64, 1, 2, 3];
    let (blocks, rest) = bytes.as_chunks::<32>();
    for block in blocks {
        for (sum, word) in sums.iter_mut().zip(block.as_chunks::<8>().0) {
            *sum = (*sum ^ u64::from_le_bytes(*word)).wrapping_mul(PRIME);
        }
    }
    let rest = rest.iter().map(|byte| u64::from(*byte));
    sums.into_iter().chain(rest).fold(bytes.len() as u64, |sum, word| {
        let mixed = (sum ^ word).wrapping_mul(PRIME);
        mixed ^ mixed >> 29
    })
}
