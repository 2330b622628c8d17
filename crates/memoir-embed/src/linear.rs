//! A linear layer `x · Wᵀ + b` in integer arithmetic.

use std::borrow::Cow;

use crate::{
    error::AssetError,
    kernel::{PANEL, QUAD, TOKENS, products},
    weights::QuantizedRows,
};

/// A linear layer with 8-bit weights and one scale per row.
pub(crate) struct Linear {
    weights: Cow<'static, [i8]>,
    scales: Vec<f32>,
    bias: Vec<f32>,
    /// Sum of each weight row, used to subtract the zero point of the activations.
    sums: Vec<f32>,
    inputs: usize,
}

/// Adding this number to a small positive one moves its integer part to the lowest bits.
const ROUNDING: f32 = 8_388_608.0;

/// Activations quantized to 8 bits, each token with its own scale and zero point.
#[derive(Default)]
pub(crate) struct QuantizedTokens {
    values: Vec<u8>,
    scales: Vec<f32>,
    zeros: Vec<f32>,
    /// One token, before its numbers are mixed with those of its group.
    row: Vec<u8>,
}

impl Linear {
    /// Creates a layer from weights in the order of multiplication, and the sum of each of their rows.
    pub(crate) fn new(
        name: &str,
        QuantizedRows { values, scales }: QuantizedRows,
        bias: Vec<f32>,
        sums: Vec<f32>,
        inputs: usize,
    ) -> Result<Self, AssetError> {
        let rows = scales.len();
        if values.len() != rows * inputs
            || bias.len() != rows
            || sums.len() != rows
            || !rows.is_multiple_of(PANEL)
            || !inputs.is_multiple_of(QUAD)
        {
            return Err(AssetError::WrongShape { name: name.to_owned() });
        }
        Ok(Self { weights: values, scales, bias, sums, inputs })
    }

    /// Returns the number of outputs.
    pub(crate) fn outputs(&self) -> usize {
        self.scales.len()
    }

    /// Writes one row of outputs per token.
    #[inline(always)]
    pub(crate) fn apply(&self, input: &QuantizedTokens, output: &mut Vec<f32>) {
        let (tokens, outputs) = (input.scales.len(), self.scales.len());
        output.clear();
        output.resize(tokens * outputs, 0.0);
        // The number of rows is a multiple of the panel, so nothing remains.
        let ((scales, _), (bias, _), (sums, _)) = (
            self.scales.as_chunks::<PANEL>(),
            self.bias.as_chunks::<PANEL>(),
            self.sums.as_chunks::<PANEL>(),
        );
        // Multiply all tokens with one panel before the next, so that the panel stays in the cache.
        for (number, panel) in self.weights.chunks_exact(PANEL * self.inputs).enumerate() {
            let (scales, bias, sums) = (&scales[number], &bias[number], &sums[number]);
            for (first_token, values) in
                (0..).step_by(TOKENS).zip(input.values.chunks_exact(TOKENS * self.inputs))
            {
                let products = products(values, panel);
                // The last group is padded; ignore the products beyond the last token.
                for (token, products) in (first_token..tokens).zip(&products) {
                    let (scale, zero) = (input.scales[token], input.zeros[token]);
                    let start = token * outputs + number * PANEL;
                    let Some((output, _)) = output[start..].split_first_chunk_mut::<PANEL>() else { break };
                    // In an array of its own, which cannot overlap the others, so that the lanes are computed together.
                    let mut values = [0.0; PANEL];
                    for lane in 0..PANEL {
                        #[expect(clippy::cast_precision_loss, reason = "products stay below 2^26")]
                        let exact = products[lane] as f32 - zero * sums[lane];
                        values[lane] = exact * (scale * scales[lane]) + bias[lane];
                    }
                    *output = values;
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
            let (low, high) = range(row);
            let (low, high) = (low.min(0.0), high.max(0.0));
            let scale = ((high - low) / 255.0).max(f32::MIN_POSITIVE);
            let zero = (-low / scale + 0.5).floor();
            self.scales.push(scale);
            self.zeros.push(zero);
            let inverse = 1.0 / scale;
            self.row.clear();
            self.row.resize(width, 0);
            for (value, number) in self.row.iter_mut().zip(row) {
                // The lowest bits of the sum are the rounded value.
                let rounded = (number * inverse + zero).clamp(0.0, 255.0) + ROUNDING;
                *value = (rounded.to_bits() & 0xff) as u8;
            }
            let group = &mut self.values[token / TOKENS * TOKENS * width..][..TOKENS * width];
            let ((quads, _), (row, _)) = (group.as_chunks_mut::<QUAD>(), self.row.as_chunks::<QUAD>());
            for (quads, quad) in quads.chunks_exact_mut(TOKENS).zip(row) {
                quads[token % TOKENS] = *quad;
            }
        }
    }
}

/// Number of lanes of a comparison, so that comparisons do not wait for each other.
const LANES: usize = 8;

/// Returns the lowest and the highest of some numbers.
#[inline(always)]
pub(crate) fn range(numbers: &[f32]) -> (f32, f32) {
    let (mut lows, mut highs) = ([f32::MAX; LANES], [f32::MIN; LANES]);
    let (chunks, rest) = numbers.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            lows[lane] = lower(chunk[lane], lows[lane]);
            highs[lane] = higher(chunk[lane], highs[lane]);
        }
    }
    let (mut low, mut high) = (f32::MAX, f32::MIN);
    for lane in 0..LANES {
        low = lower(lows[lane], low);
        high = higher(highs[lane], high);
    }
    for number in rest {
        low = lower(*number, low);
        high = higher(*number, high);
    }
    (low, high)
}

/// Returns the lower number, in one instruction: unlike `f32::min`, it returns the second one if the first is not a number.
#[inline(always)]
fn lower(one: f32, other: f32) -> f32 {
    if one < other { one } else { other }
}

/// Returns the higher number; see [`lower`].
#[inline(always)]
fn higher(one: f32, other: f32) -> f32 {
    if one > other { one } else { other }
}
