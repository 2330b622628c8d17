//! Checks for background jobs, summaries and embeddings.

use std::sync::Arc;

use memoir_core::{ExchangeId, PreparedSummary, Subject, SubjectKind, Summary, WorkerKind};

use super::{embeddable, embedding, exchange, new_conversation, timestamp};
use crate::{
    Claim, ConversationSummary, Filter, JobFailure, NewEmbedding, SearchEffort, Store, VectorSearch,
};

/// Returns a claim whose leases last one second.
fn claim_for(worker: WorkerKind, owner: &'static str, now: i64) -> Claim<'static> {
    Claim {
        worker,
        excluded_conversation: None,
        subject_kind: None,
        with_model: false,
        embeddable: embeddable(1),
        owner,
        now: timestamp(now),
        until: timestamp(now + 1000),
    }
}

/// Claims one job. Returns its subject's id and the number of failed attempts.
async fn claim_next(store: &dyn Store, claim: &Claim<'_>) -> Option<(i64, u32)> {
    let jobs = store.claim(claim, 1).await.unwrap();
    jobs.first().map(|job| (job.subject.id, job.attempts))
}

pub async fn jobs_are_claimed_once_and_retried_after_failure(store: Arc<dyn Store>) {
    let worker = WorkerKind::ExchangeSummarizer;
    let mut ids = Vec::new();
    for number in 0..3 {
        let draft = exchange("q", "a", number * 100);
        ids.push(store.commit_exchange(&new_conversation("t", "/p"), &draft).await.unwrap());
    }
    let claim = |owner, now| Claim {
        excluded_conversation: Some(ids[2].conversation_id),
        ..claim_for(worker, owner, now)
    };
    let next = async |owner, now| claim_next(store.as_ref(), &claim(owner, now)).await;
    let (first, second) = (ids[0].exchange_id.get(), ids[1].exchange_id.get());
    let subject = |id| [Subject::new(SubjectKind::Exchange, id)];
    assert_eq!(store.pending(&claim("a", 0)).await.unwrap(), 2, "the excluded conversation is skipped");
    assert_eq!(next("a", 0).await, Some((second, 0)), "newest first");
    assert_eq!(next("b", 0).await, Some((first, 0)), "no job is claimed twice");
    assert_eq!(next("c", 0).await, None);
    assert_eq!(next("a", 0).await, Some((second, 0)), "an interrupted owner resumes its job");
    // An expired lease can be claimed by another owner.
    assert_eq!(next("b", 1000).await, Some((second, 0)));
    // All leases of a dead process are released at once.
    assert_eq!(store.lease_holders().await.unwrap().len(), 1, "b holds both leases");
    store.release_all("b").await.unwrap();
    assert!(store.lease_holders().await.unwrap().is_empty());
    let both = store.claim(&claim("a", 1000), 5).await.unwrap();
    assert_eq!(both.len(), 2, "all available jobs");
    let fail = async |id, due: Option<i64>| {
        let failure = JobFailure { error: "no".into(), due: due.map(timestamp) };
        store.fail(worker, &subject(id), &failure, timestamp(1001)).await.unwrap();
    };
    fail(second, Some(5000)).await;
    assert_eq!(
        store.next_due(worker, timestamp(1001)).await.unwrap(),
        Some(timestamp(2000)),
        "when the other lease expires"
    );
    store.release(worker, &subject(first)).await.unwrap();
    assert_eq!(next("a", 2000).await, Some((first, 0)), "releasing does not count as a failure");
    let summary = Summary { text: "They spoke.".into(), author: Summary::EXTRACT.into() };
    let missing = (ExchangeId::new(99), summary.clone());
    store.put_exchange_summaries(&[(ids[0].exchange_id, summary.clone()), missing]).await.unwrap();
    assert_eq!(store.exchange_summary(ids[0].exchange_id).await.unwrap(), Some(summary.clone()));
    assert_eq!(next("c", 4999).await, None, "the retry is not due yet");
    assert_eq!(next("a", 5000).await, Some((second, 1)));
    fail(second, None).await;
    assert_eq!(next("a", 1_000_000).await, None, "failed permanently");
    assert_eq!(store.pending(&claim("a", 0)).await.unwrap(), 0);
    let failed = store.failed_jobs(10).await.unwrap();
    assert_eq!((failed.len(), failed[0].attempts, failed[0].last_error.as_deref()), (1, 2, Some("no")));
    assert_eq!(store.failed_count().await.unwrap(), 1);
    assert_eq!(store.retry_jobs(Some(failed[0].id + 1), timestamp(6000)).await.unwrap(), 0);
    assert_eq!(store.retry_jobs(None, timestamp(6000)).await.unwrap(), 1);
    assert_eq!(next("a", 6000).await, Some((second, 0)));
    fail(second, None).await;
    assert_eq!(store.purge_jobs(None).await.unwrap(), 1);
    assert_eq!((next("a", 7000).await, store.failed_count().await.unwrap()), (None, 0), "given up");
    store.forget_failures(worker).await.unwrap();
    assert_eq!(next("a", 7000).await, Some((second, 0)), "failures were discarded");
    assert_eq!(next("b", 7000).await, None);
    store.renew("a", timestamp(9000)).await.unwrap();
    assert_eq!(next("b", 8500).await, None, "the lease was renewed");
    // With a model, extracted summaries are rewritten.
    let with_model = Claim { with_model: true, ..claim("a", 0) };
    assert_eq!(store.pending(&with_model).await.unwrap(), 2);
    // Conversations open in another session are skipped as well.
    store.hold_conversation("b", Some(ids[0].conversation_id), timestamp(100_000)).await.unwrap();
    assert_eq!(store.pending(&with_model).await.unwrap(), 1);
    store.hold_conversation("b", None, timestamp(100_000)).await.unwrap();
    assert_eq!(store.pending(&with_model).await.unwrap(), 2);
}

pub async fn grown_conversation_is_summarized_again(store: Arc<dyn Store>) {
    let committed =
        store.commit_exchange(&new_conversation("t", "/p"), &exchange("q", "a", 1)).await.unwrap();
    let id = committed.conversation_id;
    let claim = claim_for(WorkerKind::ConversationSummarizer, "a", 10);
    assert_eq!(claim_next(store.as_ref(), &claim).await, Some((id.get(), 0)));
    let summary = ConversationSummary {
        summary: Summary { text: "About q.".into(), author: "m".into() },
        through: committed.exchange_id,
    };
    assert!(store.put_conversation_summary(id, &summary, 1, Some("A title")).await.unwrap());
    assert_eq!(store.conversation_summary(id).await.unwrap(), Some(summary.clone()));
    let conversation = store.conversation(id).await.unwrap().unwrap();
    assert_eq!((conversation.title.as_str(), conversation.summary.as_deref()), ("A title", Some("About q.")));
    assert_eq!(claim_next(store.as_ref(), &claim).await, None);
    store.commit_exchange(&committed.to_target(), &exchange("more", "b", 2)).await.unwrap();
    assert_eq!(claim_next(store.as_ref(), &claim).await, Some((id.get(), 0)));
    let stale = ConversationSummary { through: ExchangeId::new(99), ..summary };
    assert!(
        !store.put_conversation_summary(id, &stale, 2, None).await.unwrap(),
        "the last exchange it covers does not exist"
    );
}

pub async fn embeddings_are_created_once_and_follow_their_texts(store: Arc<dyn Store>) {
    let committed =
        store.commit_exchange(&new_conversation("t", "/p"), &exchange("q", "a", 1)).await.unwrap();
    let (exchange_id, id) = (committed.exchange_id, committed.conversation_id);
    let summary = |text: &str| Summary { text: text.into(), author: "m".into() };
    store.put_exchange_summaries(&[(exchange_id, summary("Asked."))]).await.unwrap();
    let whole = ConversationSummary { summary: summary("Spoken."), through: exchange_id };
    store.put_conversation_summary(id, &whole, 1, Some("T")).await.unwrap();

    let claim = claim_for(WorkerKind::EmbeddingGenerator, "a", 10);
    assert_eq!(store.pending(&claim).await.unwrap(), 4, "two messages and two summaries");
    let mut texts = Vec::new();
    for (owner, expected) in [("a", 2), ("b", 1), ("c", 1)] {
        let batch = store.claim(&claim_for(WorkerKind::EmbeddingGenerator, owner, 10), 100).await.unwrap();
        assert_eq!(batch.len(), expected, "one kind at a time");
        let subjects: Vec<Subject> = batch.iter().map(|job| job.subject).collect();
        texts.extend(store.embeddable_texts(&subjects).await.unwrap());
    }
    let other = claim_for(WorkerKind::EmbeddingGenerator, "d", 10);
    assert!(store.claim(&other, 100).await.unwrap().is_empty(), "all jobs are leased");
    let claimed_texts: Vec<&str> = texts.iter().map(|text| text.text.as_str()).collect();
    assert_eq!(claimed_texts, ["a", "q", "T. Spoken.", "Asked."]);
    let vectors = [[0.0, 1.0], [0.0, 1.0], [0.6, 0.8], [1.0, 0.0]];
    let embeddings: Vec<NewEmbedding> = texts
        .iter()
        .zip(vectors)
        .map(|(text, vector)| embedding(text.subject, &vector, &text.text))
        .collect();
    store.put_embeddings("m", &embeddings).await.unwrap();
    assert_eq!(store.pending(&claim).await.unwrap(), 0);
    assert!(store.lease_holders().await.unwrap().is_empty(), "completed jobs leave no leases");
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
        let matches = store.nearest_summaries(&search).await.unwrap();
        matches.iter().map(|summary| summary.subject).collect::<Vec<_>>()
    };
    let (exchange_subject, conversation_subject) = (
        Subject::new(SubjectKind::Exchange, exchange_id.get()),
        Subject::new(SubjectKind::Conversation, id.get()),
    );
    assert_eq!(nearest(&Filter::default()).await, [exchange_subject, conversation_subject]);
    assert!(nearest(&Filter { excluded_conversation: Some(id), ..Filter::default() }).await.is_empty());
    assert!(nearest(&Filter { since: Some(timestamp(1_000_000)), ..Filter::default() }).await.is_empty());
    assert_eq!(
        nearest(&Filter { before: Some(exchange_id), ..Filter::default() }).await,
        [conversation_subject]
    );

    // A rewritten summary needs a new embedding.
    store.put_exchange_summaries(&[(exchange_id, summary("Asked for more."))]).await.unwrap();
    assert_eq!(nearest(&Filter::default()).await, [conversation_subject]);
    assert_eq!(claim_next(store.as_ref(), &claim).await, Some((exchange_id.get(), 0)));
    // Embeddings of an outdated text are dropped. A new dimension invalidates all embeddings of the model.
    let stale = embedding(exchange_subject, &[0.0, 1.0], "Asked.");
    store.put_embeddings("m", &[stale]).await.unwrap();
    assert_eq!(store.pending(&claim).await.unwrap(), 1, "the stale embedding was not stored");
    let longer = embedding(exchange_subject, &[0.0, 0.0, 1.0], "Asked for more.");
    store.put_embeddings("m", &[longer]).await.unwrap();
    assert_eq!(store.pending(&claim).await.unwrap(), 3);
}

