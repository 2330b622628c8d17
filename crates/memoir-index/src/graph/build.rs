//! Building a graph from vectors on all cores.

use std::{
    cmp::Reverse,
    collections::{BinaryHeap, HashMap},
    mem,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use super::{BASE_LINKS, Graph, LINKS, NONE, Nearer};
use crate::{Candidate, Codes, QuantizedVectors, rotation::next, top::better};

/// Number of candidates tracked while searching for the neighbors of a new row (HNSW's `efConstruction`).
const MAX_CANDIDATES: usize = 128;

/// The links of one row, with one list per level, lowest first.
type Levels = Vec<Vec<u32>>;

struct Builder<'a> {
    vectors: &'a QuantizedVectors,
    /// One lock per row. Threads rarely contend for a row and hold its lock only while copying or changing a list.
    links: Vec<Mutex<Levels>>,
    /// Row where searches start. The lock is held while a row with a higher level is added.
    entry: Mutex<u32>,
}

impl Graph {
    /// Builds a graph over all rows of `codes`. `vectors` holds the vectors of the same rows. Returns `None` if `stop`
    /// was set before the build finished.
    ///
    /// # Panics
    ///
    /// Panics if the numbers of vectors and codes differ.
    pub fn build(codes: &Codes, vectors: &QuantizedVectors, stop: &AtomicBool) -> Option<Self> {
        assert_eq!(codes.len(), vectors.len(), "every code needs a vector");
        let links = (0..vectors.len()).map(|row| Mutex::new(vec![Vec::new(); level(row) + 1])).collect();
        let builder = Builder { vectors, links, entry: Mutex::new(0) };
        let next_row = AtomicUsize::new(1);
        let threads = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let mut visited = vec![0_u32; vectors.len()];
                    loop {
                        let row = next_row.fetch_add(1, Ordering::Relaxed);
                        if row >= vectors.len() || stop.load(Ordering::Relaxed) {
                            break;
                        }
                        builder.insert(row, &mut visited);
                    }
                });
            }
        });
        (!stop.load(Ordering::Relaxed)).then(|| builder.finish(codes))
    }

    /// Creates a graph from its links, copying the codes of its rows.
    pub(super) fn with_codes(entry: u32, base: Vec<u32>, upper: HashMap<u32, Levels>, codes: &Codes) -> Self {
        let rows = base.len() / BASE_LINKS;
        let bits = (0..rows).flat_map(|row| codes.row(row)).collect();
        let factors = (0..rows).map(|row| codes.factor(row)).collect();
        Self { entry, base, upper, bits, factors }
    }
}

