//! Nearest vectors, by cosine.
//!
//! Of every vector one bit per dimension is kept in memory ([`Codes`]): a million vectors of 384 dimensions take
//! 52 MB. From the bits and a query the cosine is estimated, closely enough that the nearest are among the
//! first few hundred by estimate; whoever holds the vectors themselves then looks at those exactly, as far as [`doubt`] goes.
//!
//! There are two ways to find the rows with the highest estimates, behind one trait ([`VectorIndex`]): [`Scan`] looks
//! at all of them, needs nothing built and serves a person's whole life of talk; [`Graph`] (HNSW) looks at few,
//! and is for more than that. This crate knows neither files nor databases.

use std::ops::Range;

mod bytes;
mod codes;
mod graph;
mod kernel;
mod rotation;
mod scan;
mod top;

pub use bytes::{Bytes, dot};
pub use codes::{Codes, Query, doubt};
pub use graph::{Graph, GraphError, checksum};
pub use scan::Scan;

/// So many rows stand together in a search.
pub const TOGETHER: usize = 64;

/// A row and its estimated cosine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// The row, in the order in which vectors were pushed.
    pub row: u32,
    /// How near it seems to be.
    pub estimate: f32,
}

/// Which rows may be found. It is asked during the search, never afterwards: what it refuses takes no one's place.
pub trait Keep: Sync {
    /// Whether a row may be found.
    fn keeps(&self, row: u32) -> bool;

    /// Whether all of some rows may be found, or none; `None` when it is not known without asking about each. Rows are
    /// asked about [`TOGETHER`] at a time.
    fn keeps_all(&self, rows: Range<u32>) -> Option<bool> {
        let _ = rows;
        None
    }
}

impl<F: Fn(u32) -> bool + Sync> Keep for F {
    #[inline]
    fn keeps(&self, row: u32) -> bool {
        self(row)
    }
}

/// A way to find the nearest rows.
pub trait VectorIndex: Send + Sync {
    /// The `limit` rows with the highest estimates among those that `keep` lets through, best first.
    fn nearest(&self, codes: &Codes, query: &Query, keep: Option<&dyn Keep>, limit: usize) -> Vec<Candidate>;
}
