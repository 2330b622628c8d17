//! Windows of several topics, made of messages on each, against posts on all of them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use memoir_core::{Document, DocumentKind, SystemClock, TimeZone, Timestamp, Usage, Usd};
use memoir_embed::LocalEmbedder;
use memoir_models::{EmbedTask, EmbeddedTexts, Embedder, ModelError};
use memoir_recall::{Recall, RecallSettings, WindowMessage, chunk};
use memoir_store::{Documents as _, NewDocument};
use memoir_store_sqlite::SqliteStore;
use serde::Deserialize;

/// The made set.
#[derive(Debug, Deserialize)]
pub(crate) struct Set {
    /// Its topics.
    pub(crate) topics: Vec<Topic>,
}

/// One topic: posts on it, and what people say about it.
#[derive(Debug, Deserialize)]
pub(crate) struct Topic {
    /// Its name.
    pub(crate) name: String,
    /// Posts.
    pub(crate) posts: Vec<Post>,
    /// What people say.
    pub(crate) messages: Vec<String>,
}

/// A post.
#[derive(Debug, Deserialize)]
pub(crate) struct Post {
    /// Its title.
    pub(crate) title: String,
    /// What it says.
    pub(crate) text: String,
}

impl Set {
    /// The set that is kept beside this crate.
    pub(crate) fn load() -> Self {
        serde_json::from_str(include_str!("../../eval/topics.json")).unwrap()
    }

    /// A topic by its name.
    pub(crate) fn topic(&self, name: &str) -> usize {
        self.topics.iter().position(|topic| topic.name == name).unwrap()
    }

    /// A window in which so many messages on each of some topics follow each other.
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

    /// A memory with all posts in it, each tagged with its topic's number.
    pub(crate) async fn library(&self, folder: &std::path::Path, embedder: Arc<dyn Embedder>) -> Recall {
        let store = SqliteStore::open(&folder.join("memoir.db")).await.unwrap();
        let recall = Recall::new(Arc::new(store.clone()), embedder, Arc::new(SystemClock), TimeZone::UTC);
        let size = recall.settings.chunk_size();
        for (number, topic) in self.topics.iter().enumerate() {
            for (place, post) in topic.posts.iter().enumerate() {
                let new = NewDocument {
                    slug: format!("{}-{place}", topic.name),
                    title: post.title.clone(),
                    date: "2025-01-01".into(),
                    tags: vec![number.to_string()],
                    kind: DocumentKind::Post,
                    source: format!("{}-{place}", topic.name),
                    hash: format!("{number}-{place}"),
                    text: post.text.clone(),
                    written_from: Vec::new(),
                };
                store
                    .put_document(&new, &move |text| chunk(text, size), Timestamp::from_millis(0))
                    .await
                    .unwrap();
            }
        }
        embed_all(&recall).await;
        recall
    }
}

/// Gives all chunks their vectors.
pub(crate) async fn embed_all(recall: &Recall) {
    for document in recall.store.documents().await.unwrap() {
        embed(recall, &document).await;
    }
}

async fn embed(recall: &Recall, document: &Document) {
    let chunks = recall.store.chunks_of(document.id).await.unwrap();
    let subjects: Vec<_> = chunks
        .iter()
        .map(|chunk| memoir_core::Subject::new(memoir_core::SubjectKind::Chunk, chunk.id.get()))
        .collect();
    recall.embed(&recall.store.embeddable_texts(&subjects).await.unwrap()).await.unwrap();
}

/// The topics that some documents are on.
pub(crate) fn topics_of(documents: &[memoir_core::DocumentPassage]) -> Vec<usize> {
    documents.iter().map(|passage| passage.document.tags[0].parse().unwrap()).collect()
}

/// The same texts are embedded once, however often they are asked about.
pub(crate) struct Remembering {
    inner: Arc<dyn Embedder>,
    known: Mutex<HashMap<String, Vec<f32>>>,
}

#[async_trait]
impl Embedder for Remembering {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn dimensions(&self) -> Option<usize> {
        self.inner.dimensions()
    }

    async fn embed(&self, texts: &[String], task: EmbedTask) -> Result<EmbeddedTexts, ModelError> {
        let unknown: Vec<String> = {
            let known = self.known.lock().unwrap();
            texts.iter().filter(|text| !known.contains_key(*text)).cloned().collect()
        };
        let vectors = self.inner.embed(&unknown, task).await?.vectors;
        let mut known = self.known.lock().unwrap();
        known.extend(unknown.into_iter().zip(vectors));
        let vectors = texts.iter().map(|text| known[text].clone()).collect();
        Ok(EmbeddedTexts { vectors, usage: Usage::default() })
    }

    fn cost(&self, _usage: &Usage) -> Option<Usd> {
        Some(Usd::ZERO)
    }

    fn reads(&self) -> usize {
        self.inner.reads()
    }

    fn is_local(&self) -> bool {
        true
    }
}

impl Remembering {
    /// The compiled-in model.
    pub(crate) fn real() -> Arc<dyn Embedder> {
        Arc::new(Self { inner: Arc::new(LocalEmbedder), known: Mutex::default() })
    }
}

/// The same memory, asked in another way.
pub(crate) fn with(recall: &Recall, settings: RecallSettings) -> Recall {
    let mut recall = recall.clone();
    recall.settings = settings;
    recall
}
