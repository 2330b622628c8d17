//! The files that describe a model, in the layout of Sentence Transformers.

use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, de::DeserializeOwned};

use super::error::DirectoryError;
use crate::{Pooling, encoder::Shape, tokens::Tokens, vocabulary::Vocabulary};

/// File with the weights.
pub(super) const WEIGHTS: &str = "model.safetensors";

const CONFIG: &str = "config.json";
const VOCABULARY: &str = "vocab.txt";
const TOKENIZER: &str = "tokenizer.json";

/// Files that influence the embeddings, besides the weights. Only the first must exist.
pub(super) const DESCRIPTIONS: [&str; 8] = [
    CONFIG,
    VOCABULARY,
    TOKENIZER,
    "tokenizer_config.json",
    "sentence_bert_config.json",
    "modules.json",
    "1_Pooling/config.json",
    "config_sentence_transformers.json",
];

/// `config.json`.
#[derive(Deserialize)]
struct BertConfig {
    model_type: String,
    hidden_size: usize,
    num_hidden_layers: usize,
    num_attention_heads: usize,
    intermediate_size: usize,
    max_position_embeddings: usize,
    #[serde(default = "default_activation")]
    hidden_act: String,
    #[serde(default = "default_epsilon")]
    layer_norm_eps: f32,
    #[serde(default = "default_positions")]
    position_embedding_type: String,
}

fn default_activation() -> String {
    "gelu".to_owned()
}

fn default_epsilon() -> f32 {
    1e-12
}

fn default_positions() -> String {
    "absolute".to_owned()
}

/// `sentence_bert_config.json`.
#[derive(Default, Deserialize)]
struct SentenceConfig {
    max_seq_length: Option<usize>,
}

/// `tokenizer_config.json`.
#[derive(Default, Deserialize)]
struct TokenizerConfig {
    do_lower_case: Option<bool>,
}

/// `tokenizer.json`.
#[derive(Deserialize)]
struct TokenizerFile {
    model: TokenizerModel,
    normalizer: Option<Normalizer>,
}

#[derive(Deserialize)]
struct TokenizerModel {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    vocab: serde_json::Value,
}

#[derive(Deserialize)]
struct Normalizer {
    lowercase: Option<bool>,
}

/// An entry of `modules.json`.
#[derive(Deserialize)]
struct Module {
    #[serde(rename = "type")]
    kind: String,
}

/// `1_Pooling/config.json`.
#[derive(Default, Deserialize)]
#[serde(default)]
struct PoolingConfig {
    pooling_mode_cls_token: bool,
    pooling_mode_mean_tokens: bool,
}

/// `config_sentence_transformers.json`.
#[derive(Default, Deserialize)]
struct TransformersConfig {
    #[serde(default)]
    prompts: HashMap<String, String>,
}

/// What the files of a model say.
pub(super) struct Description {
    pub(super) shape: Shape,
    pub(super) pooling: Pooling,
    pub(super) max_tokens: usize,
    /// Text in front of a query, and in front of a document.
    pub(super) prompts: [String; 2],
}

