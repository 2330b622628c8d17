//! Checks for documents, transcripts and imports.

use std::sync::Arc;

use memoir_core::{DocumentKind, NewConversation, Subject, SubjectKind, WorkerKind};

use super::{exchange, new_conversation, timestamp};
use crate::{
    Accuracy, ChunkSearch, ChunkSpan, ChunkVectors, Claim, DocumentFilter, EmbeddingSelection, NewDocument,
    NewImport, SearchEffort, Span, Store, StoreError,
};

const MODEL: &str = "test/model";

pub(super) fn document(source: &str, slug: &str, text: &str) -> NewDocument {
    NewDocument {
        slug: slug.into(),
        title: format!("About {slug}"),
        date: "2025-03-04".into(),
        tags: vec!["one".into(), "two, three".into()],
        kind: DocumentKind::File,
        source: source.into(),
        hash: format!("hash of {text}"),
        text: text.into(),
        written_from: Vec::new(),
    }
}

/// Splits a text into one chunk per line.
pub(super) fn lines(text: &str) -> Vec<ChunkSpan> {
    let mut end = 0;
    let lines = text.split_inclusive('\n');
    lines
        .map(|line| {
            let start = end;
            end += line.len();
            ChunkSpan { new: start..end, overlap: 0, tokens: 3 }
        })
        .collect()
}

/// A filter that excludes nothing.
static ALL: std::sync::LazyLock<DocumentFilter> = std::sync::LazyLock::new(DocumentFilter::default);

pub(super) fn search(vector: &[f32], limit: usize) -> ChunkSearch<'_> {
    ChunkSearch { model: MODEL, vector, effort: SearchEffort::default(), filter: &ALL, limit }
}

async fn texts(store: &dyn Store, slug: &str) -> Vec<String> {
    let document = store.document(slug).await.unwrap().unwrap();
    store.document_chunks(document.id).await.unwrap().into_iter().map(|chunk| chunk.text).collect()
}

/// Stores two embeddings for each chunk of a document: a distant one, and the one from `vectors`.
pub(super) async fn embed_chunks(store: &dyn Store, slug: &str, vectors: &[[f32; 2]]) {
    let document = store.document(slug).await.unwrap().unwrap();
    let chunks = store.document_chunks(document.id).await.unwrap();
    let vectors: Vec<ChunkVectors> = chunks
        .iter()
        .zip(vectors)
        .map(|(chunk, vector)| ChunkVectors {
            chunk_id: chunk.id,
            parts: vec![(0..1, vec![0.0, -1.0]), (1..2, vector.to_vec())],
        })
        .collect();
    store.put_chunk_vectors(MODEL, &vectors).await.unwrap();
}

