//! A graph as bytes: links alone.

use std::collections::HashMap;

use super::{BASE_LINKS, Graph, NONE};
use crate::Codes;

/// What a file begins with; the last byte is the version.
const MAGIC: [u8; 8] = *b"memgrph\x01";

/// Why bytes are no graph over these codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GraphError {
    /// They are damaged, or of another version.
    Damaged,
    /// They were made for other rows.
    Stale,
}

impl Graph {
    /// The graph as bytes. `fingerprint` tells which rows it was made for.
    pub fn to_bytes(&self, fingerprint: u64) -> Vec<u8> {
        let numbers = |numbers: &mut Vec<u8>, values: &[u32]| {
            numbers.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        };
        let count = |length: usize| u32::try_from(length).unwrap_or(NONE);
        let mut bytes = MAGIC.to_vec();
        bytes.extend(fingerprint.to_le_bytes());
        numbers(&mut bytes, &[self.entry, count(self.len())]);
        numbers(&mut bytes, &self.base);
        numbers(&mut bytes, &[count(self.upper.len())]);
        for (row, levels) in &self.upper {
            numbers(&mut bytes, &[*row, count(levels.len())]);
            for links in levels {
                numbers(&mut bytes, &[count(links.len())]);
                numbers(&mut bytes, links);
            }
        }
        let sum = checksum(&bytes);
        bytes.extend(sum.to_le_bytes());
        bytes
    }

    /// A graph from bytes, over the first rows of `codes`. `fingerprint` tells which rows there are, given how many
    /// the graph covers.
    pub fn from_bytes(
        bytes: &[u8],
        codes: &Codes,
        fingerprint: impl FnOnce(usize) -> Option<u64>,
    ) -> Result<Self, GraphError> {
        let (body, sum) = bytes.split_last_chunk::<8>().ok_or(GraphError::Damaged)?;
        let rest = body.strip_prefix(&MAGIC).ok_or(GraphError::Damaged)?;
        let (made_for, rest) = rest.split_first_chunk::<8>().ok_or(GraphError::Damaged)?;
        if u64::from_le_bytes(*sum) != checksum(body) {
            return Err(GraphError::Damaged);
        }
        let (numbers, _) = rest.as_chunks::<4>();
        let mut numbers = numbers.iter().map(|number| u32::from_le_bytes(*number));
        let mut next = || numbers.next().ok_or(GraphError::Damaged);
        let (entry, rows) = (next()?, next()? as usize);
        if rows > codes.len() || fingerprint(rows) != Some(u64::from_le_bytes(*made_for)) {
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
        // The sum vouches for the bytes, not for who wrote them: a link that leads nowhere must not be followed.
        let known = |row: &u32| (*row as usize) < rows;
        let sound = (rows == 0 || known(&entry))
            && base.iter().all(|row| *row == NONE || known(row))
            && upper.keys().all(known)
            && upper.values().flatten().flatten().all(known);
        if sound { Ok(Self::with_codes(entry, base, upper, codes)) } else { Err(GraphError::Damaged) }
    }
}

/// A sum by which damage is noticed: FNV-1a over words of eight bytes, four of them side by side.
pub fn checksum(bytes: &[u8]) -> u64 {
    const STEP: u64 = 0x0100_0000_01b3;
    let mut sums = [0xcbf2_9ce4_8422_2325_u64, 1, 2, 3];
    let (blocks, rest) = bytes.as_chunks::<32>();
    for block in blocks {
        for (sum, word) in sums.iter_mut().zip(block.as_chunks::<8>().0) {
            *sum = (*sum ^ u64::from_le_bytes(*word)).wrapping_mul(STEP);
        }
    }
    let rest = rest.iter().map(|byte| u64::from(*byte));
    sums.into_iter().chain(rest).fold(bytes.len() as u64, |sum, word| {
        let mixed = (sum ^ word).wrapping_mul(STEP);
        mixed ^ mixed >> 29
    })
}
