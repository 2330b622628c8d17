//! A vector in the database: numbers of 16 bits.

use half::{f16, slice::HalfFloatSliceExt as _};
use memoir_index::dot;

/// A vector as it is kept in the database.
pub(crate) fn bytes(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|value| f16::from_f32(*value).to_le_bytes()).collect()
}

/// A vector as it was kept.
pub(crate) fn numbers(bytes: &[u8]) -> Vec<f32> {
    let halves: Vec<f16> = bytes.as_chunks::<2>().0.iter().map(|pair| f16::from_le_bytes(*pair)).collect();
    let mut numbers = vec![0.0; halves.len()];
    // With the processor's own instruction, where it has one.
    halves.convert_to_f32_slice(&mut numbers);
    numbers
}

/// The cosine of two vectors of length one.
pub(crate) fn cosine(vector: &[f32], kept: &[u8]) -> f64 {
    f64::from(dot(&numbers(kept), vector))
}
