//! The best so far.

use crate::Candidate;

/// The best rows seen, a few times as many as are wanted, thinned out now and then.
pub(crate) struct Top {
    limit: usize,
    /// What a row must exceed to be among the best.
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
            self.thin();
        }
    }

    fn thin(&mut self) {
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

    /// The best, best first.
    pub(crate) fn into_sorted(mut self) -> Vec<Candidate> {
        self.thin();
        self.rows.sort_unstable_by(better);
        self.rows
    }
}

/// Higher estimates first; newer rows first among equals.
pub(crate) fn better(a: &Candidate, b: &Candidate) -> std::cmp::Ordering {
    b.estimate.total_cmp(&a.estimate).then(b.row.cmp(&a.row))
}
