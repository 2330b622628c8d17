//! Tests the search for documents related to a conversation, with the built-in embedding model.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

mod topics;

use memoir_recall::{Dedup, RecallSettings, RelatedDocumentsError};
use topics::{CachingEmbedder, TopicSet, topics_of, with_settings};

/// 500 messages on travel, debugging and recipes.
#[tokio::test]
async fn a_query_per_chunk_finds_all_three_topics_where_a_single_query_misses_some() {
    let set = TopicSet::load();
    let directory = tempfile::tempdir().unwrap();
    let recall = set.library(directory.path(), CachingEmbedder::local()).await;
    let [travel, debugging, recipes] =
        ["paris-trip", "debugging-rust", "recipes-baking"].map(|name| set.topic(name));
    let window = set.window(&[(travel, 150), (debugging, 150), (recipes, 200)]);
    let search = async |settings: RecallSettings| {
        let recall = with_settings(&recall, settings);
        let related = recall.find_related_documents(&window).await.unwrap();
        (topics_of(&related.documents), related.log)
    };
    let covers = |topics: &[usize]| [travel, debugging, recipes].map(|topic| topics.contains(&topic));

    let (single, log) =
        search(RecallSettings { chunk_from_messages: 1000, ..RecallSettings::default() }).await;
    assert_ne!(covers(&single), [true; 3], "a single query blurs the topics: {single:?}");
    assert!(log[1].starts_with("Fewer than 1000 messages"), "{log:?}");

    for settings in [
        RecallSettings { hybrid: false, ..RecallSettings::default() },
        RecallSettings::default(),
        RecallSettings { mmr_lambda: 0.5, ..RecallSettings::default() },
        RecallSettings { dedup_strategy: Dedup::Semantic, mmr_lambda: 0.7, ..RecallSettings::default() },
    ] {
        let (chunked, log) = search(settings.clone()).await;
        assert_eq!(covers(&chunked), [true; 3], "{settings:?}: {chunked:?} {log:?}");
        assert!(chunked.len() <= 5);
    }
    let (_, log) = search(RecallSettings::default()).await;
    assert!(
        log[0].starts_with("Chunked conversation into ") && log[0].ends_with(" chunks for RAG query"),
        "{log:?}"
    );
    assert!(log[2].starts_with("Collected ") && log[3].starts_with("Deduplication: "), "{log:?}");
    assert!(log[4].starts_with("RAG query complete: ") && log[4].ends_with(" 5 final"), "{log:?}");
}

#[tokio::test]
async fn no_related_documents_are_no_hits_and_a_failing_embedder_is_a_system_error() {
    struct BrokenEmbedder;

    #[async_trait::async_trait]
    impl memoir_models::Embedder for BrokenEmbedder {
        fn name(&self) -> &str {
            "broken/model"
        }
        fn dimensions(&self) -> Option<usize> {
            None
        }
        async fn embed(
            &self,
            _texts: &[String],
            _task: memoir_models::EmbedTask,
        ) -> Result<memoir_models::EmbeddedTexts, memoir_models::ModelError> {
            Err(memoir_models::ModelError::Empty)
        }
        fn cost(&self, _usage: &memoir_core::Usage) -> Option<memoir_core::Usd> {
            None
        }
    }

    let set = TopicSet::load();
    let directory = tempfile::tempdir().unwrap();
    let empty = TopicSet { topics: Vec::new() }.library(directory.path(), CachingEmbedder::local()).await;
    let window = set.window(&[(0, 20)]);
    assert!(matches!(empty.find_related_documents(&window).await, Err(RelatedDocumentsError::NoHits { .. })));
    assert!(matches!(empty.find_related_documents(&[]).await, Err(RelatedDocumentsError::NoHits { .. })));
    let mut broken = empty.clone();
    broken.embedder = std::sync::Arc::new(BrokenEmbedder);
    assert!(matches!(
        broken.find_related_documents(&window).await,
        Err(RelatedDocumentsError::SystemError(_))
    ));
}