pub async fn document_is_stored_changed_and_deleted(store: Arc<dyn Store>) {
    let chunk: &crate::Chunker = &lines;
    let first =
        store.put_document(&document("/a", "rain", "one\ntwo\nthree"), chunk, timestamp(1)).await.unwrap();
    assert_eq!((first.added, first.deleted), (3, 0));
    let stored = store.document("rain").await.unwrap().unwrap();
    assert_eq!((stored.id, stored.chunks, stored.tokens), (first.id, 3, 9));
    assert_eq!(
        (stored.date.as_str(), stored.tags.as_slice()),
        ("2025-03-04", ["one".to_owned(), "two, three".into()].as_slice())
    );
    assert_eq!(
        store.document(&first.id.to_string()).await.unwrap().map(|document| document.slug),
        Some("rain".into())
    );
    assert!(
        store.document("nothing").await.unwrap().is_none() && store.document("1x").await.unwrap().is_none()
    );
    assert_eq!(texts(store.as_ref(), "rain").await, ["one\n", "two\n", "three"]);

    // Unchanged chunks of the same file keep their embeddings.
    embed_chunks(store.as_ref(), "rain", &[[1.0, 0.0], [0.0, 1.0], [0.6, 0.8]]).await;
    let second =
        store.put_document(&document("/a", "rain", "zero\ntwo\nthree"), chunk, timestamp(2)).await.unwrap();
    assert_eq!((second.id, second.added, second.deleted), (first.id, 1, 1));
    assert_eq!(texts(store.as_ref(), "rain").await, ["zero\n", "two\n", "three"]);
    let nearest = store.nearest_chunks(&search(&[0.0, 1.0], 5)).await.unwrap();
    assert_eq!(nearest.len(), 2, "the new chunk has no embedding yet");
    assert!(
        (nearest[0].score - 1.0).abs() < 0.01 && nearest[0].part == (1..2),
        "chunks are scored by their best part: {nearest:?}"
    );

    // Another document with the same name gets a number.
    store.put_document(&document("/b", "rain", "four"), chunk, timestamp(3)).await.unwrap();
    assert_eq!(texts(store.as_ref(), "rain-2").await, ["four"]);
    let similar = store.documents_like("hash of four", "/a").await.unwrap();
    assert_eq!(similar.len(), 2, "one by hash, one by path");
    store.move_document(similar[1].id, "/c").await.unwrap();
    assert_eq!(store.document("rain-2").await.unwrap().map(|document| document.source), Some("/c".into()));

    assert!(store.delete_document(first.id).await.unwrap());
    assert!(!store.delete_document(first.id).await.unwrap());
    assert!(store.nearest_chunks(&search(&[0.0, 1.0], 5)).await.unwrap().is_empty());
    let (words, total) = store.chunks_with_words(&["three".into(), "four".into()], &ALL).await.unwrap();
    let counts: Vec<usize> = words.into_iter().map(|chunks| chunks.unwrap().len()).collect();
    assert_eq!(counts, [0, 1]);
    assert!(total >= 1);
    assert_eq!(store.documents().await.unwrap().len(), 1);
}

pub async fn chunks_are_found_by_meaning_word_and_date(store: Arc<dyn Store>) {
    let chunk: &crate::Chunker = &lines;
    store
        .put_document(&document("/a", "old", "boilers boiling\nthe well"), chunk, timestamp(1))
        .await
        .unwrap();
    let newer = NewDocument { date: "2026-01-01".into(), ..document("/b", "new", "a boiler\n") };
    store.put_document(&newer, chunk, timestamp(1)).await.unwrap();
    embed_chunks(store.as_ref(), "old", &[[1.0, 0.0], [0.0, 1.0]]).await;
    embed_chunks(store.as_ref(), "new", &[[0.6, 0.8]]).await;
    let slugs = async |search: ChunkSearch<'_>| {
        let matches = store.nearest_chunks(&search).await.unwrap();
        let ids: Vec<_> = matches.iter().map(|chunk| chunk.document_id).collect();
        let documents = store.documents_by_id(&ids).await.unwrap();
        let slug = |id| documents.iter().find(|document| document.id == id).unwrap().slug.clone();
        ids.into_iter().map(slug).collect::<Vec<_>>()
    };
    assert_eq!(slugs(search(&[1.0, 0.0], 2)).await, ["old", "new"]);
    for accuracy in [Accuracy::Exact, Accuracy::Approximate] {
        let effort = SearchEffort { accuracy, ..SearchEffort::default() };
        assert_eq!(slugs(ChunkSearch { effort, ..search(&[0.0, 1.0], 1) }).await, ["old"]);
    }
    let since = DocumentFilter { since: Some("2025-06-01".into()), ..DocumentFilter::default() };
    let until = DocumentFilter { until: Some("2026-01-01".into()), ..DocumentFilter::default() };
    assert_eq!(
        slugs(ChunkSearch { filter: &since, ..search(&[1.0, 0.0], 5) }).await,
        ["new"],
        "the filter applies before ranking"
    );
    assert_eq!(slugs(ChunkSearch { filter: &until, ..search(&[0.6, 0.8], 1) }).await, ["old"]);
    let (words, _) = store.chunks_with_words(&["boiler".into()], &since).await.unwrap();
    assert_eq!(words[0].as_ref().map(Vec::len), Some(1));
    // A document's date can change while its chunks stay the same.
    store
        .put_document(
            &NewDocument { date: "2026-02-02".into(), ..document("/a", "old", "boilers boiling\nthe well") },
            chunk,
            timestamp(9),
        )
        .await
        .unwrap();
    assert_eq!(slugs(ChunkSearch { filter: &since, ..search(&[1.0, 0.0], 1) }).await, ["old"]);
    assert!(
        store
            .nearest_chunks(&ChunkSearch { model: "other", ..search(&[1.0, 0.0], 5) })
            .await
            .unwrap()
            .is_empty()
    );
    let (words, total) =
        store.chunks_with_words(&["boiler".into(), "\"*(".into(), "well".into()], &ALL).await.unwrap();
    let counts: Vec<Vec<u32>> = words
        .iter()
        .map(|chunks| {
            let mut counts: Vec<u32> = chunks.iter().flatten().map(|(_, count)| *count).collect();
            counts.sort_unstable();
            counts
        })
        .collect();
    assert_eq!((counts, total), (vec![vec![1, 1], vec![], vec![1]], 3), "words are stemmed");
}

