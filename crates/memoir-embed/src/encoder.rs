//! The transformer: six layers of attention and feed-forward, then the mean of all tokens.

use crate::{
    DIMENSIONS,
    error::AssetError,
    linear::{Linear, Quantised},
    weights::WeightFile,
};

const LAYERS: usize = 6;
const HEADS: usize = 12;
const HEAD: usize = DIMENSIONS / HEADS;
const INNER: usize = 1536;

struct Norm {
    weight: Vec<f32>,
    bias: Vec<f32>,
}

struct EncoderLayer {
    query: Linear,
    key: Linear,
    value: Linear,
    mixed: Linear,
    mixed_norm: Norm,
    inner: Linear,
    outer: Linear,
    outer_norm: Norm,
}

pub(crate) struct Encoder {
    words: &'static [i8],
    word_scales: Vec<f32>,
    positions: Vec<f32>,
    norm: Norm,
    layers: Vec<EncoderLayer>,
}

/// Room for one text's numbers, used again for the next.
#[derive(Default)]
pub(crate) struct EncoderBuffers {
    quantised: Quantised,
    state: Vec<f32>,
    query: Vec<f32>,
    key: Vec<f32>,
    value: Vec<f32>,
    mixed: Vec<f32>,
    inner: Vec<f32>,
    output: Vec<f32>,
    scores: Vec<f32>,
}

impl Encoder {
    pub(crate) fn load() -> Result<Self, AssetError> {
        let weights = WeightFile::open()?;
        Ok(Self {
            words: weights.read_bytes("embeddings.word_embeddings.weight")?,
            word_scales: weights.read_floats("embeddings.word_embeddings.weight.scale")?,
            positions: weights.read_floats("embeddings.positions")?,
            norm: Norm::load(&weights, "embeddings")?,
            layers: (0..LAYERS).map(|layer| EncoderLayer::load(&weights, layer)).collect::<Result<_, _>>()?,
        })
    }

    /// The vector of a text, of length one.
    pub(crate) fn encode(&self, ids: &[u32], room: &mut EncoderBuffers) -> Vec<f32> {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma") {
            // SAFETY: the processor has what the function needs.
            #[expect(unsafe_code, reason = "calling a function that needs wide vectors, known to be there")]
            return unsafe { self.encode_wide(ids, room) };
        }
        self.encode_plain(ids, room)
    }

    /// The same code, compiled for wide vectors: everything below is inlined into this.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2,fma")]
    fn encode_wide(&self, ids: &[u32], room: &mut EncoderBuffers) -> Vec<f32> {
        self.encode_plain(ids, room)
    }

    #[inline(always)]
    fn encode_plain(&self, ids: &[u32], room: &mut EncoderBuffers) -> Vec<f32> {
        self.embed(ids, &mut room.state);
        for layer in &self.layers {
            layer.apply(room);
        }
        let mut mean = vec![0.0; DIMENSIONS];
        for token in room.state.chunks_exact(DIMENSIONS) {
            mean.iter_mut().zip(token).for_each(|(mean, value)| *mean += value);
        }
        let length = mean.iter().map(|value| value * value).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
        mean.iter_mut().for_each(|value| *value /= length);
        mean
    }

    /// Words and positions, put together.
    #[inline(always)]
    fn embed(&self, ids: &[u32], state: &mut Vec<f32>) {
        state.clear();
        for (id, position) in ids.iter().zip(self.positions.chunks_exact(DIMENSIONS)) {
            // The tokenizer gives no id beyond its vocabulary, which is the table's.
            let id = *id as usize % self.word_scales.len();
            let (word, scale) = (&self.words[id * DIMENSIONS..][..DIMENSIONS], self.word_scales[id]);
            state.extend(
                word.iter().zip(position).map(|(word, position)| f32::from(*word) * scale + position),
            );
        }
        self.norm.apply(state);
    }
}

impl EncoderLayer {
    fn load(weights: &WeightFile, layer: usize) -> Result<Self, AssetError> {
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        let linear = |part: &str, inputs| Linear::load(weights, &name(part), inputs);
        Ok(Self {
            query: linear("attention.self.query", DIMENSIONS)?,
            key: linear("attention.self.key", DIMENSIONS)?,
            value: linear("attention.self.value", DIMENSIONS)?,
            mixed: linear("attention.output.dense", DIMENSIONS)?,
            mixed_norm: Norm::load(weights, &name("attention.output"))?,
            inner: linear("intermediate.dense", DIMENSIONS)?,
            outer: linear("output.dense", INNER)?,
            outer_norm: Norm::load(weights, &name("output"))?,
        })
    }

