//! Looking at every code.

use std::{ops::Range, thread};

use crate::{Candidate, Codes, Keep, Query, VectorIndex, codes::STRIDE, kernel::BLOCK, top::Top};

/// Fewer rows than this are not worth a second thread.
const SHARE: usize = 1 << 16;

/// How many rows are tried to see what a filter keeps.
const SAMPLE: usize = 256;

/// The scan. It needs nothing but the codes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scan;

impl VectorIndex for Scan {
    fn nearest(&self, codes: &Codes, query: &Query, keep: Option<Keep<'_>>, limit: usize) -> Vec<Candidate> {
        nearest_within(codes, query, keep, limit, 0..codes.len())
    }
}

/// The same within a range of rows.
pub(crate) fn nearest_within(
    codes: &Codes,
    query: &Query,
    keep: Option<Keep<'_>>,
    limit: usize,
    rows: Range<usize>,
) -> Vec<Candidate> {
    let threads =
        thread::available_parallelism().map_or(1, usize::from).min(rows.len().div_ceil(SHARE)).max(1);
    let share = rows.len().div_ceil(threads).max(1).next_multiple_of(STRIDE * BLOCK);
    let part = |rows| scan(codes, query, keep, limit, rows);
    let mut parts = blocks(rows.start)
        .take_while(|start| *start < rows.end)
        .step_by(share / BLOCK)
        .map(|start| start.max(rows.start)..(start + share).min(rows.end));
    thread::scope(|scope| {
        let first = parts.next();
        let others: Vec<_> = parts.map(|rows| scope.spawn(move || part(rows))).collect();
        let best = first.map_or_else(|| Top::new(limit), part);
        others.into_iter().filter_map(|other| other.join().ok()).fold(best, Top::merge).into_sorted()
    })
}

/// Where blocks begin, from the one that holds `row` on.
fn blocks(row: usize) -> impl Iterator<Item = usize> {
    (row / BLOCK * BLOCK..).step_by(BLOCK)
}

/// A filter is asked last, and only about what is good enough: counting bits is cheaper than asking.
fn scan(codes: &Codes, query: &Query, keep: Option<Keep<'_>>, limit: usize, rows: Range<usize>) -> Top {
    let mut top = Top::new(limit);
    let first = rows.start / BLOCK * BLOCK;
    codes.estimate(query, first..rows.end, |start, estimates| match keep {
        Some(keep) => {
            offer(&mut top, start, estimates, |row| row >= rows.start && kept(keep, row));
        }
        None => offer(&mut top, start, estimates, |row| row >= rows.start),
    });
    top
}

/// Offers what is good enough. Mostly none of eight is: that is seen at one glance.
#[inline]
fn offer(top: &mut Top, start: usize, estimates: &[f32], allows: impl Fn(usize) -> bool) {
    for (block, estimates) in (start..).step_by(BLOCK).zip(estimates.chunks(BLOCK)) {
        if estimates.iter().fold(f32::NEG_INFINITY, |highest, estimate| highest.max(*estimate))
            > top.threshold
        {
            for (row, estimate) in (block..).zip(estimates) {
                if *estimate > top.threshold && allows(row) {
                    top.push(row, *estimate);
                }
            }
        }
    }
}

/// What share of the rows a filter lets through, about.
pub(crate) fn share_kept(keep: Keep<'_>, rows: Range<usize>) -> f32 {
    let (mut tried, mut passed) = (0.0_f32, 0.0);
    for row in rows.clone().step_by((rows.len() / SAMPLE).max(1)) {
        tried += 1.0;
        passed += f32::from(kept(keep, row));
    }
    passed / tried.max(1.0)
}

pub(crate) fn kept(keep: Keep<'_>, row: usize) -> bool {
    u32::try_from(row).is_ok_and(keep)
}
