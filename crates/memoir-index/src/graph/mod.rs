//! A navigable graph (HNSW) over the codes, for collections too large to scan quickly.
//!
//! Several threads build the graph from 8-bit vectors (`build.rs`). It never changes afterwards: newer rows are
//! scanned, and a new graph is built once there are many of them. It holds the links between rows and a row-by-row copy
//! of their codes, so that each step of a search touches few cache lines. Only the links are saved to disk (`file.rs`),
//! so the file retains nothing of deleted vectors.

mod build;
mod file;

use std::{
    cmp::{Ordering, Reverse},
    collections::{BinaryHeap, HashMap},
};

use crate::{
    Candidate, Codes, Query, RowFilter, VectorIndex,
    scan::{Scan, estimate_acceptance, nearest_within},
    top::better,
};

pub use file::{GraphError, checksum};

/// Maximum number of links of a row on each upper level.
const LINKS: usize = 16;
/// Maximum number of links of a row on the lowest level.
const BASE_LINKS: usize = 2 * LINKS;

/// Minimum number of candidates tracked during a search (HNSW's `ef`).
const MIN_CANDIDATES: usize = 64;

/// Number of candidates tracked per requested result. More than one, because estimates are coarse.
const CANDIDATES_PER_RESULT: usize = 2;

/// Placeholder for a missing link.
const NONE: u32 = u32::MAX;

/// An HNSW graph over the first rows of a collection of codes.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    /// Row where every search starts.
    entry: u32,
    /// `BASE_LINKS` links for every row, padded with `NONE`.
    base: Vec<u32>,
    /// Links on the upper levels, lowest first, of the rows that have any.
    upper: HashMap<u32, Vec<Vec<u32>>>,
    /// Codes, row by row.
    bits: Vec<u64>,
    factors: Vec<f32>,
}

impl Graph {
    /// Returns the number of rows in the graph.
    pub fn len(&self) -> usize {
        self.base.len() / BASE_LINKS
    }

    /// Returns whether the graph has no rows.
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

    /// Descends the upper levels greedily and returns a row near the query.
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

    /// Returns the best rows around `start` that pass `filter`. Rows that fail it are traversed but not returned.
    fn search_around(
        &self,
        query: &Query,
        start: Candidate,
        filter: Option<&dyn RowFilter>,
        max_candidates: usize,
    ) -> Vec<Candidate> {
        let mut visited = vec![0_u64; self.len().div_ceil(64)];
        let mut is_first_visit = |row: u32| {
            let (word, bit) = (row as usize / 64, 1 << (row % 64));
            let is_new = visited[word] & bit == 0;
            visited[word] |= bit;
            is_new
        };
        is_first_visit(start.row);
        let mut open = BinaryHeap::from([Nearer(start)]);
        let mut best: BinaryHeap<Reverse<Nearer>> = BinaryHeap::new();
        let passes = |row: u32| filter.is_none_or(|filter| filter.accepts(row));
        if passes(start.row) {
            best.push(Reverse(Nearer(start)));
        }
        while let Some(Nearer(current)) = open.pop() {
            let is_full = best.len() >= max_candidates;
            if is_full && best.peek().is_some_and(|Reverse(worst)| current.estimate < worst.0.estimate) {
                break;
            }
            for row in self.base_links(current.row).filter(|row| is_first_visit(*row)).collect::<Vec<_>>() {
                let candidate = Candidate { row, estimate: self.estimate(query, row) };
                let worst = best.peek().map_or(f32::NEG_INFINITY, |Reverse(worst)| worst.0.estimate);
                if best.len() < max_candidates || candidate.estimate > worst {
                    open.push(Nearer(candidate));
                    if passes(row) {
                        best.push(Reverse(Nearer(candidate)));
                        if best.len() > max_candidates {
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
    fn nearest(
        &self,
        codes: &Codes,
        query: &Query,
        filter: Option<&dyn RowFilter>,
        limit: usize,
    ) -> Vec<Candidate> {
        // If the filter accepts few rows, they are far apart, and walking between them takes longer than a scan.
        let is_selective = filter.is_some_and(|filter| estimate_acceptance(filter, 0..codes.len()) < 0.25);
        if self.is_empty() || codes.len() < self.len() || is_selective {
            return Scan.nearest(codes, query, filter, limit);
        }
        let max_candidates = (CANDIDATES_PER_RESULT * limit).max(MIN_CANDIDATES);
        let mut candidates = self.search_around(query, self.descend(query), filter, max_candidates);
        candidates.extend(nearest_within(codes, query, filter, limit, self.len()..codes.len()));
        candidates.sort_unstable_by(better);
        candidates.truncate(limit);
        candidates
    }
}

/// A candidate ordered by its estimate; the nearest is the greatest.
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
