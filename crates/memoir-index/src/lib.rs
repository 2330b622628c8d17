//! In-memory search for the nearest vectors by cosine similarity.
//!
//! [`Codes`] holds one bit per dimension of every vector: a million vectors of 384 dimensions take 52 MB. The cosine
//! with a query is estimated from these bits, closely enough that the nearest vectors are among the first few hundred
//! estimates. The caller, which has the vectors themselves, then rescores those candidates exactly; [`error_margin`]
//! bounds how many candidates it has to rescore.
//!
//! Two indexes implement [`VectorIndex`]. [`Scan`] estimates every row, needs no preparation and is fast enough for one
//! person's lifetime of conversations. [`Graph`] (HNSW) visits few rows and is meant for larger collections. This crate
//! does not access files or databases.

use std::ops::Range;

mod bytes;
mod codes;
mod graph;
mod kernel;
mod rotation;
mod scan;
mod top;

pub use bytes::{QuantizedVectors, dot};
pub use codes::{Codes, Query, error_margin};
pub use graph::{Graph, GraphError, checksum};
pub use scan::Scan;

/// Number of rows that are estimated and filtered together.
pub const BATCH_ROWS: usize = 64;

/// A row and its estimated cosine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// Zero-based position in the order the vectors were pushed.
    pub row: u32,
    /// Cosine with the query, estimated from the row's code.
    pub estimate: f32,
}

/// A row filter. It is applied during the search, so rejected rows never use up the result limit.
pub trait RowFilter: Sync {
    /// Returns whether `row` may be a result.
    fn accepts(&self, row: u32) -> bool;

    /// Returns `Some(true)` if all of `rows` may be results, `Some(false)` if none may, and `None` if each row must be
    /// checked. A range has at most [`BATCH_ROWS`] rows.
    fn accepts_range(&self, rows: Range<u32>) -> Option<bool> {
        let _ = rows;
        None
    }
}

impl<F: Fn(u32) -> bool + Sync> RowFilter for F {
    #[inline]
    fn accepts(&self, row: u32) -> bool {
        self(row)
    }
}

/// An index that finds the rows nearest to a query.
pub trait VectorIndex: Send + Sync {
    /// Returns the `limit` rows with the highest estimates among those that pass `filter`, best first.
    fn nearest(
        &self,
        codes: &Codes,
        query: &Query,
        filter: Option<&dyn RowFilter>,
        limit: usize,
    ) -> Vec<Candidate>;
}
