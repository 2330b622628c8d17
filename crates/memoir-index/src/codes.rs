//! One-bit codes of vectors, and cosine estimates computed from them (RaBitQ).
//!
//! A unit vector `v` is rotated and reduced to the signs of its components. Let `s` be the vector of these signs,
//! scaled to unit length. The dot product of a rotated query with `s`, divided by that of the rotated `v` with `s`, is
//! an unbiased estimate of the cosine. The reciprocal of the divisor is stored as the row's factor. Query components
//! are quantized to four bits, which reduces the dot product to counting bits.

use std::ops::Range;

use crate::{
    BATCH_ROWS,
    kernel::{BLOCK, LinearScale, PLANES, PlaneWord, Products, Work, estimate, weigh},
    rotation::Rotation,
};

/// Returns how far an estimate may fall below the true cosine, with rare exceptions (about one in a few hundred).
///
/// Only the part of the query orthogonal to the vector is estimated, so the error shrinks as the cosine grows. The
/// constant was measured; see `docs/recall.md`.
#[expect(clippy::cast_precision_loss, reason = "the number of dimensions is small")]
pub fn error_margin(cosine: f64, dimensions: usize) -> f64 {
    2.2 * ((1.0 - cosine * cosine).max(0.0) / dimensions.max(1) as f64).sqrt()
}

/// The codes of many vectors with the same number of dimensions.
#[derive(Debug, Clone)]
pub struct Codes {
    dimensions: usize,
    rotation: Rotation,
    /// Blocks of eight rows, as described in `kernel.rs`. The last block is padded with zeros.
    words: Vec<u64>,
    /// One factor per row, in blocks of the same size. The product of query and signs is multiplied by it.
    factors: Vec<Products>,
    rows: usize,
}

/// A query vector prepared for estimating cosines with codes.
#[derive(Debug, Clone)]
pub struct Query {
    planes: Vec<PlaneWord>,
    line: LinearScale,
}

impl Codes {
    /// Creates an empty collection of codes for vectors with `dimensions` dimensions.
    pub fn new(dimensions: usize) -> Self {
        Self {
            dimensions,
            rotation: Rotation::new(dimensions),
            words: Vec::new(),
            factors: Vec::new(),
            rows: 0,
        }
    }

