//! Looking at every code.

use std::{ops::Range, thread};

use crate::{
    Candidate, Codes, Keep, Query, TOGETHER, VectorIndex,
    kernel::{BLOCK, Products},
    top::Top,
};

/// Fewer rows than this are not worth a second thread.
const SHARE: usize = 1 << 16;

/// How many rows are tried to see what a filter keeps.
const SAMPLE: usize = 256;

/// The scan. It needs nothing but the codes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scan;

impl VectorIndex for Scan {
    fn nearest(&self, codes: &Codes, query: &Query, keep: Option<&dyn Keep>, limit: usize) -> Vec<Candidate> {
        nearest_within(codes, query, keep, limit, 0..codes.len())
    }
}

/// The same within a range of rows.
pub(crate) fn nearest_within(
    codes: &Codes,
    query: &Query,
    keep: Option<&dyn Keep>,
    limit: usize,
    rows: Range<usize>,
) -> Vec<Candidate> {
    let threads =
        thread::available_parallelism().map_or(1, usize::from).min(rows.len().div_ceil(SHARE)).max(1);
    let share = rows.len().div_ceil(threads).max(1).next_multiple_of(TOGETHER);
    let part = |rows| scan(codes, query, keep, limit, rows);
    let mut parts = rows.clone().step_by(share).map(|start| start..(start + share).min(rows.end));
    thread::scope(|scope| {
        let first = parts.next();
        let others: Vec<_> = parts.map(|rows| scope.spawn(move || part(rows))).collect();
        let best = first.map_or_else(|| Top::new(limit), part);
        others.into_iter().filter_map(|other| other.join().ok()).fold(best, Top::merge).into_sorted()
    })
}

fn scan(codes: &Codes, query: &Query, keep: Option<&dyn Keep>, limit: usize, rows: Range<usize>) -> Top {
    let mut top = Top::new(limit);
    let mut estimates = [Products::default(); TOGETHER / BLOCK];
    for start in (rows.start / TOGETHER * TOGETHER..rows.end).step_by(TOGETHER) {
        let end = (start + TOGETHER).min(rows.end);
        let verdict = keep.map_or(Some(true), |keep| keep.keeps_all(number(start)..number(end)));
        if verdict == Some(false) {
            continue;
        }
        let mut good = codes.estimate(query, start..end, top.threshold, &mut estimates);
        while good != 0 {
            let row = start + good.trailing_zeros() as usize;
            good &= good - 1;
            let estimate = estimates.as_flattened()[row - start];
            // A single row is asked about last, and only if it is good enough: counting bits is cheaper than asking.
            let keeps = || verdict.is_some() || keep.is_none_or(|keep| keep.keeps(number(row)));
            if estimate > top.threshold && row >= rows.start && keeps() {
                top.push(row, estimate);
            }
        }
    }
    top
}

/// What share of the rows a filter lets through, about.
pub(crate) fn share_kept(keep: &dyn Keep, rows: Range<usize>) -> f32 {
    let (mut tried, mut passed) = (0.0_f32, 0.0);
    for row in rows.clone().step_by((rows.len() / SAMPLE).max(1)) {
        tried += 1.0;
        passed += f32::from(keep.keeps(number(row)));
    }
    passed / tried.max(1.0)
}

/// A row as it is told. There are fewer than four thousand million.
fn number(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX)
}
