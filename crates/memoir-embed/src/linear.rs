//! A linear layer `x · Wᵀ + b` in integer arithmetic.

use crate::{
    error::AssetError,
    kernel::{PANEL, QUAD, TOKENS, products},
    weights::WeightFile,
};

/// A linear layer with 8-bit weights and one scale per row.
pub(crate) struct Linear {
    weights: &'static [i8],
    scales: Vec<f32>,
    bias: Vec<f32>,
    /// Sum of each weight row, used to subtract the zero point of the activations.
    sums: Vec<f32>,
    inputs: usize,
}

/// Activations quantized to 8 bits, each token with its own scale and zero point.
#[derive(Default)]
pub(crate) struct QuantizedTokens {
    values: Vec<u8>,
    scales: Vec<f32>,
    zeros: Vec<f32>,
}

impl Linear {
    pub(crate) fn load(weights: &WeightFile, name: &str, inputs: usize) -> Result<Self, AssetError> {
        let values = weights.read_bytes(&format!("{name}.weight"))?;
        let scales = weights.read_floats(&format!("{name}.weight.scale"))?;
        let bias = weights.read_floats(&format!("{name}.bias"))?;
        let sums = weights.read_floats(&format!("{name}.weight.sum"))?;
        let rows = scales.len();
        if values.len() != rows * inputs
            || bias.len() != rows
            || sums.len() != rows
            || !rows.is_multiple_of(PANEL)
        {
            return Err(AssetError::WrongShape { name: name.to_owned() });
        }
        Ok(Self { weights: values, scales, bias, sums, inputs })
    }

    /// Writes one row of outputs per token.
    #[inline(always)]
    pub(crate) fn apply(&self, input: &QuantizedTokens, output: &mut Vec<f32>) {
        let (tokens, outputs) = (input.scales.len(), self.scales.len());
        output.clear();
        output.resize(tokens * outputs, 0.0);
        // Multiply all tokens with one panel before the next, so that the panel stays in the cache.
        for (first_row, panel) in (0..).step_by(PANEL).zip(self.weights.chunks_exact(PANEL * self.inputs)) {
            for (first_token, values) in
                (0..).step_by(TOKENS).zip(input.values.chunks_exact(TOKENS * self.inputs))
            {
                let sums = products(values, panel);
                // The last group is padded; ignore the sums beyond the last token.
                for (token, sums) in (first_token..tokens).zip(sums) {
                    let (scale, zero) = (input.scales[token], input.zeros[token]);
                    let outputs = &mut output[token * outputs + first_row..][..PANEL];
                    for (lane, (output, sum)) in outputs.iter_mut().zip(sums).enumerate() {
                        let row = first_row + lane;
                        #[expect(clippy::cast_precision_loss, reason = "sums stay below 2^26")]
                        let exact = sum as f32 - zero * self.sums[row];
                        *output = exact * (scale * self.scales[row]) + self.bias[row];
                    }
                }
            }
        }
    }
}

impl QuantizedTokens {
    /// Quantizes rows of `width` numbers to 8 bits, in groups of tokens, four numbers of each token at a time.
    #[inline(always)]
    pub(crate) fn fill(&mut self, rows: &[f32], width: usize) {
        let tokens = rows.len() / width;
        self.scales.clear();
        self.zeros.clear();
        self.values.clear();
        self.values.resize(tokens.next_multiple_of(TOKENS) * width, 0);
        for (token, row) in rows.chunks_exact(width).enumerate() {
            // Include zero in the range so that it is represented exactly.
            let (low, high) =
                row.iter().fold((0.0_f32, 0.0_f32), |(low, high), value| (low.min(*value), high.max(*value)));
            let scale = ((high - low) / 255.0).max(f32::MIN_POSITIVE);
            let zero = (-low / scale + 0.5).floor();
            self.scales.push(scale);
            self.zeros.push(zero);
            let group = &mut self.values[token / TOKENS * TOKENS * width..][..TOKENS * width];
            let (quads, _) = group.as_chunks_mut::<QUAD>();
            let (numbers, _) = row.as_chunks::<QUAD>();
            let inverse = 1.0 / scale;
            for (quad, numbers) in quads.iter_mut().skip(token % TOKENS).step_by(TOKENS).zip(numbers) {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "the value is clamped to 0..=255"
                )]
                let quantize = |number: f32| (number * inverse + zero + 0.5).clamp(0.0, 255.0) as i32 as u8;
                *quad = numbers.map(quantize);
            }
        }
    }
}
