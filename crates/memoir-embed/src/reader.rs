//! The built-in reader: finds the sentence that answers a question.
//!
//! It has the encoder's architecture and embeddings, and layers of its own. It reads the question and a window: a few
//! sentences that follow each other, after the title and the words before them. The score of a sentence is a linear
//! function of the mean state of its tokens. It was trained by `training/reader.py`, whose limits are repeated here.

use std::sync::LazyLock;

use async_trait::async_trait;
use memoir_models::{ModelError, Reader, ReaderQuestion, ReaderText};

use crate::{
    DIMENSIONS, Encoder,
    encoder::{EncoderBuffers, Layers, Shape, dot, sum_states},
    error::AssetError,
    in_parallel,
    weights::{WeightFile, Weights as _},
};

/// Maximum numbers of tokens: of a question, of an earlier answer, of what precedes a window, of a sentence, and of all
/// sentences of a window.
const QUESTION_TOKENS: usize = 40;
const EARLIER_TOKENS: usize = 40;
const BEFORE_TOKENS: usize = 32;
const SENTENCE_TOKENS: usize = 80;
const WINDOW_TOKENS: usize = 136;

/// Maximum length of a title and of the words before a window, in characters.
const TITLE_CHARS: usize = 40;
const BEFORE_CHARS: usize = 120;

/// Number of windows to read before checking for cancellation.
const BATCH_SIZE: usize = 16;

struct LoadedReader {
    layers: Layers,
    head: Vec<f32>,
    bias: f32,
}

static READER: LazyLock<Result<LoadedReader, AssetError>> = LazyLock::new(LoadedReader::load);

/// Sentences that are read together with a question.
struct Window {
    ids: Vec<u32>,
    /// First token and end of each sentence.
    sentences: Vec<(usize, usize)>,
}

/// Returns a score for each sentence of each text, on all cores. Blocks until done.
///
/// # Errors
///
/// Fails if the built-in model is damaged or a thread panics.
pub fn read_blocking(question: &ReaderQuestion, texts: &[ReaderText]) -> Result<Vec<Vec<f32>>, ModelError> {
    let scores = read_windows(&split_texts(question, texts)?)?;
    Ok(collect_scores(texts, scores))
}

/// Splits texts into windows.
fn split_texts(question: &ReaderQuestion, texts: &[ReaderText]) -> Result<Vec<Window>, ModelError> {
    let encoder = Encoder::get()?;
    Ok(texts.iter().flat_map(|text| split(encoder, question, text)).collect())
}

fn read_windows(windows: &[Window]) -> Result<Vec<f32>, ModelError> {
    let encoder = Encoder::get()?;
    let reader = READER.as_ref().map_err(AssetError::to_model_error)?;
    let scores = in_parallel(windows, |window, buffers| reader.read(encoder, window, buffers))?;
    Ok(scores.into_iter().flatten().collect())
}

/// Assigns scores to the sentences of texts, in their order.
fn collect_scores(texts: &[ReaderText], scores: Vec<f32>) -> Vec<Vec<f32>> {
    let mut scores = scores.into_iter();
    texts.iter().map(|text| scores.by_ref().take(text.sentences.len()).collect()).collect()
}

/// Splits a text into windows of whole sentences.
fn split(encoder: &Encoder, question: &ReaderQuestion, text: &ReaderText) -> Vec<Window> {
    let tokens = &encoder.tokens;
    let ids_of = |text: &str, limit| {
        let mut ids = Vec::new();
        tokens.push(text, limit, &mut ids);
        ids
    };
    let mut start = vec![tokens.start];
    tokens.push(&question.text, QUESTION_TOKENS, &mut start);
    start.push(tokens.end);
    if let Some(earlier) = &question.earlier {
        tokens.push(&format!("earlier: {earlier}"), EARLIER_TOKENS, &mut start);
        start.push(tokens.end);
    }
    let title: String = text.title.chars().take(TITLE_CHARS).collect();
    let mut before = text.before.as_str();
    let mut size = 0;
    let mut windows: Vec<Window> = Vec::new();
    for sentence in &text.sentences {
        let ids = ids_of(sentence, SENTENCE_TOKENS);
        size += ids.len() + 1;
        if windows.is_empty() || size > WINDOW_TOKENS {
            size = ids.len() + 1;
            let mut start = start.clone();
            let parts = [title.as_str(), last_chars(before, BEFORE_CHARS)];
            let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
            tokens.push(&parts.join(" / "), BEFORE_TOKENS, &mut start);
            start.push(tokens.end);
            windows.push(Window { ids: start, sentences: Vec::new() });
        }
        if let Some(window) = windows.last_mut() {
            let first = window.ids.len();
            window.ids.extend(ids);
            window.sentences.push((first, window.ids.len()));
            window.ids.push(tokens.end);
        }
        before = sentence;
    }
    windows
}

/// Returns the last characters of a text.
fn last_chars(text: &str, count: usize) -> &str {
    let start = text.char_indices().rev().nth(count.saturating_sub(1)).map_or(0, |(index, _)| index);
    &text[start..]
}

impl LoadedReader {
    fn load() -> Result<Self, AssetError> {
        let weights = WeightFile::open_reader()?;
        let bias = weights.floats("head.bias")?;
        let bias = *bias.first().ok_or_else(|| AssetError::WrongShape { name: "head.bias".into() })?;
        Ok(Self {
            layers: Layers::load(&weights, Shape::BUILT_IN)?,
            head: weights.floats("head.weight")?,
            bias,
        })
    }

    /// Returns the scores of the sentences of a window.
    fn read(&self, encoder: &Encoder, window: &Window, buffers: &mut EncoderBuffers) -> Vec<f32> {
        self.layers.apply(&encoder.embeddings, &window.ids, buffers);
        let score = |(start, end): &(usize, usize)| {
            let sum = sum_states(&buffers.states()[start * DIMENSIONS..end * DIMENSIONS], DIMENSIONS);
            dot(&sum, &self.head) / (end - start).max(1) as f32 + self.bias
        };
        window.sentences.iter().map(score).collect()
    }
}

/// The built-in model as a [`Reader`].
#[derive(Debug, Clone, Copy, Default)]
pub struct LocalReader;

#[async_trait]
impl Reader for LocalReader {
    async fn read(
        &self,
        question: ReaderQuestion,
        texts: Vec<ReaderText>,
    ) -> Result<Vec<Vec<f32>>, ModelError> {
        let mut scores = Vec::new();
        let mut windows = split_texts(&question, &texts)?;
        // A blocking task cannot be cancelled, so small batches let a dropped future stop early.
        while !windows.is_empty() {
            let batch: Vec<Window> = windows.drain(..windows.len().min(BATCH_SIZE)).collect();
            let read = tokio::task::spawn_blocking(move || read_windows(&batch))
                .await
                .map_err(|error| ModelError::InvalidResponse(error.to_string()))??;
            scores.extend(read);
        }
        Ok(collect_scores(&texts, scores))
    }
}
