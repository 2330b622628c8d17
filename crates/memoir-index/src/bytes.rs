//! Vectors quantized to 8 bits per dimension, precise enough to build a graph and to rescore candidates.

/// Vectors quantized to 8 bits per dimension, with one scale per vector.
#[derive(Debug, Clone)]
pub struct QuantizedVectors {
    dimensions: usize,
    values: Vec<i8>,
    scales: Vec<f32>,
}

impl QuantizedVectors {
    /// Creates an empty collection of vectors with `dimensions` dimensions.
    pub fn new(dimensions: usize) -> Self {
        Self { dimensions, values: Vec::new(), scales: Vec::new() }
    }

    /// Returns the number of vectors.
    pub fn len(&self) -> usize {
        self.scales.len()
    }

    /// Returns whether there are no vectors.
    pub fn is_empty(&self) -> bool {
        self.scales.is_empty()
    }

    /// Quantizes and appends a vector.
    ///
    /// # Panics
    ///
    /// Panics if the vector has a different number of dimensions.
    pub fn push(&mut self, vector: &[f32]) {
        assert_eq!(vector.len(), self.dimensions, "wrong number of dimensions");
        let largest = vector.iter().fold(f32::MIN_POSITIVE, |largest, value| largest.max(value.abs()));
        let scale = largest / 127.0;
        #[expect(clippy::cast_possible_truncation, reason = "the value is between -127 and 127")]
        self.values.extend(vector.iter().map(|value| (value / scale).round() as i8));
        self.scales.push(scale);
    }

    fn row(&self, row: usize) -> &[i8] {
        &self.values[row * self.dimensions..(row + 1) * self.dimensions]
    }

    /// Returns the cosine between `vector` and a row, accurate to about three digits.
    pub fn similarity_to(&self, vector: &[f32], row: u32) -> f32 {
        let row = row as usize;
        dot(self.row(row), vector) * self.scales[row]
    }

    /// Returns the approximate cosine between two rows.
    pub(crate) fn similarity(&self, a: u32, b: u32) -> f32 {
        let (a, b) = (a as usize, b as usize);
        let sum: i32 =
            self.row(a).iter().zip(self.row(b)).map(|(a, b)| i32::from(i16::from(*a) * i16::from(*b))).sum();
        #[expect(clippy::cast_precision_loss, reason = "a sum of 8-bit products is small enough")]
        let sum = sum as f32;
        sum * self.scales[a] * self.scales[b]
    }
}

/// Number of independent partial sums. With a single sum, every addition would wait for the previous one.
const LANES: usize = 16;

/// Returns the dot product of two vectors.
#[inline]
pub fn dot<A: Copy + Into<f32>>(a: &[A], b: &[f32]) -> f32 {
    let (chunks, rest) = a.as_chunks::<LANES>();
    let (chunks_b, rest_b) = b.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (a, b) in chunks.iter().zip(chunks_b) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += (*a).into() * b;
        }
    }
    let rest: f32 = rest.iter().zip(rest_b).map(|(a, b)| (*a).into() * b).sum();
    sums.iter().sum::<f32>() + rest
}
