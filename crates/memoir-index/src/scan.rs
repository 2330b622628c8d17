//! An exhaustive scan over all codes.

use std::{ops::Range, thread};

use crate::{
    BATCH_ROWS, Candidate, Codes, Query, RowFilter, VectorIndex,
    kernel::{BLOCK, Products},
    top::Top,
};

/// Minimum number of rows worth an additional thread.
const ROWS_PER_THREAD: usize = 1 << 16;

/// Number of rows sampled to estimate how selective a filter is.
const SAMPLE: usize = 256;

/// The exhaustive index. It needs only the codes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Scan;

impl VectorIndex for Scan {
    fn nearest(
        &self,
        codes: &Codes,
        query: &Query,
        filter: Option<&dyn RowFilter>,
        limit: usize,
    ) -> Vec<Candidate> {
        nearest_within(codes, query, filter, limit, 0..codes.len())
    }
}

/// Returns the nearest rows within a range, best first.
pub(crate) fn nearest_within(
    codes: &Codes,
    query: &Query,
    filter: Option<&dyn RowFilter>,
    limit: usize,
    rows: Range<usize>,
) -> Vec<Candidate> {
    let threads = thread::available_parallelism()
        .map_or(1, usize::from)
        .min(rows.len().div_ceil(ROWS_PER_THREAD))
        .max(1);
    let part_size = rows.len().div_ceil(threads).max(1).next_multiple_of(BATCH_ROWS);
    let scan_part = |rows| scan(codes, query, filter, limit, rows);
    let mut parts = rows.clone().step_by(part_size).map(|start| start..(start + part_size).min(rows.end));
    thread::scope(|scope| {
        let first = parts.next();
        let others: Vec<_> = parts.map(|rows| scope.spawn(move || scan_part(rows))).collect();
        let best = first.map_or_else(|| Top::new(limit), scan_part);
        others.into_iter().filter_map(|other| other.join().ok()).fold(best, Top::merge).into_sorted()
    })
}

fn scan(
    codes: &Codes,
    query: &Query,
    filter: Option<&dyn RowFilter>,
    limit: usize,
    rows: Range<usize>,
) -> Top {
    let mut top = Top::new(limit);
    let mut estimates = [Products::default(); BATCH_ROWS / BLOCK];
    for start in (rows.start / BATCH_ROWS * BATCH_ROWS..rows.end).step_by(BATCH_ROWS) {
        let end = (start + BATCH_ROWS).min(rows.end);
        let verdict =
            filter.map_or(Some(true), |filter| filter.accepts_range(row_number(start)..row_number(end)));
        if verdict == Some(false) {
            continue;
        }
        let mut above = codes.estimate(query, start..end, top.threshold, &mut estimates);
        while above != 0 {
            let row = start + above.trailing_zeros() as usize;
            above &= above - 1;
            let estimate = estimates.as_flattened()[row - start];
            // Apply the filter last, and only to rows above the threshold: it costs more than counting bits.
            let accepts = || verdict.is_some() || filter.is_none_or(|filter| filter.accepts(row_number(row)));
            if estimate > top.threshold && row >= rows.start && accepts() {
                top.push(row, estimate);
            }
        }
    }
    top
}

/// Estimates the fraction of rows that a filter accepts, from a sample.
pub(crate) fn estimate_acceptance(filter: &dyn RowFilter, rows: Range<usize>) -> f32 {
    let (mut sampled, mut accepted) = (0.0_f32, 0.0);
    for row in rows.clone().step_by((rows.len() / SAMPLE).max(1)) {
        sampled += 1.0;
        accepted += f32::from(filter.accepts(row_number(row)));
    }
    accepted / sampled.max(1.0)
}

/// Converts a row index to the public row number. There are always fewer than `u32::MAX` rows.
fn row_number(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX)
}
