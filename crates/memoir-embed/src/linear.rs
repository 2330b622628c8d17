//! One layer `x · Wᵀ + b` in whole numbers.

use crate::{
    kernel::{BLOCK, products},
    weights::Weights,
};

/// A layer's weights, 8 bits with a scale per row.
pub(crate) struct Linear {
    weights: &'static [i8],
    scales: Vec<f32>,
    bias: Vec<f32>,
    /// The sum of each row, for taking out the activations' zero point.
    sums: Vec<i32>,
    inputs: usize,
}

/// Activations brought to 8 bits, each token with its own scale and zero point.
#[derive(Default)]
pub(crate) struct Quantised {
    values: Vec<u8>,
    scales: Vec<f32>,
    zeros: Vec<i32>,
}

impl Linear {
    pub(crate) fn load(weights: &Weights, name: &str, inputs: usize) -> Result<Self, String> {
        let values = weights.eights(&format!("{name}.weight"))?;
        let scales = weights.floats(&format!("{name}.weight.scale"))?;
        let bias = weights.floats(&format!("{name}.bias"))?;
        if values.len() != scales.len() * inputs
            || bias.len() != scales.len()
            || !scales.len().is_multiple_of(BLOCK)
        {
            return Err(format!("{name} has the wrong shape"));
        }
        let sums =
            values.chunks_exact(inputs).map(|row| row.iter().map(|value| i32::from(*value)).sum()).collect();
        Ok(Self { weights: values, scales, bias, sums, inputs })
    }

    /// Gives one row of outputs per token.
    pub(crate) fn apply(&self, input: &Quantised, output: &mut Vec<f32>) {
        let (tokens, outputs) = (input.scales.len(), self.scales.len());
        output.clear();
        output.resize(tokens * outputs, 0.0);
        for (block, rows) in self.weights.chunks_exact(BLOCK * self.inputs).enumerate() {
            for (group, values) in input.values.chunks_exact(BLOCK * self.inputs).enumerate() {
                let sums = products(self.inputs, values, rows);
                // The last group is filled up; what is beyond the last token is nobody's.
                for (token, sums) in (group * BLOCK..tokens).zip(sums) {
                    for (row, sum) in (block * BLOCK..).zip(sums) {
                        let exact = sum - input.zeros[token] * self.sums[row];
                        #[expect(clippy::cast_precision_loss, reason = "sums stay below 2^26")]
                        let scaled = exact as f32 * input.scales[token] * self.scales[row];
                        output[token * outputs + row] = scaled + self.bias[row];
                    }
                }
            }
        }
    }
}

impl Quantised {
    /// Brings rows of `width` numbers to 8 bits.
    pub(crate) fn fill(&mut self, rows: &[f32], width: usize) {
        self.values.clear();
        self.scales.clear();
        self.zeros.clear();
        for row in rows.chunks_exact(width) {
            // Zero is always one of the values, so that it stays exact.
            let (low, high) =
                row.iter().fold((0.0_f32, 0.0_f32), |(low, high), value| (low.min(*value), high.max(*value)));
            let scale = ((high - low) / 255.0).max(f32::MIN_POSITIVE);
            let zero = (-low / scale).round();
            let inverse = 1.0 / scale;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "clamped to 0 to 255"
            )]
            self.values
                .extend(row.iter().map(|value| (value * inverse + zero + 0.5).clamp(0.0, 255.0) as u8));
            self.scales.push(scale);
            #[expect(clippy::cast_possible_truncation, reason = "between 0 and 255")]
            self.zeros.push(zero as i32);
        }
        let filled = (rows.len() / width).next_multiple_of(BLOCK) * width;
        self.values.resize(filled, 0);
    }
}
