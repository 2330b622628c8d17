//! The transformer: embeddings of tokens, then layers of attention and feed-forward.
//!
//! Hot loops are `for` loops rather than iterator methods with closures, because those are not always inlined into the
//! function that is compiled for wide vectors.

use crate::{
    DIMENSIONS,
    error::AssetError,
    linear::{Linear, QuantizedTokens, range},
    weights::{QuantizedRows, Weights},
};

/// The sizes of a transformer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shape {
    pub(crate) dimensions: usize,
    pub(crate) layers: usize,
    pub(crate) heads: usize,
    /// Width of the feed-forward layers.
    pub(crate) intermediate: usize,
    /// Added to a variance before a division.
    pub(crate) epsilon: f32,
}

impl Shape {
    /// The shape of the built-in models.
    pub(crate) const BUILT_IN: Self =
        Self { dimensions: DIMENSIONS, layers: 6, heads: 12, intermediate: 1536, epsilon: 1e-12 };

    /// Sizes of an attention head for which there is code.
    pub(crate) const HEAD_SIZES: [usize; 2] = [32, 64];

    pub(crate) fn head_size(&self) -> usize {
        self.dimensions / self.heads.max(1)
    }
}

struct Norm {
    weight: Vec<f32>,
    bias: Vec<f32>,
    epsilon: f32,
}

struct EncoderLayer {
    query: Linear,
    key: Linear,
    value: Linear,
    attention_output: Linear,
    attention_norm: Norm,
    intermediate: Linear,
    output: Linear,
    output_norm: Norm,
}

/// The embeddings of tokens and their positions.
pub(crate) struct TokenEmbeddings {
    words: QuantizedRows,
    positions: Vec<f32>,
    norm: Norm,
    dimensions: usize,
}

/// The layers of a transformer.
pub(crate) struct Layers {
    layers: Vec<EncoderLayer>,
    shape: Shape,
}

/// Buffers for the intermediate results of one text, reused for the next.
#[derive(Default)]
pub(crate) struct EncoderBuffers {
    quantized: QuantizedTokens,
    state: Vec<f32>,
    query: Vec<f32>,
    key: Vec<f32>,
    /// The keys of one head, as `transpose` writes them.
    key_columns: Vec<[f32; COLUMN]>,
    value: Vec<f32>,
    attended: Vec<f32>,
    intermediate: Vec<f32>,
    output: Vec<f32>,
    scores: Vec<f32>,
}

impl EncoderBuffers {
    /// Returns the states of the tokens, one row after the other.
    pub(crate) fn states(&self) -> &[f32] {
        &self.state
    }
}

impl TokenEmbeddings {
    pub(crate) fn load(weights: &impl Weights, shape: Shape) -> Result<Self, AssetError> {
        let (words, positions) = (weights.words()?, weights.positions()?);
        if words.scales.is_empty() || words.values.len() != words.scales.len() * shape.dimensions {
            return Err(AssetError::WrongShape { name: "embeddings.word_embeddings.weight".into() });
        }
        if positions.len() < shape.dimensions || !positions.len().is_multiple_of(shape.dimensions) {
            return Err(AssetError::WrongShape { name: "embeddings.position_embeddings.weight".into() });
        }
        let norm = Norm::load(weights, "embeddings", shape)?;
        Ok(Self { words, positions, norm, dimensions: shape.dimensions })
    }

    /// Returns whether there are embeddings for all words up to an id, and for a number of positions.
    pub(crate) fn fits(&self, max_id: u32, positions: usize) -> bool {
        (max_id as usize) < self.words.scales.len() && positions * self.dimensions <= self.positions.len()
    }

    /// Writes the sum of word and position embeddings to `state`.
    #[inline(always)]
    fn embed(&self, ids: &[u32], state: &mut Vec<f32>) {
        state.clear();
        let QuantizedRows { values, scales } = &self.words;
        for (id, position) in ids.iter().zip(self.positions.chunks_exact(self.dimensions)) {
            // The tokenizer returns only valid ids.
            let id = *id as usize % scales.len();
            let (word, scale) = (&values[id * self.dimensions..][..self.dimensions], scales[id]);
            state.extend(
                word.iter().zip(position).map(|(word, position)| f32::from(*word) * scale + position),
            );
        }
        self.norm.apply(state);
    }
}

impl Layers {
    pub(crate) fn load(weights: &impl Weights, shape: Shape) -> Result<Self, AssetError> {
        let layers = (0..shape.layers)
            .map(|layer| EncoderLayer::load(weights, layer, shape))
            .collect::<Result<_, _>>()?;
        Ok(Self { layers, shape })
    }

    /// Returns the number of dimensions of a state.
    pub(crate) fn dimensions(&self) -> usize {
        self.shape.dimensions
    }