pub async fn requested_digest_is_claimed_and_prepared(store: Arc<dyn Store>) {
    let committed =
        store.commit_exchange(&new_conversation("t", "/p"), &exchange("q", "a", 1)).await.unwrap();
    let (through, id) = (committed.exchange_id, committed.conversation_id);
    let without =
        Claim { excluded_conversation: Some(id), ..claim_for(WorkerKind::ConversationSummarizer, "a", 10) };
    let claim = Claim { with_model: true, ..without.clone() };
    assert_eq!(claim_next(store.as_ref(), &claim).await, None);
    store.request_digest(id, None, through, timestamp(2)).await.unwrap();
    assert_eq!(store.digest(id).await.unwrap().and_then(|digest| digest.requested_through), Some(through));
    assert_eq!(claim_next(store.as_ref(), &without).await, None, "digests need a model");
    let jobs = store.claim(&claim, 1).await.unwrap();
    assert_eq!(
        jobs[0].subject,
        Subject::new(SubjectKind::Digest, id.get()),
        "digests are prepared even for the excluded conversation"
    );
    let previous_through = store.digest(id).await.unwrap().map(|digest| digest.through);
    let prepared = PreparedSummary { through, summary: "In short.".into() };
    assert!(store.prepare_digest(id, previous_through, &prepared, timestamp(3)).await.unwrap());
    let digest = store.digest(id).await.unwrap().unwrap();
    assert_eq!((digest.prepared, digest.requested_through), (Some(prepared), None));
    assert_eq!(claim_next(store.as_ref(), &claim).await, None);
    assert!(store.lease_holders().await.unwrap().is_empty());
}
