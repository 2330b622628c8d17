//! Test data: message windows on several topics, and a library of posts on all topics.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use memoir_core::{Document, DocumentKind, SystemClock, TimeZone, Timestamp, Usage, Usd};
use memoir_embed::LocalEmbedder;
use memoir_models::{EmbedTask, EmbeddedTexts, Embedder, ModelError};
use memoir_recall::{Recall, RecallSettings, WindowMessage, split_into_chunks};
use memoir_store::{Documents as _, NewDocument};
use memoir_store_sqlite::SqliteStore;
use serde::Deserialize;

/// The topics in `eval/topics.json`.
#[derive(Debug, Deserialize)]
pub(crate) struct TopicSet {
    pub(crate) topics: Vec<Topic>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Topic {
    pub(crate) name: String,
    pub(crate) posts: Vec<Post>,
    pub(crate) messages: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Post {
    pub(crate) title: String,
    pub(crate) text: String,
}

impl TopicSet {
    pub(crate) fn load() -> Self {
        serde_json::from_str(include_str!("../../eval/topics.json")).unwrap()
    }

    pub(crate) fn topic(&self, name: &str) -> usize {
        self.topics.iter().position(|topic| topic.name == name).unwrap()
    }

    /// Returns a window of messages. Each part is a topic and the number of messages about it.
    pub(crate) fn window(&self, parts: &[(usize, usize)]) -> Vec<WindowMessage> {
        let mut window = Vec::new();
        for (topic, count) in parts {
            let messages = self.topics[*topic].messages.iter().cycle().take(*count);
            for text in messages {
                let minute = i64::try_from(window.len()).unwrap();
                window.push(WindowMessage {
                    author: if minute % 3 == 0 { "Anna".into() } else { "Ben".into() },
                    created: Timestamp::from_millis(1_736_900_000_000 + minute * 60_000),
                    text: text.clone(),
                });
            }
        }
        window
    }

    /// Stores all posts as embedded documents, each tagged with the index of its topic.
    pub(crate) async fn library(&self, directory: &std::path::Path, embedder: Arc<dyn Embedder>) -> Recall {
        let store = SqliteStore::open(&directory.join("memoir.db")).await.unwrap();
        let recall = Recall::new(Arc::new(store.clone()), embedder, Arc::new(SystemClock), TimeZone::UTC);
        let size = recall.settings.chunk_size();
        for (number, topic) in self.topics.iter().enumerate() {
            for (index, post) in topic.posts.iter().enumerate() {
                let new = NewDocument {
                    slug: format!("{}-{index}", topic.name),
                    title: post.title.clone(),
                    date: "2025-01-01".into(),
                    tags: vec![number.to_string()],
                    kind: DocumentKind::Post,
                    source: format!("{}-{index}", topic.name),
                    hash: format!("{number}-{index}"),
                    text: post.text.clone(),
                    written_from: Vec::new(),
                };
                store
                    .put_document(&new, &move |text| split_into_chunks(text, size), Timestamp::from_millis(0))
                    .await
                    .unwrap();
            }
        }
        embed_all(&recall).await;
        recall
    }
}

pub(crate) async fn embed_all(recall: &Recall) {
    for document in recall.store.documents().await.unwrap() {
        embed(recall, &document).await;
    }
}

async fn embed(recall: &Recall, document: &Document) {
    let chunks = recall.store.document_chunks(document.id).await.unwrap();
    let subjects: Vec<_> = chunks
        .iter()
        .map(|chunk| memoir_core::Subject::new(memoir_core::SubjectKind::Chunk, chunk.id.get()))
        .collect();
    recall.embed(&recall.store.embeddable_texts(&subjects).await.unwrap()).await.unwrap();
}

pub(crate) fn topics_of(documents: &[memoir_core::DocumentPassage]) -> Vec<usize> {
    documents.iter().map(|passage| passage.document.tags[0].parse().unwrap()).collect()
}

/// Embeds each text once and caches the result.
pub(crate) struct CachingEmbedder {
    inner: Arc<dyn Embedder>,
    cache: Mutex<HashMap<String, Vec<f32>>>,
}

#[async_trait]
impl Embedder for CachingEmbedder {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn dimensions(&self) -> Option<usize> {
        self.inner.dimensions()
    }

    async fn embed(&self, texts: &[String], task: EmbedTask) -> Result<EmbeddedTexts, ModelError> {
        let missing: Vec<String> = {
            let cache = self.cache.lock().unwrap();
            texts.iter().filter(|text| !cache.contains_key(*text)).cloned().collect()
        };
        let vectors = self.inner.embed(&missing, task).await?.vectors;
        let mut cache = self.cache.lock().unwrap();
        cache.extend(missing.into_iter().zip(vectors));
        let vectors = texts.iter().map(|text| cache[text].clone()).collect();
        Ok(EmbeddedTexts { vectors, usage: Usage::default() })
    }

    fn cost(&self, _usage: &Usage) -> Option<Usd> {
        Some(Usd::ZERO)
    }

    fn max_tokens(&self) -> usize {
        self.inner.max_tokens()
    }

    fn is_local(&self) -> bool {
        true
    }

    fn unrelated_cosines(&self) -> Option<(f64, f64)> {
        self.inner.unrelated_cosines()
    }
}

impl CachingEmbedder {
    pub(crate) fn local() -> Arc<dyn Embedder> {
        Arc::new(Self { inner: Arc::new(LocalEmbedder), cache: Mutex::default() })
    }
}

pub(crate) fn with_settings(recall: &Recall, settings: RecallSettings) -> Recall {
    let mut recall = recall.clone();
    recall.settings = settings;
    recall
}