    /// Computes the states of tokens.
    pub(crate) fn apply(&self, embeddings: &TokenEmbeddings, ids: &[u32], buffers: &mut EncoderBuffers) {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            // SAFETY: the required processor features were just detected.
            #[expect(unsafe_code, reason = "calls a function that requires detected processor features")]
            return unsafe { self.apply_wide(embeddings, ids, buffers) };
        }
        self.apply_plain(embeddings, ids, buffers);
    }

    /// Compiles `apply_plain` for AVX2. Everything it calls is inlined here.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn apply_wide(&self, embeddings: &TokenEmbeddings, ids: &[u32], buffers: &mut EncoderBuffers) {
        self.apply_plain(embeddings, ids, buffers);
    }

    #[inline(always)]
    fn apply_plain(&self, embeddings: &TokenEmbeddings, ids: &[u32], buffers: &mut EncoderBuffers) {
        embeddings.embed(ids, &mut buffers.state);
        for layer in &self.layers {
            layer.apply(buffers, &self.shape);
        }
    }
}

/// Returns the sum of the states of some tokens.
pub(crate) fn sum_states(states: &[f32], dimensions: usize) -> Vec<f32> {
    let mut sum = vec![0.0; dimensions];
    for token in states.chunks_exact(dimensions) {
        add(&mut sum, token);
    }
    sum
}

impl EncoderLayer {
    fn load(weights: &impl Weights, layer: usize, shape: Shape) -> Result<Self, AssetError> {
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        let linear = |part: &str, inputs, outputs| {
            let layer = weights.linear(&name(part), inputs)?;
            match layer.outputs() == outputs {
                true => Ok(layer),
                false => Err(AssetError::WrongShape { name: name(part) }),
            }
        };
        let Shape { dimensions, intermediate, .. } = shape;
        Ok(Self {
            query: linear("attention.self.query", dimensions, dimensions)?,
            key: linear("attention.self.key", dimensions, dimensions)?,
            value: linear("attention.self.value", dimensions, dimensions)?,
            attention_output: linear("attention.output.dense", dimensions, dimensions)?,
            attention_norm: Norm::load(weights, &name("attention.output"), shape)?,
            intermediate: linear("intermediate.dense", dimensions, intermediate)?,
            output: linear("output.dense", intermediate, dimensions)?,
            output_norm: Norm::load(weights, &name("output"), shape)?,
        })
    }

    #[inline(always)]
    fn apply(&self, buffers: &mut EncoderBuffers, shape: &Shape) {
        buffers.quantized.fill(&buffers.state, shape.dimensions);
        self.query.apply(&buffers.quantized, &mut buffers.query);
        self.key.apply(&buffers.quantized, &mut buffers.key);
        self.value.apply(&buffers.quantized, &mut buffers.value);
        match shape.head_size() {
            64 => attend::<64>(buffers, shape),
            _ => attend::<32>(buffers, shape),
        }
        buffers.quantized.fill(&buffers.attended, shape.dimensions);
        self.attention_output.apply(&buffers.quantized, &mut buffers.output);
        add(&mut buffers.state, &buffers.output);
        self.attention_norm.apply(&mut buffers.state);

        buffers.quantized.fill(&buffers.state, shape.dimensions);
        self.intermediate.apply(&buffers.quantized, &mut buffers.intermediate);
        for value in &mut buffers.intermediate {
            *value = gelu(*value);
        }
        buffers.quantized.fill(&buffers.intermediate, shape.intermediate);
        self.output.apply(&buffers.quantized, &mut buffers.output);
        add(&mut buffers.state, &buffers.output);
        self.output_norm.apply(&mut buffers.state);
    }
}

/// Computes multi-head self-attention from `query`, `key` and `value` into `attended`.
#[inline(always)]
fn attend<const HEAD_SIZE: usize>(buffers: &mut EncoderBuffers, shape: &Shape) {
    let width = shape.dimensions;
    let tokens = buffers.query.len() / width;
    let scale = 1.0 / (HEAD_SIZE as f32).sqrt();
    buffers.attended.clear();
    buffers.attended.resize(tokens * width, 0.0);
    buffers.scores.clear();
    buffers.scores.resize(tokens, 0.0);
    for head in 0..shape.heads {
        let offset = head * HEAD_SIZE;
        transpose::<HEAD_SIZE>(&buffers.key, width, offset, &mut buffers.key_columns);
        for token in 0..tokens {
            let query = &buffers.query[token * width + offset..][..HEAD_SIZE];
            let blocks = buffers.key_columns.chunks_exact(HEAD_SIZE);
            for (scores, columns) in buffers.scores.chunks_mut(COLUMN).zip(blocks) {
                let mut sums = [0.0; COLUMN];
                for (query, column) in query.iter().zip(columns) {
                    for token in 0..COLUMN {
                        sums[token] += query * column[token];
                    }
                }
                for (score, sum) in scores.iter_mut().zip(sums) {
                    *score = sum * scale;
                }
            }
            softmax(&mut buffers.scores);
            let mut weighted = [0.0; HEAD_SIZE];
            for (score, value) in buffers.scores.iter().zip(buffers.value.chunks_exact(width)) {
                for (weighted, value) in weighted.iter_mut().zip(&value[offset..offset + HEAD_SIZE]) {
                    *weighted += score * value;
                }
            }
            buffers.attended[token * width + offset..][..HEAD_SIZE].copy_from_slice(&weighted);
        }
    }
}

