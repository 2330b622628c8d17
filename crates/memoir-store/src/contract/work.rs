//! Work in the background, summaries and vectors.

use std::sync::Arc;

use memoir_core::{ExchangeId, Prepared, Subject, SubjectKind, Summary, WorkerKind};

use super::{embeddable, embedding, exchange, new_conversation, timestamp};
use crate::{
    Claim, ConversationSummary, Filter, JobFailure, NewEmbedding, SearchEffort, Store, VectorSearch,
};

/// What a worker looks for.
fn looking(worker: WorkerKind, owner: &'static str, now: i64) -> Claim<'static> {
    Claim {
        worker,
        except: None,
        only: None,
        with_model: false,
        embeddable: embeddable(1),
        owner,
        now: timestamp(now),
        until: timestamp(now + 1000),
    }
}

/// The next piece, and how often it has failed.
async fn next(store: &dyn Store, claim: &Claim<'_>) -> Option<(i64, u32)> {
    let claimed = store.claim(claim, 1).await.unwrap();
    claimed.first().map(|claimed| (claimed.subject.id, claimed.attempts))
}

pub async fn work_is_taken_on_once_and_comes_back_when_it_failed(store: Arc<dyn Store>) {
    let worker = WorkerKind::ExchangeSummarizer;
    let mut ids = Vec::new();
    for number in 0..3 {
        let draft = exchange("q", "a", number * 100);
        ids.push(store.commit_exchange(&new_conversation("t", "/p"), &draft).await.unwrap());
    }
    let claim = |owner, now| Claim { except: Some(ids[2].conversation_id), ..looking(worker, owner, now) };
    let take = async |owner, now| next(store.as_ref(), &claim(owner, now)).await;
    let (first, second) = (ids[0].exchange_id.get(), ids[1].exchange_id.get());
    let subject = |id| [Subject::new(SubjectKind::Exchange, id)];
    assert_eq!(store.pending(&claim("a", 0)).await.unwrap(), 2, "the present conversation is left alone");
    assert_eq!(take("a", 0).await, Some((second, 0)), "the newest first");
    assert_eq!(take("b", 0).await, Some((first, 0)), "and none twice");
    assert_eq!(take("c", 0).await, None);
    assert_eq!(take("a", 0).await, Some((second, 0)), "who was interrupted goes on");
    // A lease that ran out is taken over: who held it may have died.
    assert_eq!(take("b", 1000).await, Some((second, 0)));
    // Of one who is known to have died, all is.
    assert_eq!(store.lease_holders().await.unwrap().len(), 1, "b holds both");
    store.release_all_of("b").await.unwrap();
    assert!(store.lease_holders().await.unwrap().is_empty());
    let both = store.claim(&claim("a", 1000), 5).await.unwrap();
    assert_eq!(both.len(), 2, "as many as there are");
    let fail = async |id, due: Option<i64>| {
        let failure = JobFailure { error: "no".into(), due: due.map(timestamp) };
        store.fail(worker, &subject(id), &failure, timestamp(1001)).await.unwrap();
    };
    fail(second, Some(5000)).await;
    assert_eq!(
        store.next_due(worker, timestamp(1001)).await.unwrap(),
        Some(timestamp(2000)),
        "the other lease"
    );
    store.release(worker, &subject(first)).await.unwrap();
    assert_eq!(take("a", 2000).await, Some((first, 0)), "given back without blame");
    let summary = Summary { text: "They spoke.".into(), by: Summary::EXTRACT.into() };
    let gone = (ExchangeId::new(99), summary.clone());
    store.put_exchange_summaries(&[(ids[0].exchange_id, summary.clone()), gone]).await.unwrap();
    assert_eq!(store.exchange_summary(ids[0].exchange_id).await.unwrap(), Some(summary.clone()));
    assert_eq!(take("c", 4999).await, None, "not before it is due");
    assert_eq!(take("a", 5000).await, Some((second, 1)));
    fail(second, None).await;
    assert_eq!(take("a", 1_000_000).await, None, "failed for good");
    assert_eq!(store.pending(&claim("a", 0)).await.unwrap(), 0);
    let failed = store.failed_jobs(10).await.unwrap();
    assert_eq!((failed.len(), failed[0].attempts, failed[0].last_error.as_deref()), (1, 2, Some("no")));
    assert_eq!(store.failed_count().await.unwrap(), 1);
    assert_eq!(store.retry_jobs(Some(failed[0].id + 1), timestamp(6000)).await.unwrap(), 0);
    assert_eq!(store.retry_jobs(None, timestamp(6000)).await.unwrap(), 1);
    assert_eq!(take("a", 6000).await, Some((second, 0)));
    fail(second, None).await;
    assert_eq!(store.purge_jobs(None).await.unwrap(), 1);
    assert_eq!((take("a", 7000).await, store.failed_count().await.unwrap()), (None, 0), "given up");
    store.forget_failures(worker).await.unwrap();
    assert_eq!(take("a", 7000).await, Some((second, 0)), "for another model");
    assert_eq!(take("b", 7000).await, None);
    store.renew("a", timestamp(9000)).await.unwrap();
    assert_eq!(take("b", 8500).await, None, "he is still at it");
    // With a model, what was quoted is summarised anew.
    let with_model = Claim { with_model: true, ..claim("a", 0) };
    assert_eq!(store.pending(&with_model).await.unwrap(), 2);
    // What is going on elsewhere is left alone as well.
    store.hold_conversation("b", Some(ids[0].conversation_id), timestamp(100_000)).await.unwrap();
    assert_eq!(store.pending(&with_model).await.unwrap(), 1);
    store.hold_conversation("b", None, timestamp(100_000)).await.unwrap();
    assert_eq!(store.pending(&with_model).await.unwrap(), 2);
}

pub async fn a_conversation_that_grew_is_summarised_again(store: Arc<dyn Store>) {
    let committed =
        store.commit_exchange(&new_conversation("t", "/p"), &exchange("q", "a", 1)).await.unwrap();
    let id = committed.conversation_id;
    let claim = looking(WorkerKind::ConversationSummarizer, "a", 10);
    assert_eq!(next(store.as_ref(), &claim).await, Some((id.get(), 0)));
    let summary = ConversationSummary {
        summary: Summary { text: "About q.".into(), by: "m".into() },
        through: committed.exchange_id,
    };
    assert!(store.put_conversation_summary(id, &summary, 1, Some("A title")).await.unwrap());
    assert_eq!(store.conversation_summary(id).await.unwrap(), Some(summary.clone()));
    let filed = store.conversation(id).await.unwrap().unwrap();
    assert_eq!((filed.title.as_str(), filed.summary.as_deref()), ("A title", Some("About q.")));
    assert_eq!(next(store.as_ref(), &claim).await, None);
    let target = committed.to_target();
    store.commit_exchange(&target, &exchange("more", "b", 2)).await.unwrap();
    assert_eq!(next(store.as_ref(), &claim).await, Some((id.get(), 0)));
    let gone = ConversationSummary { through: ExchangeId::new(99), ..summary };
    assert!(!store.put_conversation_summary(id, &gone, 2, None).await.unwrap(), "of nothing that is there");
}

pub async fn vectors_are_made_once_and_follow_their_texts(store: Arc<dyn Store>) {
    let committed =
        store.commit_exchange(&new_conversation("t", "/p"), &exchange("q", "a", 1)).await.unwrap();
    let (exchange_id, id) = (committed.exchange_id, committed.conversation_id);
    let summary = |text: &str| Summary { text: text.into(), by: "m".into() };
    store.put_exchange_summaries(&[(exchange_id, summary("Asked."))]).await.unwrap();
    let whole = ConversationSummary { summary: summary("Spoken."), through: exchange_id };
    store.put_conversation_summary(id, &whole, 1, Some("T")).await.unwrap();

    let claim = looking(WorkerKind::EmbeddingGenerator, "a", 10);
    assert_eq!(store.pending(&claim).await.unwrap(), 4, "two messages and two summaries");
    let mut texts = Vec::new();
    for (owner, expected) in [("a", 2), ("b", 1), ("c", 1)] {
        let batch = store.claim(&looking(WorkerKind::EmbeddingGenerator, owner, 10), 100).await.unwrap();
        assert_eq!(batch.len(), expected, "of one kind at a time");
        let subjects: Vec<Subject> = batch.iter().map(|claimed| claimed.subject).collect();
        texts.extend(store.embeddable_texts(&subjects).await.unwrap());
    }
    let other = looking(WorkerKind::EmbeddingGenerator, "d", 10);
    assert!(store.claim(&other, 100).await.unwrap().is_empty(), "all is being done");
    let said: Vec<&str> = texts.iter().map(|text| text.text.as_str()).collect();
    assert_eq!(said, ["a", "q", "T. Spoken.", "Asked."]);
    let vectors = [[0.0, 1.0], [0.0, 1.0], [0.6, 0.8], [1.0, 0.0]];
    let embeddings: Vec<NewEmbedding> = texts
        .iter()
        .zip(vectors)
        .map(|(text, vector)| embedding(text.subject, &vector, &text.text))
        .collect();
    store.put_embeddings("m", &embeddings).await.unwrap();
    assert_eq!(store.pending(&claim).await.unwrap(), 0);
    assert!(store.lease_holders().await.unwrap().is_empty(), "done leaves nothing behind");
    let counts: Vec<(SubjectKind, u64)> =
        store.embedding_counts().await.unwrap().iter().map(|count| (count.kind, count.count)).collect();
    assert_eq!(
        counts,
        [(SubjectKind::Message, 2), (SubjectKind::Exchange, 1), (SubjectKind::Conversation, 1)]
    );

    let nearest = async |filter: &Filter| {
        let search = VectorSearch {
            model: "m",
            vector: &[1.0, 0.0],
            filter,
            effort: SearchEffort::default(),
            limit: 5,
        };
        let found = store.nearest_summaries(&search).await.unwrap();
        found.iter().map(|found| found.subject).collect::<Vec<_>>()
    };
    let (of_exchange, of_whole) = (
        Subject::new(SubjectKind::Exchange, exchange_id.get()),
        Subject::new(SubjectKind::Conversation, id.get()),
    );
    assert_eq!(nearest(&Filter::default()).await, [of_exchange, of_whole]);
    assert!(nearest(&Filter { except: Some(id), ..Filter::default() }).await.is_empty());
    assert!(nearest(&Filter { since: Some(timestamp(1_000_000)), ..Filter::default() }).await.is_empty());
    assert_eq!(nearest(&Filter { before: Some(exchange_id), ..Filter::default() }).await, [of_whole]);

    // Written anew, a summary waits for a vector again.
    store.put_exchange_summaries(&[(exchange_id, summary("Asked for more."))]).await.unwrap();
    assert_eq!(nearest(&Filter::default()).await, [of_whole]);
    assert_eq!(next(store.as_ref(), &claim).await, Some((exchange_id.get(), 0)));
    // With another length, all that the model gave before is of no use.
    let stale = embedding(of_exchange, &[0.0, 1.0], "Asked.");
    store.put_embeddings("m", &[stale]).await.unwrap();
    assert_eq!(store.pending(&claim).await.unwrap(), 1, "a vector of what it said before is not kept");
    let longer = embedding(of_exchange, &[0.0, 0.0, 1.0], "Asked for more.");
    store.put_embeddings("m", &[longer]).await.unwrap();
    assert_eq!(store.pending(&claim).await.unwrap(), 3);
}

pub async fn a_digest_is_asked_for_and_made(store: Arc<dyn Store>) {
    let committed =
        store.commit_exchange(&new_conversation("t", "/p"), &exchange("q", "a", 1)).await.unwrap();
    let (through, id) = (committed.exchange_id, committed.conversation_id);
    let without = Claim { except: Some(id), ..looking(WorkerKind::ConversationSummarizer, "a", 10) };
    let claim = Claim { with_model: true, ..without.clone() };
    assert_eq!(next(store.as_ref(), &claim).await, None);
    store.want_digest(id, None, through, timestamp(2)).await.unwrap();
    assert_eq!(store.digest(id).await.unwrap().and_then(|digest| digest.wanted), Some(through));
    assert_eq!(next(store.as_ref(), &without).await, None, "it takes a model");
    let claimed = store.claim(&claim, 1).await.unwrap();
    assert_eq!(claimed[0].subject, Subject::new(SubjectKind::Digest, id.get()), "of the present one too");
    let seen = store.digest(id).await.unwrap().map(|digest| digest.through);
    let prepared = Prepared { through, summary: "In short.".into() };
    assert!(store.prepare_digest(id, seen, &prepared, timestamp(3)).await.unwrap());
    let digest = store.digest(id).await.unwrap().unwrap();
    assert_eq!((digest.prepared, digest.wanted), (Some(prepared), None));
    assert_eq!(next(store.as_ref(), &claim).await, None);
    assert!(store.lease_holders().await.unwrap().is_empty());
}
