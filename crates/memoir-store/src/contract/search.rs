//! Searching by words and by meaning.

use std::sync::Arc;

use memoir_core::{DraftMessage, MessageBody, Provenance, Role, SubjectKind, Visibility};

use super::{assistant, draft_message, embeddable, embedding, exchange, new_conversation, timestamp};
use crate::{Accuracy, Filter, NewEmbedding, SearchEffort, Store, VectorSearch, WordSearch, WordsFound};

pub async fn words_find_what_was_said_and_nothing_else(store: Arc<dyn Store>) {
    let mut draft = exchange("My cat is called Miso", "A fine name", 1000);
    draft.messages.push(DraftMessage {
        visibility: Visibility::Redacted,
        ..draft_message(
            MessageBody::Tool { call_id: "c".into(), tool_name: "t".into(), text: "Miso soup".into() },
            1001,
        )
    });
    draft.messages.push(DraftMessage {
        provenance: Provenance::Derived,
        ..draft_message(assistant("you said Miso"), 1002)
    });
    let cats = store.commit_exchange(&new_conversation("cats", "/p"), &draft).await.unwrap();
    store
        .commit_exchange(&new_conversation("dogs", "/p"), &exchange("The dogs barked", "Oh", 2000))
        .await
        .unwrap();

    let found = search_words(store.as_ref(), &["miso", "zebra"], &Filter::default()).await;
    assert_eq!(found.words[0].len(), 1, "neither tool output nor what was derived: {found:?}");
    assert!(found.words[1].is_empty());
    assert_eq!(found.conversations.len(), 1);
    assert_eq!(found.words[0][0].conversation_id, cats.conversation_id);
    let texts = store.texts(&[found.words[0][0].message_id]).await.unwrap();
    assert_eq!(texts[0].1, "My cat is called Miso");
    let exchange = &store.exchange_texts(&[cats.exchange_id]).await.unwrap()[0];
    assert_eq!(
        (exchange.user.as_str(), exchange.assistant.as_str()),
        ("My cat is called Miso", ""),
        "an answer that quotes memory is not quoted"
    );
    assert_eq!(
        search_words(store.as_ref(), &["barking"], &Filter::default()).await.words[0].len(),
        1,
        "words are stemmed"
    );
    let elsewhere = Filter { except: Some(cats.conversation_id), ..Filter::default() };
    assert_eq!(
        search_words(store.as_ref(), &["miso"], &elsewhere).await,
        WordsFound { words: vec![Vec::new()], ..WordsFound::default() }
    );

    let outlines = store.outlines(&[cats.conversation_id]).await.unwrap();
    let kinds: Vec<_> = outlines.iter().map(|outline| (outline.role, outline.words, outline.asks)).collect();
    assert_eq!(kinds, [(Role::User, 5, false), (Role::Assistant, 3, false)]);
}

async fn search_words(store: &dyn Store, words: &[&str], filter: &Filter) -> WordsFound {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let search = WordSearch { words: &words, filter, conversations: 10, also: &[] };
    store.search_words(&search).await.unwrap()
}

pub async fn rarer_words_and_more_of_them_count_more(store: Arc<dyn Store>) {
    let mut ids = Vec::new();
    for text in
        ["tea and cake", "tea and milk", "tea tea tea", "milk and a very long list of other things to buy"]
    {
        let draft = exchange(text, "ok", 1000);
        ids.push(store.commit_exchange(&new_conversation(text, "/p"), &draft).await.unwrap().conversation_id);
    }
    let found = search_words(store.as_ref(), &["tea", "cake"], &Filter::default()).await;
    assert_eq!(found.conversations[0].0, ids[0], "it has both");
    let of = |word: usize, conversation: usize| {
        let found = found.words[word].iter().find(|found| found.conversation_id == ids[conversation]);
        found.map_or(0.0, |found| found.score)
    };
    assert!(of(1, 0) > of(0, 0), "cake is rarer than tea");
    assert!(of(0, 2) > of(0, 1), "tea three times is more than once");
    let milk = search_words(store.as_ref(), &["milk"], &Filter::default()).await;
    assert_eq!(
        milk.conversations.iter().map(|(id, _)| *id).collect::<Vec<_>>(),
        [ids[1], ids[3]],
        "the shorter first"
    );
    // One conversation is looked at closely, and one that is wanted in any case.
    let (wanted, filter) = (["tea".to_owned()], Filter::default());
    let search = WordSearch { words: &wanted, filter: &filter, conversations: 1, also: &[ids[3]] };
    let found = store.search_words(&search).await.unwrap();
    assert_eq!(found.conversations.len(), 2);
    assert_eq!(found.conversations[1], (ids[3], 0.0));
    assert_eq!(found.words[0].len(), 1);
}

pub async fn no_word_is_a_syntax_error(store: Arc<dyn Store>) {
    store.commit_exchange(&new_conversation("t", "/p"), &exchange("q", "a", 1)).await.unwrap();
    let long = "word ".repeat(10_000);
    for text in ["", "\"", "a AND", "NEAR(", "x:y", "*", "'; DROP TABLE messages", "你好", "🦀", "\0", &long]
    {
        search_words(store.as_ref(), &[text], &Filter::default()).await;
    }
}

