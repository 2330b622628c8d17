//! Quantizes the weights of a model to 8 bits, as the built-in ones are.

use half::{bf16, f16};
use safetensors::{Dtype, SafeTensors};

use crate::{
    error::AssetError,
    kernel::{PANEL, QUAD},
    linear::Linear,
    weights::{QuantizedRows, Weights},
};

/// Largest 8-bit number.
const MAX: f32 = 127.0;

/// Beginnings of the names of tensors. A model that was trained for another task has one.
const PREFIXES: [&str; 2] = ["", "bert."];

/// The tensors of a model, as floating-point numbers.
pub(super) struct FloatWeights<'a> {
    tensors: SafeTensors<'a>,
    dimensions: usize,
}

impl<'a> FloatWeights<'a> {
    pub(super) fn new(bytes: &'a [u8], dimensions: usize) -> Result<Self, AssetError> {
        let tensors = SafeTensors::deserialize(bytes).map_err(AssetError::Damaged)?;
        Ok(Self { tensors, dimensions })
    }
}

impl Weights for FloatWeights<'_> {
    fn words(&self) -> Result<QuantizedRows, AssetError> {
        let name = "embeddings.word_embeddings.weight";
        let weights = self.floats(name)?;
        if self.dimensions == 0 || !weights.len().is_multiple_of(self.dimensions) {
            return Err(AssetError::WrongShape { name: name.to_owned() });
        }
        let (values, scales) = quantize(&weights, self.dimensions);
        Ok(QuantizedRows { values: values.into(), scales })
    }

    fn positions(&self) -> Result<Vec<f32>, AssetError> {
        let mut positions = self.floats("embeddings.position_embeddings.weight")?;
        let types = self.floats("embeddings.token_type_embeddings.weight")?;
        let first = types.get(..self.dimensions);
        let first = first.ok_or_else(|| AssetError::WrongShape {
            name: "embeddings.token_type_embeddings.weight".into(),
        })?;
        for position in positions.chunks_exact_mut(self.dimensions) {
            position.iter_mut().zip(first).for_each(|(position, first)| *position += first);
        }
        Ok(positions)
    }

    fn linear(&self, name: &str, inputs: usize) -> Result<Linear, AssetError> {
        let weights = self.floats(&format!("{name}.weight"))?;
        if inputs == 0 || !weights.len().is_multiple_of(PANEL * inputs) || !inputs.is_multiple_of(QUAD) {
            return Err(AssetError::WrongShape { name: name.to_owned() });
        }
        let (values, scales) = quantize(&weights, inputs);
        let sum = |row: &[i8]| row.iter().map(|value| f32::from(*value)).sum();
        let sums = values.chunks_exact(inputs).map(sum).collect();
        let rows = QuantizedRows { values: pack(&values, inputs).into(), scales };
        Linear::new(name, rows, self.floats(&format!("{name}.bias"))?, sums, inputs)
    }

    fn floats(&self, name: &str) -> Result<Vec<f32>, AssetError> {
        let find = |prefix: &&str| self.tensors.tensor(&format!("{prefix}{name}")).ok();
        let tensor = match PREFIXES.iter().find_map(find) {
            Some(tensor) => tensor,
            None => self
                .tensors
                .tensor(name)
                .map_err(|source| AssetError::MissingTensor { name: name.to_owned(), source })?,
        };
        let (pairs, _) = tensor.data().as_chunks::<2>();
        let (quads, _) = tensor.data().as_chunks::<4>();
        match tensor.dtype() {
            Dtype::F32 => Ok(quads.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()),
            Dtype::F16 => Ok(pairs.iter().map(|bytes| f16::from_le_bytes(*bytes).to_f32()).collect()),
            Dtype::BF16 => Ok(pairs.iter().map(|bytes| bf16::from_le_bytes(*bytes).to_f32()).collect()),
            _ => Err(AssetError::WrongType { name: name.to_owned() }),
        }
    }
}

/// Quantizes rows of numbers to 8 bits, each with its own scale.
fn quantize(rows: &[f32], width: usize) -> (Vec<i8>, Vec<f32>) {
    let mut values = Vec::with_capacity(rows.len());
    let mut scales = Vec::with_capacity(rows.len() / width);
    for row in rows.chunks_exact(width) {
        let largest = row.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
        let scale = if largest > 0.0 { largest / MAX } else { 1.0 };
        scales.push(scale);
        #[expect(clippy::cast_possible_truncation, reason = "the number is between -127 and 127")]
        values.extend(row.iter().map(|value| (value / scale).round().clamp(-MAX, MAX) as i8));
    }
    (values, scales)
}

/// Returns the rows in the order of multiplication: panels of rows, four numbers of every row at a time.
fn pack(values: &[i8], inputs: usize) -> Vec<i8> {
    let mut packed = Vec::with_capacity(values.len());
    for panel in values.chunks_exact(PANEL * inputs) {
        for column in (0..inputs).step_by(QUAD) {
            for row in panel.chunks_exact(inputs) {
                packed.extend_from_slice(&row[column..column + QUAD]);
            }
        }
    }
    packed
}