pub async fn chunks_are_embedded_once(store: Arc<dyn Store>) {
    store.put_document(&document("/a", "a", "one\ntwo"), &lines, timestamp(1)).await.unwrap();
    let embeddable = EmbeddingSelection { model: MODEL, min_tokens: 10 };
    let count = async || store.unembedded_count(SubjectKind::Chunk, &embeddable).await.unwrap();
    assert_eq!(count().await, 2);
    let claim = Claim {
        worker: WorkerKind::EmbeddingGenerator,
        subject_kind: Some(SubjectKind::Chunk),
        excluded_conversation: None,
        with_model: false,
        embeddable,
        owner: "me",
        now: timestamp(10),
        until: timestamp(1000),
    };
    let jobs = store.claim(&claim, 10).await.unwrap();
    assert_eq!(jobs.len(), 2);
    assert!(
        store.claim(&Claim { owner: "you", ..claim }, 10).await.unwrap().is_empty(),
        "the jobs are leased"
    );
    let subjects: Vec<Subject> = jobs.iter().map(|job| job.subject).collect();
    let texts = store.embeddable_texts(&subjects).await.unwrap();
    assert!(
        texts.iter().all(|text| text.author.as_deref() == Some("About a") && text.conversation_id.is_none())
    );
    embed_chunks(store.as_ref(), "a", &[[1.0, 0.0], [0.0, 1.0]]).await;
    assert_eq!(count().await, 0);
    assert!(store.claim(&claim, 10).await.unwrap().is_empty());
    embed_chunks(store.as_ref(), "a", &[[0.0, 1.0], [1.0, 0.0]]).await;
    let nearest = store.nearest_chunks(&search(&[1.0, 0.0], 1)).await.unwrap();
    let document = store.document("a").await.unwrap().unwrap();
    let chunks = store.document_chunks(document.id).await.unwrap();
    assert_eq!(nearest[0].chunk_id, chunks[0].id, "existing embeddings are not replaced");
    assert_eq!(store.unembedded_chunk_count(document.id, MODEL).await.unwrap(), 0);
    assert_eq!(store.delete_chunk_vectors(document.id).await.unwrap(), 4);
    assert_eq!(store.unembedded_chunk_count(document.id, MODEL).await.unwrap(), 2);
    assert_eq!(count().await, 2, "both chunks are to be embedded again");
    assert_eq!(store.delete_embeddings().await.unwrap(), 0);
}

