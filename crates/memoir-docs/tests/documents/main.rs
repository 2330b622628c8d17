//! Documents and what is related to a talk, with the real embedding model.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

mod topics;

use memoir_recall::{Dedup, RecallSettings, RelatedDocumentsError};
use topics::{Remembering, Set, topics_of, with};

/// The case of the seed: 500 messages on travel, debugging and recipes.
#[tokio::test]
async fn of_three_topics_in_one_window_one_query_misses_some_and_chunks_find_all() {
    let set = Set::load();
    let folder = tempfile::tempdir().unwrap();
    let recall = set.library(folder.path(), Remembering::real()).await;
    let [travel, debugging, recipes] =
        ["paris-trip", "debugging-rust", "recipes-baking"].map(|name| set.topic(name));
    let window = set.window(&[(travel, 150), (debugging, 150), (recipes, 200)]);
    let ask = async |settings: RecallSettings| {
        let recall = with(&recall, settings);
        let related = recall.related(&window).await.unwrap();
        (topics_of(&related.documents), related.log)
    };
    let has = |found: &[usize]| [travel, debugging, recipes].map(|topic| found.contains(&topic));

    let (single, log) = ask(RecallSettings { chunk_from_messages: 1000, ..RecallSettings::default() }).await;
    assert_ne!(has(&single), [true; 3], "one query has one meaning: {single:?}");
    assert!(log[1].starts_with("Fewer than 1000 messages"), "{log:?}");

    for settings in [
        RecallSettings { hybrid: false, ..RecallSettings::default() },
        RecallSettings::default(),
        RecallSettings { mmr_lambda: 0.5, ..RecallSettings::default() },
        RecallSettings { dedup_strategy: Dedup::Semantic, mmr_lambda: 0.7, ..RecallSettings::default() },
    ] {
        let (chunked, log) = ask(settings.clone()).await;
        assert_eq!(has(&chunked), [true; 3], "{settings:?}: {chunked:?} {log:?}");
        assert!(chunked.len() <= 5);
    }
    let (_, log) = ask(RecallSettings::default()).await;
    assert!(
        log[0].starts_with("Chunked conversation into ") && log[0].ends_with(" chunks for RAG query"),
        "{log:?}"
    );
    assert!(log[2].starts_with("Collected ") && log[3].starts_with("Deduplication: "), "{log:?}");
    assert!(log[4].starts_with("RAG query complete: ") && log[4].ends_with(" 5 final"), "{log:?}");
}

#[tokio::test]
async fn nothing_related_is_no_hits_and_a_failing_model_a_system_error() {
    struct Broken;

    #[async_trait::async_trait]
    impl memoir_models::Embedder for Broken {
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

    let set = Set::load();
    let folder = tempfile::tempdir().unwrap();
    let empty = Set { topics: Vec::new() }.library(folder.path(), Remembering::real()).await;
    let window = set.window(&[(0, 20)]);
    assert!(matches!(empty.related(&window).await, Err(RelatedDocumentsError::NoHits { .. })));
    assert!(matches!(empty.related(&[]).await, Err(RelatedDocumentsError::NoHits { .. })));
    let mut broken = empty.clone();
    broken.embedder = std::sync::Arc::new(Broken);
    assert!(matches!(broken.related(&window).await, Err(RelatedDocumentsError::SystemError(_))));
}
