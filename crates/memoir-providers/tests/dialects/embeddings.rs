//! Tests of embedding models.

use memoir_core::Usd;
use memoir_models::{Catalog, EmbedTask, Embedder, ModelError};
use memoir_providers::{Endpoint, RemoteEmbedder};
use memoir_testkit::{EMBEDDING_DIMENSIONS, Reply, ScriptedProvider};
use secrecy::SecretString;

use crate::{KEY, name};

const EMBEDDERS: [&str; 3] =
    ["openai/text-embedding-3-small", "google/gemini-embedding-001", "openai-compatible/nomic-embed"];

fn embedder(model: &str, provider: &ScriptedProvider) -> RemoteEmbedder {
    let name = name(model);
    let endpoint = Endpoint::new(name.provider, provider.root_url(), Some(SecretString::from(KEY))).unwrap();
    let info = Catalog::built_in().unwrap().embedding(&name).cloned();
    RemoteEmbedder::new(&name, &endpoint, info).unwrap()
}

#[tokio::test]
async fn texts_are_sent_in_batches_of_100_and_keep_their_order() {
    for each in EMBEDDERS {
        let provider = ScriptedProvider::start([]);
        let texts: Vec<String> = (0..250).map(|number| "x".repeat(number + 1)).collect();
        let embedded = embedder(each, &provider).embed(&texts, EmbedTask::Document).await.unwrap();
        assert_eq!(embedded.vectors.len(), 250, "{each}");
        for (index, vector) in embedded.vectors.iter().enumerate() {
            assert_eq!(vector.len(), EMBEDDING_DIMENSIONS, "{each}");
            let text_length = vector[0] / vector[1] * f32::from(b'x');
            assert_eq!(
                text_length.round(),
                (index + 1) as f32,
                "{each}: the vector encodes its text's length"
            );
            let norm: f32 = vector.iter().map(|value| value * value).sum();
            assert!((norm - 1.0).abs() < 1e-4, "{each}: unit length");
        }
        assert_eq!(provider.other_requests().len(), 3, "{each}");
        assert!(embedded.usage.input_tokens > 0, "{each}");
    }
}

#[tokio::test]
async fn gemini_receives_the_task_type() {
    let provider = ScriptedProvider::start([]);
    let embedder = embedder("google/gemini-embedding-001", &provider);
    embedder.embed(&["q".into()], EmbedTask::Query).await.unwrap();
    embedder.embed(&["d".into()], EmbedTask::Document).await.unwrap();
    let kinds: Vec<_> = provider
        .other_requests()
        .iter()
        .map(|request| request.body["requests"][0]["taskType"].clone())
        .collect();
    assert_eq!(kinds, ["RETRIEVAL_QUERY", "RETRIEVAL_DOCUMENT"]);
}

#[tokio::test]
async fn embedders_report_dimensions_and_cost() {
    let provider = ScriptedProvider::start([]);
    let embedder = embedder("openai/text-embedding-3-small", &provider);
    assert_eq!(embedder.dimensions(), Some(1536));
    let embedded = embedder.embed(&vec!["x".into(); 100], EmbedTask::Document).await.unwrap();
    // 700 tokens at 0.02 dollars per million.
    assert_eq!(embedder.cost(&embedded.usage), Some(Usd::from_nanos(14_000)));
}

#[tokio::test]
async fn a_failing_batch_fails_the_whole_call() {
    for each in EMBEDDERS {
        let provider = ScriptedProvider::start([Reply::status(429, "slow")]);
        let error = embedder(each, &provider).embed(&["x".into()], EmbedTask::Query).await.unwrap_err();
        assert!(matches!(error, ModelError::RateLimited { .. }), "{each}: {error:?}");
    }
}
