//! Properties and prices of models, as they are serialized to JSON.

use std::fmt::Display;

use memoir_models::{Catalog, ModelName, Price, Provider};
use serde::{Serialize, Serializer};

/// Models of the catalog, serialized as an array.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct ModelsReport {
    /// Models, ordered by provider and name.
    pub models: Vec<ModelReport>,
}

/// Properties of a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ModelReport {
    /// Name of the model, serialized as `provider/model`.
    #[serde(serialize_with = "as_text")]
    pub name: ModelName,
    /// Provider of the model.
    #[serde(serialize_with = "as_text")]
    pub provider: Provider,
    /// Whether the catalog lists the model as a chat model.
    #[serde(rename = "known")]
    pub is_in_catalog: bool,
    /// Size of the context window in tokens.
    pub context: Option<u64>,
    /// Maximum number of tokens in an answer.
    pub output: Option<u64>,
    /// Whether the model supports tool calls.
    pub tools: Option<bool>,
    /// Whether the model can see images, if it is known.
    pub images: Option<bool>,
    /// Price of normal requests, if known.
    pub price: Option<PriceReport>,
    /// Price of long requests, if it differs.
    pub long_price: Option<LongPriceReport>,
    /// Whether an API key for the provider is set.
    #[serde(rename = "key")]
    pub has_key: bool,
    /// Properties as an embedding model, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub embedding: Option<EmbeddingReport>,
}

/// Prices in US dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PriceReport {
    /// Price of input tokens.
    pub input: f64,
    /// Price of output tokens, including reasoning.
    pub output: f64,
    /// Price of input tokens that the provider reads from its cache.
    pub cache_read: Option<f64>,
    /// Price of input tokens that the provider writes to its cache.
    pub cache_write: Option<f64>,
}

/// Price of long requests.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct LongPriceReport {
    /// Number of tokens above which a request is long.
    pub above: u64,
    /// Prices of long requests.
    #[serde(flatten)]
    pub price: PriceReport,
}

/// Properties of an embedding model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct EmbeddingReport {
    /// Number of dimensions of an embedding.
    pub dimensions: Option<usize>,
    /// Price in US dollars per million tokens.
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
    /// Creates a report from the catalog entry of a model, if there is one. `has_key` is whether an API key is set.
    pub fn new(name: ModelName, catalog: &Catalog, has_key: bool) -> Self {
        let info = catalog.model(&name);
        let long_price = info.and_then(|info| info.long_price);
        Self {
            provider: name.provider,
            is_in_catalog: info.is_some(),
            context: info.and_then(|info| info.context),
            output: info.and_then(|info| info.output),
            tools: info.and_then(|info| info.tools),
            images: info.and_then(|info| info.images),
            price: info.and_then(|info| info.price).map(PriceReport::from),
            long_price: long_price
                .map(|long| LongPriceReport { above: long.above, price: long.price().into() }),
            has_key,
            embedding: catalog.embedding(&name).map(|info| EmbeddingReport {
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