pub async fn filters_are_part_of_every_search(store: Arc<dyn Store>) {
    let (mut committed, mut exchanges) = (Vec::new(), Vec::new());
    for (number, scope) in ["/a", "/a", "/b", "/b"].into_iter().enumerate() {
        let moment = 1000 * i64::try_from(number).unwrap();
        let draft = exchange("the same words", "ok", moment);
        let filed = store.commit_exchange(&new_conversation("t", scope), &draft).await.unwrap();
        exchanges.push(filed.exchange_id);
        committed.push(filed.conversation_id);
    }
    let waiting = store.unembedded(&embeddable(1), 100).await.unwrap();
    let questions = waiting.iter().filter(|message| message.text.starts_with("the"));
    let embeddings: Vec<NewEmbedding> =
        questions.map(|message| embedding(message.subject, &[0.6, 0.8], "")).collect();
    store.put_embeddings("m", &embeddings).await.unwrap();
    let any = Filter::default();
    let cases = [
        (any.clone(), vec![0, 1, 2, 3]),
        (Filter { except: Some(committed[1]), ..any.clone() }, vec![0, 2, 3]),
        (Filter { within: Some(committed[2]), ..any.clone() }, vec![2]),
        (Filter { scope: Some("/a".into()), ..any.clone() }, vec![0, 1]),
        (Filter { scope: Some("/nowhere".into()), ..any.clone() }, vec![]),
        (Filter { since: Some(timestamp(2000)), ..any.clone() }, vec![2, 3]),
        (Filter { until: Some(timestamp(2000)), ..any.clone() }, vec![0, 1]),
        (Filter { before: Some(exchanges[1]), ..any.clone() }, vec![0]),
        (Filter { before: Some(exchanges[3]), scope: Some("/b".into()), ..any.clone() }, vec![2]),
        (Filter { scope: Some("/b".into()), since: Some(timestamp(3000)), ..any }, vec![3]),
    ];
    for (filter, expected) in cases {
        let mut expected: Vec<_> = expected.iter().map(|index: &usize| committed[*index]).collect();
        expected.sort_unstable();
        for accuracy in [Accuracy::Auto, Accuracy::Exact, Accuracy::Approximate] {
            let search = VectorSearch {
                model: "m",
                vector: &[0.6, 0.8],
                filter: &filter,
                effort: SearchEffort { accuracy, ..SearchEffort::default() },
                limit: expected.len().max(1),
            };
            let mut near: Vec<_> =
                store.nearest(&search).await.unwrap().iter().map(|found| found.conversation_id).collect();
            near.sort_unstable();
            assert_eq!(near, expected, "{filter:?}");
        }
        let found = search_words(store.as_ref(), &["words"], &filter).await;
        let mut having: Vec<_> = found.words[0].iter().map(|found| found.conversation_id).collect();
        having.sort_unstable();
        assert_eq!(having, expected, "{filter:?}");
    }
}

pub async fn vectors_find_the_nearest_and_only_once(store: Arc<dyn Store>) {
    let vectors = [[1.0, 0.0, 0.0, 0.0], [0.8, 0.6, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];
    let (mut ids, mut exchanges) = (Vec::new(), Vec::new());
    for number in 0..3 {
        let committed = store
            .commit_exchange(&new_conversation("t", "/p"), &exchange(&format!("q{number}"), "a", number))
            .await
            .unwrap();
        ids.push(committed.conversation_id);
        exchanges.push(committed.exchange_id);
    }
    assert_eq!(store.unembedded(&embeddable(4), 100).await.unwrap().len(), 6);
    assert!(store.unembedded(&embeddable(5), 100).await.unwrap().is_empty(), "all are shorter than that");
    let waiting = store.unembedded(&embeddable(4), 100).await.unwrap();
    assert_eq!(store.unembedded_of(exchanges[1], &embeddable(4)).await.unwrap().len(), 2);
    let questions = waiting.iter().filter(|message| message.text.starts_with('q'));
    let embeddings: Vec<NewEmbedding> = questions
        .map(|message| {
            let place = ids.iter().position(|id| Some(*id) == message.conversation_id).unwrap();
            embedding(message.subject, &vectors[place], "")
        })
        .collect();
    // The second time changes nothing.
    for _ in 0..2 {
        store.put_embeddings("m", &embeddings).await.unwrap();
    }
    let (everywhere, query) = (Filter::default(), [1.0, 0.0, 0.0, 0.0]);
    let elsewhere = Filter { except: Some(ids[0]), ..Filter::default() };
    let search = VectorSearch {
        model: "m",
        vector: &query,
        filter: &everywhere,
        effort: SearchEffort::default(),
        limit: 2,
    };
    let found: Vec<_> =
        store.nearest(&search).await.unwrap().iter().map(|found| found.conversation_id).collect();
    assert_eq!(found, [ids[0], ids[1]]);
    let without = store.nearest(&VectorSearch { filter: &elsewhere, ..search }).await.unwrap();
    assert_eq!(
        without[0].conversation_id, ids[1],
        "a filter is part of the search, not applied to its result"
    );
    assert_eq!(without.len(), 2);
    assert!((without[0].score - 0.8).abs() < 0.002, "{without:?}");
    assert!(store.nearest(&VectorSearch { model: "another", ..search }).await.unwrap().is_empty());
    let estimates = store.similarities("m", &query, &ids[..1]).await.unwrap();
    assert_eq!(estimates.len(), 1, "the answer has no vector");
    let messages: Vec<_> = without.iter().map(|found| found.message_id).collect();
    let vectors = store.vectors("m", &messages).await.unwrap();
    assert_eq!(vectors.len(), 2);
    assert!(vectors.iter().all(|(id, vector)| messages.contains(id) && vector.len() == 4));
    assert_eq!(store.unembedded(&embeddable(4), 100).await.unwrap().len(), 3);
    assert_eq!(store.unembedded_count(SubjectKind::Message, &embeddable(4)).await.unwrap(), 3);
    // Deleted, they are made anew.
    assert_eq!(store.delete_embeddings().await.unwrap(), 3);
    assert!(store.nearest(&search).await.unwrap().is_empty());
    assert_eq!(store.unembedded_count(SubjectKind::Message, &embeddable(4)).await.unwrap(), 6);
}
