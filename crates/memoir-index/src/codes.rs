//! One bit per dimension, and what is estimated from it.
//!
//! A vector `v` of length one is rotated, and of each number only its sign is kept. Let `s` be the vector of these
//! signs, divided by its length. The product of a rotated query with `s`, divided by that of `v` itself with `s`,
//! estimates the cosine without bias (this is RaBitQ); the divisor is kept beside the bits. The query's numbers
//! are brought to four bits, so that the product is a matter of counting bits.

use std::ops::Range;

use crate::{
    TOGETHER,
    kernel::{BLOCK, LinearScale, PLANES, PlaneWord, Products, Work, estimate, weigh},
    rotation::Rotation,
};

/// How much an estimate may fall short of a cosine, but for one in a few hundred. What is estimated is the part of a query
/// that a vector does not share, so that it is less the nearer they are; the number is measured (see `docs/recall.md`).
#[expect(clippy::cast_precision_loss, reason = "a length")]
pub fn doubt(cosine: f64, dimensions: usize) -> f64 {
    2.2 * ((1.0 - cosine * cosine).max(0.0) / dimensions.max(1) as f64).sqrt()
}

/// The codes of many vectors of one length.
#[derive(Debug, Clone)]
pub struct Codes {
    dimensions: usize,
    rotation: Rotation,
    /// Block after block of eight rows; see `kernel.rs`. The last is filled up with zeros.
    words: Vec<u64>,
    /// One per row, in blocks like those: what the product of query and signs is multiplied with.
    factors: Vec<Products>,
    rows: usize,
}

/// A query, ready to meet codes of its length.
#[derive(Debug, Clone)]
pub struct Query {
    planes: Vec<PlaneWord>,
    line: LinearScale,
}

impl Codes {
    /// No codes yet, for vectors of `dimensions` numbers.
    pub fn new(dimensions: usize) -> Self {
        Self {
            dimensions,
            rotation: Rotation::new(dimensions),
            words: Vec::new(),
            factors: Vec::new(),
            rows: 0,
        }
    }

    /// The length of the vectors.
    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    pub(crate) fn words_per_row(&self) -> usize {
        self.dimensions.div_ceil(64)
    }

    /// Adds a vector of length one.
    ///
    /// # Panics
    /// When it has another number of dimensions.
    pub fn push(&mut self, vector: &[f32]) {
        assert_eq!(vector.len(), self.dimensions, "a vector of another length");
        let mut rotated = vector.to_vec();
        self.rotation.apply(&mut rotated);
        let bits: Vec<u64> = rotated
            .chunks(64)
            .map(|chunk| {
                chunk.iter().enumerate().fold(0, |word, (bit, value)| word | u64::from(*value > 0.0) << bit)
            })
            .collect();
        // The product of the vector with its own signs: the sum of its numbers without theirs.
        let own = rotated.iter().map(|value| value.abs()).sum::<f32>() / self.root();
        self.push_row(&bits, if own > 0.0 { 1.0 / own } else { 0.0 });
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

    /// The bits of one row.
    pub(crate) fn row(&self, row: usize) -> impl Iterator<Item = u64> {
        let block = row / BLOCK * self.words_per_row() * BLOCK;
        (0..self.words_per_row()).map(move |index| self.words[block + index * BLOCK + row % BLOCK])
    }

    pub(crate) fn factor(&self, row: usize) -> f32 {
        self.factors[row / BLOCK][row % BLOCK]
    }

    /// Rows as bytes, to be kept and given to [`Codes::import`].
    pub fn export(&self, rows: Range<usize>, bytes: &mut Vec<u8>) {
        let mut kept = Self::new(0);
        kept.dimensions = self.dimensions;
        rows.for_each(|row| kept.push_row(&self.row(row).collect::<Vec<_>>(), self.factor(row)));
        bytes.extend(kept.words.iter().flat_map(|word| word.to_le_bytes()));
        let factors = &kept.factors.as_flattened()[..kept.rows];
        bytes.extend(factors.iter().flat_map(|factor| factor.to_le_bytes()));
    }

    /// Adds rows that were exported; says whether the bytes were so many rows.
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
            let mut kept = Self::new(0);
            kept.dimensions = self.dimensions;
            kept.import(bytes, rows);
            (0..rows).for_each(|row| self.push_row(&kept.row(row).collect::<Vec<_>>(), kept.factor(row)));
        }
        true
    }

    /// Makes a vector ready for searching.
    ///
    /// # Panics
    /// When it has another number of dimensions.
    pub fn query(&self, vector: &[f32]) -> Query {
        assert_eq!(vector.len(), self.dimensions, "a vector of another length");
        let mut rotated = vector.to_vec();
        self.rotation.apply(&mut rotated);
        let largest = rotated.iter().fold(f32::MIN_POSITIVE, |largest, value| largest.max(value.abs()));
        let step = largest / 7.0;
        let mut planes = vec![PlaneWord::default(); self.words_per_row()];
        let mut total = 0.0;
        for (index, value) in rotated.iter().enumerate() {
            let rounded = (value / step).round();
            total += rounded;
            #[expect(clippy::cast_possible_truncation, reason = "between -7 and 7")]
            let number = rounded as i8;
            for (plane, word) in planes[index / 64].iter_mut().enumerate() {
                *word |= u64::from((number >> plane) & 1 == 1) << (index % 64);
            }
        }
        // The numbers where bits are set, less those where they are not: twice the former, less all.
        let scale = step / self.root();
        let line = LinearScale { scale: 2.0 * scale, constant: -total * scale };
        Query { planes, line }
    }

    #[expect(clippy::cast_precision_loss, reason = "a length")]
    fn root(&self) -> f32 {
        (self.dimensions.max(1) as f32).sqrt()
    }

    /// The estimate for one row.
    pub fn estimate_row(&self, query: &Query, row: u32) -> f32 {
        let row = row as usize;
        query.estimate(self.row(row), self.factor(row))
    }

    /// The estimates for at most [`TOGETHER`] rows, of which the first begins a block, and which of them exceed
    /// `threshold`: the first row in the lowest bit.
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
        above & (u64::MAX >> (TOGETHER - rows.len()))
    }
}

impl Query {
    /// The estimate for one row, given its bits.
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
