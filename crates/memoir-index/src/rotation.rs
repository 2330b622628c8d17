//! A fixed random rotation.
//!
//! One bit of a number says most when all numbers of a vector are of about the same size. An embedding's are
//! not; after a rotation that mixes all of them they are, and angles stay what they were. The rotation is made of
//! random signs and Walsh-Hadamard transforms over the first and over the last power of two of the numbers, in turns.

/// How often signs and transforms alternate: enough that every number has met every other.
const ROUNDS: usize = 4;

/// A rotation of vectors of one length.
#[derive(Debug, Clone)]
pub(crate) struct Rotation {
    /// One sign per number and round.
    signs: Vec<Vec<f32>>,
    /// The largest power of two that fits.
    span: usize,
}

impl Rotation {
    /// The rotation for `dimensions` numbers: always the same one.
    pub(crate) fn new(dimensions: usize) -> Self {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64 ^ dimensions as u64;
        let mut sign = || if next(&mut state) >> 63 == 0 { 1.0 } else { -1.0 };
        let signs = (0..ROUNDS).map(|_| (0..dimensions).map(|_| sign()).collect()).collect();
        let span = if dimensions == 0 { 0 } else { 1 << dimensions.ilog2() };
        Self { signs, span }
    }

    /// Turns `vector` in place.
    pub(crate) fn apply(&self, vector: &mut [f32]) {
        for (round, signs) in self.signs.iter().enumerate() {
            for (value, sign) in vector.iter_mut().zip(signs) {
                *value *= sign;
            }
            let start = if round % 2 == 0 { 0 } else { vector.len() - self.span };
            transform(&mut vector[start..start + self.span]);
        }
    }
}

/// The Walsh-Hadamard transform, scaled so that lengths stay the same.
fn transform(values: &mut [f32]) {
    let mut half = 1;
    while half < values.len() {
        for pair in values.chunks_exact_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            for (low, high) in low.iter_mut().zip(high) {
                (*low, *high) = (*low + *high, *low - *high);
            }
        }
        half *= 2;
    }
    #[expect(clippy::cast_precision_loss, reason = "a length")]
    let scale = 1.0 / (values.len().max(1) as f32).sqrt();
    values.iter_mut().for_each(|value| *value *= scale);
}

/// SplitMix64: random enough for signs and levels, and the same everywhere.
pub(crate) fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_angles_stay_the_same() {
        for dimensions in [1, 2, 3, 100, 384, 1536] {
            let rotation = Rotation::new(dimensions);
            let mut state = 7;
            #[expect(clippy::cast_precision_loss, reason = "a random number")]
            let mut random =
                || (0..dimensions).map(|_| (next(&mut state) >> 40) as f32 / 1e7 - 0.8).collect::<Vec<_>>();
            let (mut a, mut b) = (random(), random());
            let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
            let before = (dot(&a, &a), dot(&a, &b));
            rotation.apply(&mut a);
            rotation.apply(&mut b);
            let close = |a: f32, b: f32| (a - b).abs() < 1e-3 * before.0.max(1.0);
            assert!(close(dot(&a, &a), before.0) && close(dot(&a, &b), before.1), "{dimensions}");
        }
    }
}