    /// Returns the number of dimensions of the vectors.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    pub(crate) fn words_per_row(&self) -> usize {
        self.dimensions.div_ceil(64)
    }

    /// Makes room for more rows.
    pub fn reserve(&mut self, rows: usize) {
        self.words.reserve(rows * self.words_per_row());
        self.factors.reserve(rows / BLOCK);
    }

    /// Appends the code of a unit vector.
    ///
    /// # Panics
    ///
    /// Panics if the vector has a different number of dimensions.
    pub fn push(&mut self, vector: &[f32]) {
        assert_eq!(vector.len(), self.dimensions, "wrong number of dimensions");
        let mut rotated = vector.to_vec();
        self.rotation.apply(&mut rotated);
        let bits: Vec<u64> = rotated
            .chunks(64)
            .map(|chunk| {
                chunk.iter().enumerate().fold(0, |word, (bit, value)| word | u64::from(*value > 0.0) << bit)
            })
            .collect();
        // The dot product of a vector with its own signs is the sum of its absolute values.
        let own_product = rotated.iter().map(|value| value.abs()).sum::<f32>() / self.root();
        self.push_row(&bits, if own_product > 0.0 { 1.0 / own_product } else { 0.0 });
    }

    fn push_row(&mut self, bits: &[u64], factor: f32) {
        let (row, width) = (self.len(), self.words_per_row());
        if row.is_multiple_of(BLOCK) {
            self.words.resize(self.words.len() + width * BLOCK, 0);
        }
        let block = row / BLOCK * width * BLOCK;
        for (index, word) in bits.iter().enumerate() {
            self.words[block + index * BLOCK + row % BLOCK] = *word;
        }
        self.push_factor(factor);
    }

    fn push_factor(&mut self, factor: f32) {
        if self.rows.is_multiple_of(BLOCK) {
            self.factors.push(Products::default());
        }
        self.factors[self.rows / BLOCK][self.rows % BLOCK] = factor;
        self.rows += 1;
    }

    /// Returns the bits of one row.
    pub(crate) fn row(&self, row: usize) -> impl Iterator<Item = u64> {
        let block = row / BLOCK * self.words_per_row() * BLOCK;
        (0..self.words_per_row()).map(move |index| self.words[block + index * BLOCK + row % BLOCK])
    }

    pub(crate) fn factor(&self, row: usize) -> f32 {
        self.factors[row / BLOCK][row % BLOCK]
    }

    /// Appends `rows` to `bytes` in the format that [`Codes::import`] reads.
    pub fn export(&self, rows: Range<usize>, bytes: &mut Vec<u8>) {
        let mut exported = Self::new(0);
        exported.dimensions = self.dimensions;
        rows.for_each(|row| exported.push_row(&self.row(row).collect::<Vec<_>>(), self.factor(row)));
        bytes.extend(exported.words.iter().flat_map(|word| word.to_le_bytes()));
        let factors = &exported.factors.as_flattened()[..exported.rows];
        bytes.extend(factors.iter().flat_map(|factor| factor.to_le_bytes()));
    }

    /// Appends exported rows. Returns `false` if `bytes` does not have the length of `rows` rows.
    pub fn import(&mut self, bytes: &[u8], rows: usize) -> bool {
        let length = 8 * self.words_per_row() * rows.next_multiple_of(BLOCK);
        if bytes.len() != length + 4 * rows {
            return false;
        }
        if self.len().is_multiple_of(BLOCK) {
            let (words, factors) = bytes.split_at(length);
            self.words.extend(words.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)));
            let factors = factors.as_chunks::<4>().0.iter();
            factors.for_each(|factor| self.push_factor(f32::from_le_bytes(*factor)));
        } else {
            let mut aligned = Self::new(0);
            aligned.dimensions = self.dimensions;
            aligned.import(bytes, rows);
            (0..rows)
                .for_each(|row| self.push_row(&aligned.row(row).collect::<Vec<_>>(), aligned.factor(row)));
        }
        true
    }

    /// Prepares a query vector.
    ///
    /// # Panics
    ///
    /// Panics if the vector has a different number of dimensions.
    pub fn query(&self, vector: &[f32]) -> Query {
        assert_eq!(vector.len(), self.dimensions, "wrong number of dimensions");
        let mut rotated = vector.to_vec();
        self.rotation.apply(&mut rotated);
        let largest = rotated.iter().fold(f32::MIN_POSITIVE, |largest, value| largest.max(value.abs()));
        let step = largest / 7.0;
        let mut planes = vec![PlaneWord::default(); self.words_per_row()];
        let mut total = 0.0;
        for (index, value) in rotated.iter().enumerate() {
            let rounded = (value / step).round();
            total += rounded;
            #[expect(clippy::cast_possible_truncation, reason = "the value is between -7 and 7")]
            let number = rounded as i8;
            for (plane, word) in planes[index / 64].iter_mut().enumerate() {
                *word |= u64::from((number >> plane) & 1 == 1) << (index % 64);
            }
        }
        // Sum of components where bits are set minus the sum where they are not = twice the former minus the total.
        let scale = step / self.root();
        let line = LinearScale { scale: 2.0 * scale, constant: -total * scale };
        Query { planes, line }
    }

    #[expect(clippy::cast_precision_loss, reason = "the number of dimensions is small")]
    fn root(&self) -> f32 {
        (self.dimensions.max(1) as f32).sqrt()
    }

    /// Returns the estimated cosine between the query and a row.
    pub fn estimate_row(&self, query: &Query, row: u32) -> f32 {
        let row = row as usize;
        query.estimate(self.row(row), self.factor(row))
    }

    /// Writes the estimates of at most [`BATCH_ROWS`] rows, which must start at a block boundary. Returns a bit mask of
    /// the rows whose estimate exceeds `threshold`, with the first row in the lowest bit.
    #[inline]
    pub(crate) fn estimate(
        &self,
        query: &Query,
        rows: Range<usize>,
        threshold: f32,
        estimates: &mut [Products],
    ) -> u64 {
        let width = self.words_per_row() * BLOCK;
        let blocks = rows.start / BLOCK..rows.end.div_ceil(BLOCK);
        let words = &self.words[blocks.start * width..blocks.end * width];
        let factors = &self.factors[blocks];
        let work = Work { query: &query.planes, line: query.line, words, factors, threshold };
        let above = estimate(work, estimates);
        above & (u64::MAX >> (BATCH_ROWS - rows.len()))
    }
}

impl Query {
    /// Returns the estimated cosine with a row, given its bits and factor.
    #[inline]
    pub(crate) fn estimate(&self, bits: impl Iterator<Item = u64>, factor: f32) -> f32 {
        let mut counts = [0; PLANES];
        for (bits, planes) in bits.zip(&self.planes) {
            for (count, plane) in counts.iter_mut().zip(planes) {
                *count += (bits & plane).count_ones().cast_signed();
            }
        }
        self.line.product(weigh(counts)) * factor
    }
}
