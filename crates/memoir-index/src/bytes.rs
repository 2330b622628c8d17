//! Vectors in 8 bits a number: close enough to build a graph from, and to choose between candidates.

/// Vectors in 8 bits a number, with one scale each.
#[derive(Debug, Clone)]
pub struct Bytes {
    dimensions: usize,
    values: Vec<i8>,
    scales: Vec<f32>,
}

impl Bytes {
    /// None yet, of `dimensions` numbers.
    pub fn new(dimensions: usize) -> Self {
        Self { dimensions, values: Vec::new(), scales: Vec::new() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.scales.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.scales.is_empty()
    }

    /// Adds one.
    ///
    /// # Panics
    /// When it has another number of dimensions.
    pub fn push(&mut self, vector: &[f32]) {
        assert_eq!(vector.len(), self.dimensions, "a vector of another length");
        let largest = vector.iter().fold(f32::MIN_POSITIVE, |largest, value| largest.max(value.abs()));
        let scale = largest / 127.0;
        #[expect(clippy::cast_possible_truncation, reason = "between -127 and 127")]
        self.values.extend(vector.iter().map(|value| (value / scale).round() as i8));
        self.scales.push(scale);
    }

    fn row(&self, row: usize) -> &[i8] {
        &self.values[row * self.dimensions..(row + 1) * self.dimensions]
    }

    /// How near a row is to a vector: a cosine, to three digits.
    pub fn similarity_to(&self, vector: &[f32], row: u32) -> f32 {
        let row = row as usize;
        dot(self.row(row), vector) * self.scales[row]
    }

    /// How near two rows are: a cosine, nearly.
    pub(crate) fn similarity(&self, a: u32, b: u32) -> f32 {
        let (a, b) = (a as usize, b as usize);
        let sum: i32 =
            self.row(a).iter().zip(self.row(b)).map(|(a, b)| i32::from(i16::from(*a) * i16::from(*b))).sum();
        #[expect(clippy::cast_precision_loss, reason = "a sum of 8-bit products over a vector")]
        let sum = sum as f32;
        sum * self.scales[a] * self.scales[b]
    }
}

/// Sums that run side by side: one sum alone would wait for every addition.
const LANES: usize = 16;

/// The product of two vectors.
#[inline]
pub fn dot<A: Copy + Into<f32>>(a: &[A], b: &[f32]) -> f32 {
    let (many, rest) = a.as_chunks::<LANES>();
    let (many_b, rest_b) = b.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for (a, b) in many.iter().zip(many_b) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += (*a).into() * b;
        }
    }
    let rest: f32 = rest.iter().zip(rest_b).map(|(a, b)| (*a).into() * b).sum();
    sums.iter().sum::<f32>() + rest
}