    #[inline(always)]
    fn apply(&self, room: &mut EncoderBuffers) {
        room.quantised.fill(&room.state, DIMENSIONS);
        self.query.apply(&room.quantised, &mut room.query);
        self.key.apply(&room.quantised, &mut room.key);
        self.value.apply(&room.quantised, &mut room.value);
        attend(room);
        room.quantised.fill(&room.mixed, DIMENSIONS);
        self.mixed.apply(&room.quantised, &mut room.output);
        add(&mut room.state, &room.output);
        self.mixed_norm.apply(&mut room.state);

        room.quantised.fill(&room.state, DIMENSIONS);
        self.inner.apply(&room.quantised, &mut room.inner);
        room.inner.iter_mut().for_each(|value| *value = gelu(*value));
        room.quantised.fill(&room.inner, INNER);
        self.outer.apply(&room.quantised, &mut room.output);
        add(&mut room.state, &room.output);
        self.outer_norm.apply(&mut room.state);
    }
}

/// Every token looks at all tokens, head by head.
#[inline(always)]
fn attend(room: &mut EncoderBuffers) {
    let tokens = room.query.len() / DIMENSIONS;
    let scale = 1.0 / (HEAD as f32).sqrt();
    room.mixed.clear();
    room.mixed.resize(tokens * DIMENSIONS, 0.0);
    room.scores.clear();
    room.scores.resize(tokens, 0.0);
    for head in 0..HEADS {
        let from = head * HEAD;
        for token in 0..tokens {
            let query = &room.query[token * DIMENSIONS + from..][..HEAD];
            for (score, key) in room.scores.iter_mut().zip(room.key.chunks_exact(DIMENSIONS)) {
                *score = dot(query, &key[from..from + HEAD]) * scale;
            }
            softmax(&mut room.scores);
            let mut mixed = [0.0; HEAD];
            for (score, value) in room.scores.iter().zip(room.value.chunks_exact(DIMENSIONS)) {
                mixed
                    .iter_mut()
                    .zip(&value[from..from + HEAD])
                    .for_each(|(mixed, value)| *mixed += score * value);
            }
            room.mixed[token * DIMENSIONS + from..][..HEAD].copy_from_slice(&mixed);
        }
    }
}

/// A product of two parts of a head's length, in eight lanes: one sum alone would be added up one by one.
#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; 8];
    let ((a, _), (b, _)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    for (a, b) in a.iter().zip(b) {
        lanes.iter_mut().zip(a.iter().zip(b)).for_each(|(lane, (a, b))| *lane += a * b);
    }
    lanes.iter().sum()
}

#[inline(always)]
fn softmax(scores: &mut [f32]) {
    let highest = scores.iter().copied().fold(f32::MIN, f32::max);
    let mut sum = 0.0;
    for score in scores.iter_mut() {
        *score = exp(*score - highest);
        sum += *score;
    }
    scores.iter_mut().for_each(|score| *score /= sum);
}

#[inline(always)]
fn add(state: &mut [f32], more: &[f32]) {
    state.iter_mut().zip(more).for_each(|(state, more)| *state += more);
}

/// GELU by an approximation of the error function that is good to seven digits (Abramowitz and Stegun 7.1.26).
#[inline(always)]
fn gelu(x: f32) -> f32 {
    let z = x * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * z.abs());
    let polynomial =
        ((((1.061_405_4 * t - 1.453_152_1) * t + 1.421_413_8) * t - 0.284_496_72) * t + 0.254_829_6) * t;
    let erf = 1.0 - polynomial * exp(-z * z);
    0.5 * x * (1.0 + erf.copysign(z))
}

/// The exponential of a number that is not positive, to six digits, without a call: so that many are done at once.
#[inline(always)]
fn exp(x: f32) -> f32 {
    /// Added and taken away again, it rounds to a whole number.
    const ROUNDING: f32 = 12_582_912.0;
    let y = x.max(-87.0) * std::f32::consts::LOG2_E;
    let whole = (y + ROUNDING) - ROUNDING;
    let part = y - whole;
    let power = 1.0
        + part
            * (std::f32::consts::LN_2
                + part * (0.240_226_5 + part * (0.055_504_1 + part * (0.009_618_1 + part * 0.001_333_3))));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 127")]
    let scale = f32::from_bits(((whole as i32 + 127) << 23) as u32);
    power * scale
}

impl Norm {
    fn load(weights: &WeightFile, name: &str) -> Result<Self, AssetError> {
        Ok(Self {
            weight: weights.read_floats(&format!("{name}.LayerNorm.weight"))?,
            bias: weights.read_floats(&format!("{name}.LayerNorm.bias"))?,
        })
    }

    #[inline(always)]
    fn apply(&self, state: &mut [f32]) {
        for token in state.chunks_exact_mut(DIMENSIONS) {
            let count = DIMENSIONS as f32;
            let mean = token.iter().sum::<f32>() / count;
            let variance = token.iter().map(|value| (value - mean) * (value - mean)).sum::<f32>() / count;
            let inverse = 1.0 / (variance + 1e-12).sqrt();
            for (value, (weight, bias)) in token.iter_mut().zip(self.weight.iter().zip(&self.bias)) {
                *value = (*value - mean) * inverse * weight + bias;
            }
        }
    }
}