/// Number of tokens whose scores are computed together: each token in a lane of a processor's registers, so that no sum
/// across lanes is needed.
const COLUMN: usize = 16;

/// Writes the part of a head of all keys in blocks of [`COLUMN`] tokens: for each of its dimensions, the values of the
/// tokens. The last block is padded with zeros.
#[inline(always)]
fn transpose<const HEAD_SIZE: usize>(
    keys: &[f32],
    width: usize,
    offset: usize,
    columns: &mut Vec<[f32; COLUMN]>,
) {
    let keys = keys.chunks_exact(width);
    columns.clear();
    columns.resize(keys.len().div_ceil(COLUMN) * HEAD_SIZE, [0.0; COLUMN]);
    for (token, key) in keys.enumerate() {
        let block = &mut columns[token / COLUMN * HEAD_SIZE..][..HEAD_SIZE];
        for (column, value) in block.iter_mut().zip(&key[offset..offset + HEAD_SIZE]) {
            column[token % COLUMN] = *value;
        }
    }
}

/// Number of lanes of a sum, so that additions do not wait for each other.
const LANES: usize = 8;

/// Returns the dot product.
#[inline(always)]
pub(crate) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0; LANES];
    let ((a, _), (b, _)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    sum_lanes(lanes)
}

/// Returns the sum of all numbers.
#[inline(always)]
fn sum(numbers: &[f32]) -> f32 {
    let mut lanes = [0.0; LANES];
    let (chunks, rest) = numbers.as_chunks::<LANES>();
    for chunk in chunks {
        for lane in 0..LANES {
            lanes[lane] += chunk[lane];
        }
    }
    let mut sum = sum_lanes(lanes);
    for number in rest {
        sum += number;
    }
    sum
}

#[inline(always)]
fn sum_lanes(lanes: [f32; LANES]) -> f32 {
    let [a, b, c, d, e, f, g, h] = lanes;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

#[inline(always)]
fn softmax(scores: &mut [f32]) {
    let (_, highest) = range(scores);
    for score in scores.iter_mut() {
        *score = exp(*score - highest);
    }
    let inverse = 1.0 / sum(scores);
    for score in scores.iter_mut() {
        *score *= inverse;
    }
}

#[inline(always)]
fn add(state: &mut [f32], addend: &[f32]) {
    for (state, addend) in state.iter_mut().zip(addend) {
        *state += addend;
    }
}

/// GELU, with an approximation of the error function accurate to seven digits (Abramowitz and Stegun 7.1.26).
#[inline(always)]
fn gelu(x: f32) -> f32 {
    let z = x * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z.abs());
    let polynomial =
        ((((1.061_405_4 * t - 1.453_152_1) * t + 1.421_413_8) * t - 0.284_496_72) * t + 0.254_829_6) * t;
    let erf = 1.0 - polynomial * exp(-z * z);
    0.5 * x * (1.0 + erf.copysign(z))
}

/// Returns the exponential of a number that is not positive, accurate to six digits. Inlined to be vectorized.
#[inline(always)]
fn exp(x: f32) -> f32 {
    /// Adding and subtracting this number rounds to an integer.
    const ROUNDING: f32 = 12_582_912.0;
    let y = x.max(-87.0) * std::f32::consts::LOG2_E;
    let rounded = y + ROUNDING;
    let fraction = y - (rounded - ROUNDING);
    let power = 1.0
        + fraction
            * (std::f32::consts::LN_2
                + fraction
                    * (0.240_226_5
                        + fraction * (0.055_504_1 + fraction * (0.009_618_1 + fraction * 0.001_333_3))));
    // The lowest bits of `rounded` are the integer. They become the exponent, and all others are shifted out.
    let scale = f32::from_bits(rounded.to_bits().wrapping_add(127) << 23);
    power * scale
}

impl Norm {
    fn load(weights: &impl Weights, name: &str, shape: Shape) -> Result<Self, AssetError> {
        let weight = weights.floats(&format!("{name}.LayerNorm.weight"))?;
        let bias = weights.floats(&format!("{name}.LayerNorm.bias"))?;
        match [weight.len(), bias.len()] == [shape.dimensions; 2] {
            true => Ok(Self { weight, bias, epsilon: shape.epsilon }),
            false => Err(AssetError::WrongShape { name: format!("{name}.LayerNorm") }),
        }
    }

    #[inline(always)]
    fn apply(&self, state: &mut [f32]) {
        for token in state.chunks_exact_mut(self.weight.len()) {
            let count = token.len() as f32;
            let mean = sum(token) / count;
            for value in token.iter_mut() {
                *value -= mean;
            }
            let variance = dot(token, token) / count;
            let inverse = 1.0 / (variance + self.epsilon).sqrt();
            for (value, (weight, bias)) in token.iter_mut().zip(self.weight.iter().zip(&self.bias)) {
                *value = *value * inverse * weight + bias;
            }
        }
    }
}