impl Description {
    pub(super) fn read(directory: &Path) -> Result<Self, DirectoryError> {
        let config: BertConfig = required(directory.join(CONFIG))?;
        let unsupported = |what: String| Err(DirectoryError::Unsupported(what));
        if config.model_type != "bert" {
            return unsupported(format!("the type of the model is {}", config.model_type));
        }
        if config.hidden_act != "gelu" || config.position_embedding_type != "absolute" {
            return unsupported("the activation or the positions are unusual".to_owned());
        }
        if !config.layer_norm_eps.is_finite() || config.layer_norm_eps < 0.0 {
            return unsupported(format!("`layer_norm_eps` is {}", config.layer_norm_eps));
        }
        let shape = Shape {
            dimensions: config.hidden_size,
            layers: config.num_hidden_layers,
            heads: config.num_attention_heads,
            intermediate: config.intermediate_size,
            epsilon: config.layer_norm_eps,
        };
        if !Shape::HEAD_SIZES.contains(&shape.head_size()) || !shape.dimensions.is_multiple_of(shape.heads) {
            return unsupported(format!("the attention heads have {} dimensions", shape.head_size()));
        }
        let modules: Vec<Module> = optional(directory.join("modules.json"))?.unwrap_or_default();
        let is_known = |module: &&Module| {
            ["Transformer", "Pooling", "Normalize"].iter().any(|known| module.kind.ends_with(known))
        };
        if let Some(module) = modules.iter().find(|module| !is_known(module)) {
            return unsupported(format!("the model has a part of the type {}", module.kind));
        }
        let pooling = match optional::<PoolingConfig>(directory.join("1_Pooling/config.json"))? {
            None => Pooling::Mean,
            Some(PoolingConfig { pooling_mode_mean_tokens: true, pooling_mode_cls_token: false }) => {
                Pooling::Mean
            }
            Some(PoolingConfig { pooling_mode_cls_token: true, pooling_mode_mean_tokens: false }) => {
                Pooling::First
            }
            Some(_) => return unsupported("the pooling is neither the mean nor the first token".to_owned()),
        };
        let sentences: SentenceConfig =
            optional(directory.join("sentence_bert_config.json"))?.unwrap_or_default();
        let transformers: TransformersConfig =
            optional(directory.join("config_sentence_transformers.json"))?.unwrap_or_default();
        let prompt = |names: &[&str]| {
            let found = names.iter().find_map(|name| transformers.prompts.get(*name));
            found.cloned().unwrap_or_default()
        };
        let longest = config.max_position_embeddings;
        Ok(Self {
            shape,
            pooling,
            max_tokens: sentences.max_seq_length.map_or(longest, |length| length.min(longest)).max(8),
            prompts: [prompt(&["query"]), prompt(&["document", "passage"])],
        })
    }

    /// Reads the vocabulary.
    pub(super) fn read_tokens(&self, directory: &Path) -> Result<Tokens, DirectoryError> {
        let tokenizer: Option<TokenizerFile> = optional(directory.join(TOKENIZER))?;
        if let Some(tokenizer) = tokenizer.as_ref().filter(|tokenizer| tokenizer.model.kind != "WordPiece") {
            let kind = &tokenizer.model.kind;
            return Err(DirectoryError::Unsupported(format!("the tokenizer is of the type {kind}")));
        }
        let config: TokenizerConfig = optional(directory.join("tokenizer_config.json"))?.unwrap_or_default();
        let normalizer = tokenizer.as_ref().and_then(|tokenizer| tokenizer.normalizer.as_ref()?.lowercase);
        let is_uncased = normalizer.or(config.do_lower_case).unwrap_or(true);
        let path = directory.join(VOCABULARY);
        let ids: HashMap<String, u32> = match (fs::read_to_string(&path), tokenizer) {
            (Ok(text), _) => text.lines().map(str::to_owned).zip(0..).collect(),
            (Err(_), Some(tokenizer)) => serde_json::from_value(tokenizer.model.vocab)
                .map_err(|source| DirectoryError::Invalid { path: directory.join(TOKENIZER), source })?,
            (Err(source), None) => return Err(DirectoryError::Unreadable { path, source }),
        };
        Ok(Tokens::new(Vocabulary::Read(ids), is_uncased, self.max_tokens)?)
    }
}

fn required<T: DeserializeOwned>(path: PathBuf) -> Result<T, DirectoryError> {
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(source) => return Err(DirectoryError::Unreadable { path, source }),
    };
    serde_json::from_slice(&bytes).map_err(|source| DirectoryError::Invalid { path, source })
}

fn optional<T: DeserializeOwned>(path: PathBuf) -> Result<Option<T>, DirectoryError> {
    match required(path) {
        Ok(value) => Ok(Some(value)),
        Err(DirectoryError::Unreadable { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