pub async fn transcript_is_selected_by_conversation_and_time(store: Arc<dyn Store>) {
    let target = new_conversation("t", "/p");
    let first = store.commit_exchange(&target, &exchange("one", "two", 1_000)).await.unwrap().conversation_id;
    store.commit_exchange(&target, &exchange("three", "four", 5_000)).await.unwrap();
    let texts = async |span: Span| -> Vec<String> {
        store.transcript(&span, 100).await.unwrap().into_iter().map(|message| message.text).collect()
    };
    assert_eq!(texts(Span::default()).await, ["one", "two", "three", "four"]);
    let within_first = Span { conversation: Some(first), ..Span::default() };
    assert_eq!(texts(within_first).await, ["one", "two"]);
    assert_eq!(texts(Span { since: Some(timestamp(4_000)), ..Span::default() }).await, ["three", "four"]);
    assert!(texts(Span { until: Some(timestamp(1_000)), ..within_first }).await.is_empty());
    assert_eq!(store.transcript(&Span::default(), 1).await.unwrap().len(), 1);
}

pub async fn posts_are_limited_to_their_project(store: Arc<dyn Store>) {
    let here = store.commit_exchange(&new_conversation("here", "/p"), &exchange("a", "b", 1)).await.unwrap();
    let there =
        store.commit_exchange(&new_conversation("there", "/q"), &exchange("a", "b", 1)).await.unwrap();
    for (slug, written_from) in
        [("here", vec![here.conversation_id]), ("there", vec![there.conversation_id]), ("file", vec![])]
    {
        let new = NewDocument { written_from, ..document(slug, slug, "the same words") };
        store.put_document(&new, &lines, timestamp(1)).await.unwrap();
        embed_chunks(store.as_ref(), slug, &[[1.0, 0.0]]).await;
    }
    let filter = DocumentFilter { scope: Some("/p".into()), ..DocumentFilter::default() };
    let nearest =
        store.nearest_chunks(&ChunkSearch { filter: &filter, ..search(&[1.0, 0.0], 5) }).await.unwrap();
    assert_eq!(nearest.len(), 2, "posts of another project are excluded");
    let (words, _) = store.chunks_with_words(&["same".into()], &filter).await.unwrap();
    assert_eq!(words[0].as_ref().map(Vec::len), Some(2));
}

pub async fn repeated_import_continues_the_conversation(store: Arc<dyn Store>) {
    let conversation = NewConversation { title: "Anna".into(), scope: "whatsapp".into() };
    let drafts = [exchange("hello", "hi", 1_000), exchange("well?", "well", 2_000)];
    let new = NewImport {
        origin: "x/1",
        conversation: &conversation,
        previous: None,
        last_seen: None,
        exchanges: &drafts[..1],
        messages: 2,
        checksum: "a",
        through: None,
    };
    assert!(store.imports("x/").await.unwrap().is_empty());
    let id = store.put_import(&new).await.unwrap().unwrap();
    assert_eq!(store.put_import(&new).await.unwrap(), None, "the progress is outdated");
    let more =
        NewImport { previous: Some((2, "a")), exchanges: &drafts[1..], messages: 4, checksum: "b", ..new };
    let result = store.put_import(&more).await;
    assert!(
        matches!(result, Err(StoreError::Conflict { .. })),
        "the first exchange has not been seen: {result:?}"
    );
    let last_seen = store.exchanges(id, 1).await.unwrap().pop().map(|last| last.id);
    let more = NewImport { last_seen, ..more };
    assert_eq!(store.put_import(&more).await.unwrap(), Some(id), "the same conversation");
    let imports = store.imports("x/").await.unwrap();
    assert_eq!(
        (imports.len(), imports[0].conversation_id, imports[0].messages, imports[0].checksum.as_str()),
        (1, id, 4, "b")
    );
    assert!(store.imports("x/12").await.unwrap().is_empty() && store.imports("y").await.unwrap().is_empty());
    assert_eq!(store.exchanges(id, 10).await.unwrap().len(), 2);
    assert!(store.put_import(&NewImport { exchanges: &[], origin: "x/2", ..new }).await.is_err());
    assert!(store.imports("x/2").await.unwrap().is_empty(), "a failed import stores nothing");
    let conversation = store.conversation(id).await.unwrap().unwrap();
    assert_eq!(conversation.title, "Anna");
}
