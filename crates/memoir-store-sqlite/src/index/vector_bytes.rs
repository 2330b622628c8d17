//! Encodes vectors for the database, as 16-bit floating-point numbers.

use half::{f16, slice::HalfFloatSliceExt as _};
use memoir_index::dot;

pub(crate) fn encode_vector(vector: &[f32]) -> Vec<u8> {
    vector.iter().flat_map(|value| f16::from_f32(*value).to_le_bytes()).collect()
}

/// Decodes a vector. An incomplete number at the end is ignored.
pub(crate) fn decode_vector(bytes: &[u8]) -> Vec<f32> {
    let halves: Vec<f16> = bytes.as_chunks::<2>().0.iter().map(|pair| f16::from_le_bytes(*pair)).collect();
    let mut numbers = vec![0.0; halves.len()];
    // Uses the processor's conversion instruction if there is one.
    halves.convert_to_f32_slice(&mut numbers);
    numbers
}

/// Returns the cosine similarity of a vector and an encoded one, both normalized to length 1.
pub(crate) fn cosine(vector: &[f32], encoded: &[u8]) -> f64 {
    f64::from(dot(&decode_vector(encoded), vector))
}
