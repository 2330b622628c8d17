//! Models in a directory.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

use std::{
    fs,
    path::{Path, PathBuf},
};

use memoir_embed::DirectoryEmbedder;
use memoir_models::{EmbedTask, Embedder as _};
use serde_json::{Value, json};
use tempfile::TempDir;

fn tiny() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tiny")
}

/// Returns a copy of the tiny model whose file `name` is changed.
fn changed(name: &str, change: impl Fn(&mut Value)) -> TempDir {
    let copy = TempDir::new().unwrap();
    fs::create_dir(copy.path().join("1_Pooling")).unwrap();
    for entry in fs::read_dir(tiny()).unwrap().chain(fs::read_dir(tiny().join("1_Pooling")).unwrap()) {
        let path = entry.unwrap().path();
        if path.is_file() {
            fs::copy(&path, copy.path().join(path.strip_prefix(tiny()).unwrap())).unwrap();
        }
    }
    let path = copy.path().join(name);
    let mut value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut value);
    fs::write(path, value.to_string()).unwrap();
    copy
}

fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

#[tokio::test]
async fn embeddings_agree_with_32_bit_arithmetic() {
    let embedder = DirectoryEmbedder::open(&tiny()).unwrap();
    let expected: Value = serde_json::from_slice(&fs::read(tiny().join("expected.json")).unwrap()).unwrap();
    let sentences: Vec<String> = serde_json::from_value(expected["sentences"].clone()).unwrap();
    let vectors: Vec<Vec<f32>> = serde_json::from_value(expected["embeddings"].clone()).unwrap();
    let queries = embedder.embed(&sentences, EmbedTask::Query).await.unwrap().vectors;
    let documents = embedder.embed(&sentences, EmbedTask::Document).await.unwrap().vectors;
    for (index, sentence) in sentences.iter().enumerate() {
        let (query, document) = (&vectors[2 * index], &vectors[2 * index + 1]);
        let cosines = [cosine(&queries[index], query), cosine(&documents[index], document)];
        assert!(cosines.iter().all(|cosine| *cosine > 0.995), "{cosines:?} for {sentence:?}");
        assert!(
            cosines[0] > cosine(&queries[index], document),
            "the prompts make a difference for {sentence:?}"
        );
    }
    assert_eq!((embedder.dimensions(), embedder.max_tokens()), (Some(128), 15));
    assert_eq!(embedder.count_tokens("my flowers"), 5, "my, flower, ##s and two special tokens");
}

#[test]
fn the_name_changes_with_the_files() {
    let original = DirectoryEmbedder::open(&tiny()).unwrap();
    assert!(original.name().starts_with("directory/tiny-") && original.name().len() == 23);
    let fingerprint = |directory: &Path| {
        let embedder = DirectoryEmbedder::open(directory).unwrap();
        embedder.name().rsplit('-').next().unwrap().to_owned()
    };
    let copy = changed("sentence_bert_config.json", |config| config["max_seq_length"] = json!(16));
    assert!(!original.name().ends_with(&fingerprint(copy.path())));
    let before = fingerprint(copy.path());
    let weights = copy.path().join("model.safetensors");
    let mut bytes = fs::read(&weights).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&weights, bytes).unwrap();
    assert_ne!(before, fingerprint(copy.path()));
}

#[test]
fn other_models_are_refused_in_one_sentence() {
    let refuse = |name: &str, change: fn(&mut Value)| {
        let copy = changed(name, change);
        let opened = DirectoryEmbedder::open(copy.path());
        opened
            .map_err(|error| error.to_string())
            .and_then(|embedder| embedder.load().map_err(|error| error.to_string()))
    };
    for (name, change, expected) in [
        (
            "config.json",
            (|config| config["model_type"] = json!("xlm-roberta")) as fn(&mut Value),
            "the type of the model is xlm-roberta; only models with the architecture of BERT can be used",
        ),
        ("config.json", |config| config["hidden_act"] = json!("relu"), "the activation or the positions"),
        ("config.json", |config| config["num_attention_heads"] = json!(8), "heads have 16 dimensions"),
        ("config.json", |config| config["num_hidden_layers"] = json!(3), "no tensor encoder.layer.1."),
        ("config.json", |config| config["intermediate_size"] = json!(256), "has the wrong shape"),
        ("config.json", |config| config["layer_norm_eps"] = json!(-1e9), "`layer_norm_eps` is"),
        ("config.json", |config| *config = json!([]), "is not as expected"),
        ("tokenizer.json", |file| file["model"]["vocab"]["new"] = json!(9999), "do not fit its weights"),
        ("tokenizer.json", |file| file["model"]["type"] = json!("BPE"), "the tokenizer is of the type BPE"),
        (
            "1_Pooling/config.json",
            |config| config["pooling_mode_cls_token"] = json!(false),
            "neither the mean nor the first token",
        ),
    ] {
        let error = refuse(name, change).unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    let empty = TempDir::new().unwrap();
    let error = DirectoryEmbedder::open(empty.path()).err().unwrap().to_string();
    assert!(error.contains("config.json cannot be read"), "{error}");
}
