//! A fixed pseudo-random rotation.
//!
//! A single bit per component is most informative if all components of a vector have about the same magnitude. Those of
//! an embedding do not, but after a rotation that mixes them they do, and angles are preserved. The rotation alternates
//! random sign flips with Walsh-Hadamard transforms over the first and last power-of-two span of the components.

/// Number of rounds of sign flips and transforms, enough to mix every component with every other.
const ROUNDS: usize = 4;

/// A rotation of vectors with a fixed number of dimensions.
#[derive(Debug, Clone)]
pub(crate) struct Rotation {
    /// One sign per round and component.
    signs: Vec<Vec<f32>>,
    /// Largest power of two that is not greater than the number of dimensions.
    span: usize,
}

impl Rotation {
    /// Returns the rotation for `dimensions` dimensions, which is always the same.
    pub(crate) fn new(dimensions: usize) -> Self {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64 ^ dimensions as u64;
        let mut sign = || if next(&mut state) >> 63 == 0 { 1.0 } else { -1.0 };
        let signs = (0..ROUNDS).map(|_| (0..dimensions).map(|_| sign()).collect()).collect();
        let span = if dimensions == 0 { 0 } else { 1 << dimensions.ilog2() };
        Self { signs, span }
    }

    /// Rotates `vector` in place.
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

/// Number of values whose first steps are done together, because shorter loops are slow.
const CHUNK: usize = 8;

/// Applies the Walsh-Hadamard transform, scaled to preserve lengths.
fn transform(values: &mut [f32]) {
    let (chunks, rest) = values.as_chunks_mut::<CHUNK>();
    chunks.iter_mut().for_each(transform_chunk);
    // The length is a power of two, so what remains is everything.
    let mut half = if rest.is_empty() { CHUNK } else { 1 };
    while half < values.len() {
        for pair in values.chunks_exact_mut(2 * half) {
            let (low, high) = pair.split_at_mut(half);
            for (low, high) in low.iter_mut().zip(high) {
                (*low, *high) = (*low + *high, *low - *high);
            }
        }
        half *= 2;
    }
    #[expect(clippy::cast_precision_loss, reason = "the number of dimensions is small")]
    let scale = 1.0 / (values.len().max(1) as f32).sqrt();
    values.iter_mut().for_each(|value| *value *= scale);
}

/// Does the steps with a distance of one, two and four.
#[inline]
fn transform_chunk(values: &mut [f32; CHUNK]) {
    let [a, b, c, d, e, f, g, h] = *values;
    let [a, b, c, d, e, f, g, h] = [a + b, a - b, c + d, c - d, e + f, e - f, g + h, g - h];
    let [a, b, c, d, e, f, g, h] = [a + c, b + d, a - c, b - d, e + g, f + h, e - g, f - h];
    *values = [a + e, b + f, c + g, d + h, a - e, b - f, c - g, d - h];
}

/// Returns the next SplitMix64 number, which is random enough for signs and levels and the same on every platform.
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
    fn the_transform_adds_and_subtracts_at_every_distance() {
        for length in [1usize, 2, 4, 8, 64] {
            let mut values: Vec<f32> = (0..length).map(|index| index as f32 - 3.5).collect();
            let mut expected = values.clone();
            for distance in (0..length.ilog2()).map(|step| 1 << step) {
                expected = (0..length)
                    .map(|index| match index & distance {
                        0 => expected[index] + expected[index + distance],
                        _ => expected[index - distance] - expected[index],
                    })
                    .collect();
            }
            let scale = 1.0 / (length as f32).sqrt();
            expected.iter_mut().for_each(|value| *value *= scale);
            transform(&mut values);
            assert_eq!(values, expected, "{length}");
        }
    }

    #[test]
    fn rotation_preserves_lengths_and_angles() {
        for dimensions in [1, 2, 3, 100, 384, 1536] {
            let rotation = Rotation::new(dimensions);
            let mut state = 7;
            #[expect(
                clippy::cast_precision_loss,
                reason = "the precision of a random number does not matter"
            )]
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
