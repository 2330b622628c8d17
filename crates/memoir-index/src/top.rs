//! A collector of the best candidates.

use crate::Candidate;

/// Collects the best rows. It buffers more rows than the limit and discards the surplus from time to time.
pub(crate) struct Top {
    limit: usize,
    /// Lower bound that a new row must exceed to be among the best.
    pub(crate) threshold: f32,
    rows: Vec<Candidate>,
}

impl Top {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, threshold: f32::NEG_INFINITY, rows: Vec::with_capacity(2 * limit + 64) }
    }

    pub(crate) fn push(&mut self, row: usize, estimate: f32) {
        let row = u32::try_from(row).unwrap_or(u32::MAX);
        self.rows.push(Candidate { row, estimate });
        if self.rows.len() >= 2 * self.limit + 64 {
            self.discard_surplus();
        }
    }

    fn discard_surplus(&mut self) {
        if self.rows.len() > self.limit {
            if self.limit == 0 {
                self.rows.clear();
                return;
            }
            self.rows.select_nth_unstable_by(self.limit - 1, better);
            self.rows.truncate(self.limit);
            self.threshold = self.rows[self.limit - 1].estimate;
        }
    }

    pub(crate) fn merge(mut self, other: Self) -> Self {
        self.rows.extend(other.rows);
        self
    }

    /// Returns the best rows, best first.
    pub(crate) fn into_sorted(mut self) -> Vec<Candidate> {
        self.discard_surplus();
        self.rows.sort_unstable_by(better);
        self.rows
    }
}

/// Orders candidates by descending estimate, newer rows first among equals.
pub(crate) fn better(a: &Candidate, b: &Candidate) -> std::cmp::Ordering {
    b.estimate.total_cmp(&a.estimate).then(b.row.cmp(&a.row))
}
