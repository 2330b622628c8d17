//! Building a graph from vectors, on all cores.

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
use crate::{Bytes, Candidate, Codes, rotation::next, top::better};

/// How many rows are held in view while a row's neighbours are looked for.
const VIEW: usize = 128;

/// Links of one row, a list for each of its levels, the lowest first.
type Levels = Vec<Vec<u32>>;

struct Builder<'a> {
    vectors: &'a Bytes,
    /// One lock per row: threads meet on few of them, and hold them for as long as it takes to copy a list.
    links: Vec<Mutex<Levels>>,
    /// Where a search begins. Held while a row that rises above it is added.
    entry: Mutex<u32>,
}

impl Graph {
    /// A graph over all rows of `codes`, whose vectors are `vectors`; nothing when `stop` was raised meanwhile.
    ///
    /// # Panics
    /// When there are not as many vectors as codes.
    pub fn build(codes: &Codes, vectors: &Bytes, stop: &AtomicBool) -> Option<Self> {
        assert_eq!(codes.len(), vectors.len(), "a vector for every code");
        let links = (0..vectors.len()).map(|row| Mutex::new(vec![Vec::new(); level(row) + 1])).collect();
        let builder = Builder { vectors, links, entry: Mutex::new(0) };
        let upcoming = AtomicUsize::new(1);
        let threads = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    let mut seen = vec![0_u32; vectors.len()];
                    loop {
                        let row = upcoming.fetch_add(1, Ordering::Relaxed);
                        if row >= vectors.len() || stop.load(Ordering::Relaxed) {
                            break;
                        }
                        builder.insert(row, &mut seen);
                    }
                });
            }
        });
        (!stop.load(Ordering::Relaxed)).then(|| builder.finish(codes))
    }

    /// The same links over other codes of the same rows.
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

    fn near(&self, row: u32, other: u32) -> Candidate {
        Candidate { row: other, estimate: self.vectors.similarity(row, other) }
    }

    fn insert(&self, row: usize, seen: &mut [u32]) {
        let row = u32::try_from(row).unwrap_or(NONE);
        let own_top = level(row as usize);
        let mut guard = Some(lock(&self.entry));
        let entry = guard.as_deref().copied().unwrap_or(0);
        let top = level(entry as usize);
        if own_top <= top {
            guard = None;
        }
        let mut start = self.near(row, entry);
        for level in (own_top + 1..=top).rev() {
            start = self.climb(row, start, level);
        }
        for level in (0..=own_top.min(top)).rev() {
            let found = self.around(row, start, level, seen);
            start = found.first().copied().unwrap_or(start);
            let chosen = self.choose(&found, LINKS);
            self.levels(row)[level] = chosen.iter().map(|candidate| candidate.row).collect();
            for candidate in chosen {
                self.link(candidate.row, row, level);
            }
        }
        if let Some(mut entry) = guard {
            *entry = row;
        }
    }

    /// Steps towards `row` on one level as long as it gets nearer.
    fn climb(&self, row: u32, mut best: Candidate, level: usize) -> Candidate {
        loop {
            let links = self.levels(best.row)[level].clone();
            let next = links.into_iter().map(|other| self.near(row, other));
            match next.max_by(|a, b| a.estimate.total_cmp(&b.estimate)) {
                Some(next) if next.estimate > best.estimate => best = next,
                _ => return best,
            }
        }
    }

    /// The rows nearest to `row` around `start` on one level, best first.
    fn around(&self, row: u32, start: Candidate, level: usize, seen: &mut [u32]) -> Vec<Candidate> {
        // Every row and level has a mark of its own, so that the list need not be wiped in between. Zero is none.
        let mark = row.wrapping_mul(32).wrapping_add(u32::try_from(level).unwrap_or(31)) | 1 << 31;
        seen[start.row as usize] = mark;
        let mut open = BinaryHeap::from([Nearer(start)]);
        let mut best = BinaryHeap::from([Reverse(Nearer(start))]);
        while let Some(Nearer(current)) = open.pop() {
            let worst = best.peek().map_or(f32::NEG_INFINITY, |Reverse(worst)| worst.0.estimate);
            if best.len() >= VIEW && current.estimate < worst {
                break;
            }
            let links = self.levels(current.row)[level].clone();
            for other in links {
                if mem::replace(&mut seen[other as usize], mark) == mark {
                    continue;
                }
                let candidate = self.near(row, other);
                let worst = best.peek().map_or(f32::NEG_INFINITY, |Reverse(worst)| worst.0.estimate);
                if best.len() < VIEW || candidate.estimate > worst {
                    open.push(Nearer(candidate));
                    best.push(Reverse(Nearer(candidate)));
                    if best.len() > VIEW {
                        best.pop();
                    }
                }
            }
        }
        let mut best: Vec<Candidate> = best.into_iter().map(|Reverse(Nearer(found))| found).collect();
        best.sort_unstable_by(better);
        best.retain(|found| found.row != row);
        best
    }

    /// Of rows around one, best first, those that are nearer to it than to one chosen before: links that lead in
    /// different directions.
    fn choose(&self, found: &[Candidate], most: usize) -> Vec<Candidate> {
        let mut chosen: Vec<Candidate> = Vec::with_capacity(most);
        for candidate in found {
            if chosen.len() == most {
                break;
            }
            let apart =
                |other: &Candidate| self.vectors.similarity(candidate.row, other.row) < candidate.estimate;
            if chosen.iter().all(apart) {
                chosen.push(*candidate);
            }
        }
        chosen
    }

    /// Adds a link from `from` to `to`, and thins its list out when it has become too long.
    fn link(&self, from: u32, to: u32, level: usize) {
        let most = if level == 0 { BASE_LINKS } else { LINKS };
        let mut levels = self.levels(from);
        let links = &mut levels[level];
        links.push(to);
        if links.len() > most {
            let mut found: Vec<Candidate> = links.iter().map(|other| self.near(from, *other)).collect();
            found.sort_unstable_by(better);
            *links = self.choose(&found, most).iter().map(|candidate| candidate.row).collect();
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

/// Locks a mutex even if another thread panicked while holding it: a panic ends the whole build, so that a list that is half
/// changed is never used.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The highest level of a row: one in sixteen rises to each further one. The same for the same row, always.
fn level(row: usize) -> usize {
    let mut state = row as u64;
    (next(&mut state).trailing_zeros() / LINKS.ilog2()).min(8) as usize
}