impl Builder<'_> {
    fn levels(&self, row: u32) -> MutexGuard<'_, Levels> {
        lock(&self.links[row as usize])
    }

    fn candidate(&self, row: u32, other: u32) -> Candidate {
        Candidate { row: other, estimate: self.vectors.similarity(row, other) }
    }

    fn insert(&self, row: usize, visited: &mut [u32]) {
        let row = u32::try_from(row).unwrap_or(NONE);
        let own_top = level(row as usize);
        let mut guard = Some(lock(&self.entry));
        let entry = guard.as_deref().copied().unwrap_or(0);
        let top = level(entry as usize);
        if own_top <= top {
            guard = None;
        }
        let mut start = self.candidate(row, entry);
        for level in (own_top + 1..=top).rev() {
            start = self.climb(row, start, level);
        }
        for level in (0..=own_top.min(top)).rev() {
            let candidates = self.search_around(row, start, level, visited);
            start = candidates.first().copied().unwrap_or(start);
            let neighbors = self.select_neighbors(&candidates, LINKS);
            self.levels(row)[level] = neighbors.iter().map(|candidate| candidate.row).collect();
            for candidate in neighbors {
                self.link(candidate.row, row, level);
            }
        }
        if let Some(mut entry) = guard {
            *entry = row;
        }
    }

    /// Moves greedily towards `row` on one level and returns the nearest row reached.
    fn climb(&self, row: u32, mut best: Candidate, level: usize) -> Candidate {
        loop {
            let links = self.levels(best.row)[level].clone();
            let next = links.into_iter().map(|other| self.candidate(row, other));
            match next.max_by(|a, b| a.estimate.total_cmp(&b.estimate)) {
                Some(next) if next.estimate > best.estimate => best = next,
                _ => return best,
            }
        }
    }

    /// Returns the rows nearest to `row` around `start` on one level, best first.
    fn search_around(&self, row: u32, start: Candidate, level: usize, visited: &mut [u32]) -> Vec<Candidate> {
        // Each row and level uses its own nonzero mark, so `visited` need not be cleared between searches.
        let mark = row.wrapping_mul(32).wrapping_add(u32::try_from(level).unwrap_or(31)) | 1 << 31;
        visited[start.row as usize] = mark;
        let mut open = BinaryHeap::from([Nearer(start)]);
        let mut best = BinaryHeap::from([Reverse(Nearer(start))]);
        while let Some(Nearer(current)) = open.pop() {
            let worst = best.peek().map_or(f32::NEG_INFINITY, |Reverse(worst)| worst.0.estimate);
            if best.len() >= MAX_CANDIDATES && current.estimate < worst {
                break;
            }
            let links = self.levels(current.row)[level].clone();
            for other in links {
                if mem::replace(&mut visited[other as usize], mark) == mark {
                    continue;
                }
                let candidate = self.candidate(row, other);
                let worst = best.peek().map_or(f32::NEG_INFINITY, |Reverse(worst)| worst.0.estimate);
                if best.len() < MAX_CANDIDATES || candidate.estimate > worst {
                    open.push(Nearer(candidate));
                    best.push(Reverse(Nearer(candidate)));
                    if best.len() > MAX_CANDIDATES {
                        best.pop();
                    }
                }
            }
        }
        let mut best: Vec<Candidate> = best.into_iter().map(|Reverse(Nearer(candidate))| candidate).collect();
        best.sort_unstable_by(better);
        best.retain(|candidate| candidate.row != row);
        best
    }

    /// Selects up to `limit` of a row's candidates, which are sorted best first. A candidate that is nearer to a
    /// selected neighbor than to the row is skipped, so that links lead in different directions.
    fn select_neighbors(&self, candidates: &[Candidate], limit: usize) -> Vec<Candidate> {
        let mut neighbors: Vec<Candidate> = Vec::with_capacity(limit);
        for candidate in candidates {
            if neighbors.len() == limit {
                break;
            }
            let is_apart =
                |other: &Candidate| self.vectors.similarity(candidate.row, other.row) < candidate.estimate;
            if neighbors.iter().all(is_apart) {
                neighbors.push(*candidate);
            }
        }
        neighbors
    }

    /// Adds a link from `from` to `to`, and reselects the neighbors of `from` if it has too many links.
    fn link(&self, from: u32, to: u32, level: usize) {
        let limit = if level == 0 { BASE_LINKS } else { LINKS };
        let mut levels = self.levels(from);
        let links = &mut levels[level];
        links.push(to);
        if links.len() > limit {
            let mut candidates: Vec<Candidate> =
                links.iter().map(|other| self.candidate(from, *other)).collect();
            candidates.sort_unstable_by(better);
            *links =
                self.select_neighbors(&candidates, limit).iter().map(|candidate| candidate.row).collect();
        }
    }

    fn finish(self, codes: &Codes) -> Graph {
        let entry = *lock(&self.entry);
        let mut base = Vec::with_capacity(self.links.len() * BASE_LINKS);
        let mut upper = HashMap::new();
        for (row, levels) in (0..).zip(self.links) {
            let mut levels = mem::take(&mut *lock(&levels));
            let mut lowest = levels.remove(0);
            lowest.resize(BASE_LINKS, NONE);
            base.extend(lowest);
            if !levels.is_empty() {
                upper.insert(row, levels);
            }
        }
        Graph::with_codes(entry, base, upper, codes)
    }
}

/// Locks a mutex even if another thread panicked while holding it. A panic aborts the whole build, so a half-changed
/// list is never used.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the highest level of a row. One row in sixteen reaches each further level; the result depends only on `row`.
fn level(row: usize) -> usize {
    let mut state = row as u64;
    (next(&mut state).trailing_zeros() / LINKS.ilog2()).min(8) as usize
}
