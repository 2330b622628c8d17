//! A navigable graph (HNSW) over the codes, for more vectors than a scan serves quickly.
//!
//! It is built from the vectors in 8 bits, by several threads (`build.rs`), and then never changes: rows that came
//! after it are scanned, and a new one is built when they have become many. It holds links between rows and a
//! copy of their codes, row by row, so that a step costs one cache line; searching walks along the estimates. Kept
//! on disk (`file.rs`) are the links alone: no vector outlives its deletion there.

mod build;
mod file;

use std::{
    cmp::{Ordering, Reverse},
    collections::{BinaryHeap, HashMap},
};

use crate::{
    Candidate, Codes, Keep, Query, VectorIndex,
    scan::{Scan, nearest_within, share_kept},
    top::better,
};

pub use file::{GraphError, checksum};

/// Links of a row on each level, and on the lowest.
const LINKS: usize = 16;
const BASE_LINKS: usize = 2 * LINKS;

/// How many rows are held in view while searching, at least.
const VIEW: usize = 64;

/// The estimates that lead the way are coarse: it is broader than what is wanted by this factor.
const BREADTH: usize = 2;

/// No row.
const NONE: u32 = u32::MAX;

/// A graph over the first rows of some codes.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    /// Where every search begins.
    entry: u32,
    /// `BASE_LINKS` for every row, filled up with `NONE`.
    base: Vec<u32>,
    /// Links on the levels above, from the first upwards, of the rows that have some.
    upper: HashMap<u32, Vec<Vec<u32>>>,
    /// The codes, row by row.
    bits: Vec<u64>,
    factors: Vec<f32>,
}

impl Graph {
    /// How many rows it covers.
    pub fn len(&self) -> usize {
        self.base.len() / BASE_LINKS
    }

    /// Whether it covers none.
    pub fn is_empty(&self) -> bool {
        self.base.is_empty()
    }

    fn base_links(&self, row: u32) -> impl Iterator<Item = u32> {
        let start = row as usize * BASE_LINKS;
        self.base[start..start + BASE_LINKS].iter().copied().take_while(|other| *other != NONE)
    }

    fn estimate(&self, query: &Query, row: u32) -> f32 {
        let width = self.bits.len() / self.factors.len().max(1);
        let start = row as usize * width;
        query.estimate(self.bits[start..start + width].iter().copied(), self.factors[row as usize])
    }

    /// Down the upper levels to a row that is near.
    fn descend(&self, query: &Query) -> Candidate {
        let mut best = Candidate { row: self.entry, estimate: self.estimate(query, self.entry) };
        let levels = self.upper.get(&self.entry).map_or(0, Vec::len);
        for level in (0..levels).rev() {
            loop {
                let links = self.upper.get(&best.row).and_then(|levels| levels.get(level));
                let next = links
                    .into_iter()
                    .flatten()
                    .map(|row| Candidate { row: *row, estimate: self.estimate(query, *row) })
                    .max_by(|a, b| a.estimate.total_cmp(&b.estimate));
                match next {
                    Some(next) if next.estimate > best.estimate => best = next,
                    _ => break,
                }
            }
        }
        best
    }

    /// The best rows around `start` that `keep` lets through; the others are walked through all the same.
    fn around(
        &self,
        query: &Query,
        start: Candidate,
        keep: Option<&dyn Keep>,
        view: usize,
    ) -> Vec<Candidate> {
        let mut seen = vec![0_u64; self.len().div_ceil(64)];
        let mut first_time = |row: u32| {
            let (word, bit) = (row as usize / 64, 1 << (row % 64));
            let new = seen[word] & bit == 0;
            seen[word] |= bit;
            new
        };
        first_time(start.row);
        let mut open = BinaryHeap::from([Nearer(start)]);
        let mut best: BinaryHeap<Reverse<Nearer>> = BinaryHeap::new();
        let passes = |row: u32| keep.is_none_or(|keep| keep.keeps(row));
        if passes(start.row) {
            best.push(Reverse(Nearer(start)));
        }
        while let Some(Nearer(current)) = open.pop() {
            let full = best.len() >= view;
            if full && best.peek().is_some_and(|Reverse(worst)| current.estimate < worst.0.estimate) {
                break;
            }
            for row in self.base_links(current.row).filter(|row| first_time(*row)).collect::<Vec<_>>() {
                let candidate = Candidate { row, estimate: self.estimate(query, row) };
                let worst = best.peek().map_or(f32::NEG_INFINITY, |Reverse(worst)| worst.0.estimate);
                if best.len() < view || candidate.estimate > worst {
                    open.push(Nearer(candidate));
                    if passes(row) {
                        best.push(Reverse(Nearer(candidate)));
                        if best.len() > view {
                            best.pop();
                        }
                    }
                }
            }
        }
        best.into_iter().map(|Reverse(Nearer(candidate))| candidate).collect()
    }
}

impl VectorIndex for Graph {
    fn nearest(&self, codes: &Codes, query: &Query, keep: Option<&dyn Keep>, limit: usize) -> Vec<Candidate> {
        // Few rows that may be found lie far apart, and a walk between them is longer than a scan past the others.
        let scattered = keep.is_some_and(|keep| share_kept(keep, 0..codes.len()) < 0.25);
        if self.is_empty() || codes.len() < self.len() || scattered {
            return Scan.nearest(codes, query, keep, limit);
        }
        let mut found = self.around(query, self.descend(query), keep, (BREADTH * limit).max(VIEW));
        found.extend(nearest_within(codes, query, keep, limit, self.len()..codes.len()));
        found.sort_unstable_by(better);
        found.truncate(limit);
        found
    }
}

/// A candidate, ordered by nearness.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Nearer(Candidate);

impl Eq for Nearer {}

impl Ord for Nearer {
    fn cmp(&self, other: &Self) -> Ordering {
        better(&other.0, &self.0)
    }
}

impl PartialOrd for Nearer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
