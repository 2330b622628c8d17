//! Work in the background, and summaries.

use memoir_core::{ConversationTarget, ExchangeId, Summary, WorkerKind};

use super::{at, exchange, new_conversation};
use crate::{Claim, ConversationSummary, JobFailure, Store};

pub(super) async fn work_is_taken_on_once_and_comes_back_when_it_failed(store: impl Store) {
    let worker = WorkerKind::ExchangeSummarizer;
    let mut ids = Vec::new();
    for number in 0..3 {
        let draft = exchange("q", "a", number * 100);
        ids.push(store.commit_exchange(&new_conversation("t", "/p"), &draft).await.unwrap());
    }
    let claim = |owner: &'static str, now: i64, redo_extracts: bool| Claim {
        worker,
        except: Some(ids[2].conversation_id),
        redo_extracts,
        owner,
        now: at(now),
        until: at(now + 1000),
    };
    let take = async |owner, now| -> Option<(i64, u32)> {
        let claimed = store.claim(&claim(owner, now, false)).await.unwrap();
        claimed.map(|claimed| (claimed.subject_id, claimed.attempts))
    };
    let (first, second) = (ids[0].exchange_id.get(), ids[1].exchange_id.get());
    assert_eq!(
        store.pending(&claim("a", 0, false)).await.unwrap(),
        2,
        "the present conversation is left alone"
    );
    assert_eq!(take("a", 0).await, Some((second, 0)), "the newest first");
    assert_eq!(take("b", 0).await, Some((first, 0)), "and none twice");
    assert_eq!(take("a", 0).await, None);
    // A lease that ran out is taken over: who held it may have died.
    assert_eq!(take("b", 1000).await, Some((second, 0)));
    let fail = async |subject, due: Option<i64>| {
        let failure = JobFailure { error: "no".into(), due: due.map(at) };
        store.fail(worker, subject, &failure, at(1001)).await.unwrap();
    };
    fail(second, Some(5000)).await;
    assert_eq!(store.next_due(worker).await.unwrap(), Some(at(1000)), "the other lease");
    store.release(worker, first).await.unwrap();
    assert_eq!(take("a", 2000).await, Some((first, 0)), "given back without blame");
    let summary = Summary { text: "They spoke.".into(), by: Summary::EXTRACT.into() };
    assert!(store.put_exchange_summary(ids[0].exchange_id, &summary).await.unwrap());
    assert_eq!(store.exchange_summary(ids[0].exchange_id).await.unwrap(), Some(summary.clone()));
    assert_eq!(take("a", 4999).await, None, "not before it is due");
    assert_eq!(take("a", 5000).await, Some((second, 1)));
    fail(second, None).await;
    assert_eq!(take("a", 1_000_000).await, None, "failed for good");
    assert_eq!(store.pending(&claim("a", 0, false)).await.unwrap(), 0);
    let failed = store.failed_jobs(10).await.unwrap();
    assert_eq!((failed.len(), failed[0].attempts, failed[0].last_error.as_deref()), (1, 2, Some("no")));
    assert_eq!(store.retry_jobs(Some(failed[0].id + 1), at(6000)).await.unwrap(), 0);
    assert_eq!(store.retry_jobs(None, at(6000)).await.unwrap(), 1);
    assert_eq!(take("a", 6000).await, Some((second, 0)));
    fail(second, None).await;
    assert_eq!(store.purge_jobs(None).await.unwrap(), 1);
    // With a model, what was quoted is summarised anew.
    assert_eq!(store.pending(&claim("a", 0, true)).await.unwrap(), 2);
    assert!(!store.put_exchange_summary(ExchangeId::new(99), &summary).await.unwrap());
}

pub(super) async fn a_conversation_that_grew_is_summarised_again(store: impl Store) {
    let committed =
        store.commit_exchange(&new_conversation("t", "/p"), &exchange("q", "a", 1)).await.unwrap();
    let id = committed.conversation_id;
    let claim = Claim {
        worker: WorkerKind::ConversationSummarizer,
        except: None,
        redo_extracts: false,
        owner: "a",
        now: at(10),
        until: at(20),
    };
    assert_eq!(store.claim(&claim).await.unwrap().map(|claimed| claimed.subject_id), Some(id.get()));
    let summary = ConversationSummary {
        summary: Summary { text: "About q.".into(), by: "m".into() },
        through: committed.exchange_id,
    };
    assert!(store.put_conversation_summary(id, &summary, Some("A title")).await.unwrap());
    assert_eq!(store.conversation_summary(id).await.unwrap(), Some(summary.clone()));
    let filed = store.conversation(id).await.unwrap().unwrap();
    assert_eq!((filed.title.as_str(), filed.summary.as_deref()), ("A title", Some("About q.")));
    assert_eq!(store.claim(&claim).await.unwrap(), None);
    let target = ConversationTarget::Existing(id);
    store.commit_exchange(&target, &exchange("more", "b", 2)).await.unwrap();
    assert_eq!(store.claim(&claim).await.unwrap().map(|claimed| claimed.subject_id), Some(id.get()));
    let gone = ConversationSummary { through: ExchangeId::new(99), ..summary };
    assert!(!store.put_conversation_summary(id, &gone, None).await.unwrap(), "of nothing that is there");
}
