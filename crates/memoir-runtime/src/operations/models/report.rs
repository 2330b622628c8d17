//! What is known of models.

use std::fmt::Display;

use memoir_models::{Catalogue, ModelName, Price, Provider};
use serde::{Serialize, Serializer};

/// The models of the catalogue. They are serialized as an array.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct ModelsReport {
    /// The models, ordered by provider.
    pub models: Vec<ModelReport>,
}

/// What is known of one model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelReport {
    /// Its name, serialized as `provider/model`.
    #[serde(serialize_with = "as_text")]
    pub name: ModelName,
    /// Its provider.
    #[serde(serialize_with = "as_text")]
    pub provider: Provider,
    /// Whether the catalogue knows it as a chat model.
    pub known: bool,
    /// Number of tokens that a request and its answer may have together.
    pub context: Option<u64>,
    /// Maximum number of tokens of an answer.
    pub output: Option<u64>,
    /// Whether it can call tools.
    pub tools: Option<bool>,
    /// Its price.
    pub price: Option<PriceReport>,
    /// Its price for long requests, if that differs.
    pub long_price: Option<LongPriceReport>,
    /// Whether a key for its provider is set.
    pub key: bool,
    /// What is known of it as an embedding model, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embedding: Option<EmbeddingReport>,
}

/// A price in dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PriceReport {
    /// For tokens that are sent.
    pub input: f64,
    /// For tokens of the answer, reasoning included.
    pub output: f64,
    /// For tokens that the provider reads from its cache.
    pub cache_read: Option<f64>,
    /// For tokens that the provider writes to its cache.
    pub cache_write: Option<f64>,
}

/// The price of long requests.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LongPriceReport {
    /// Requests with more tokens than this have this price.
    pub above: u64,
    /// The price.
    #[serde(flatten)]
    pub price: PriceReport,
}

/// What is known of an embedding model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EmbeddingReport {
    /// The length of its vectors.
    pub dimensions: Option<usize>,
    /// Its price in dollars per million tokens.
    pub price: Option<f64>,
}

impl From<Price> for PriceReport {
    fn from(price: Price) -> Self {
        Self {
            input: price.input.dollars(),
            output: price.output.dollars(),
            cache_read: price.cache_read.map(|price| price.dollars()),
            cache_write: price.cache_write.map(|price| price.dollars()),
        }
    }
}

impl ModelReport {
    /// Returns what `catalogue` says about a model.
    pub fn new(name: ModelName, catalogue: &Catalogue, key: bool) -> Self {
        let info = catalogue.model(&name);
        let long_price = info.and_then(|info| info.long_price);
        Self {
            provider: name.provider,
            known: info.is_some(),
            context: info.and_then(|info| info.context),
            output: info.and_then(|info| info.output),
            tools: info.and_then(|info| info.tools),
            price: info.and_then(|info| info.price).map(PriceReport::from),
            long_price: long_price
                .map(|long| LongPriceReport { above: long.above, price: long.price().into() }),
            key,
            embedding: catalogue.embedding(&name).map(|info| EmbeddingReport {
                dimensions: info.dimensions,
                price: info.price.map(|price| price.dollars()),
            }),
            name,
        }
    }
}

fn as_text<T: Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}
