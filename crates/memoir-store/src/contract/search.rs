//! Checks for searching by keyword and by meaning.

use std::sync::Arc;

use memoir_core::{DraftMessage, MessageBody, MessageId, Provenance, Role, SubjectKind, Visibility};

use super::{assistant, draft_message, embeddable, embedding, exchange, new_conversation, timestamp};
use crate::{
    Accuracy, ConversationList, Filter, LATER_PART_DISCOUNT, NewEmbedding, SearchEffort, Store, VectorSearch,
    WordSearch, WordSearchResult,
};

pub async fn keyword_search_finds_only_said_messages(store: Arc<dyn Store>) {
    let mut draft = exchange("My cat is called Miso", "A fine name", 1000);
    draft.messages.push(DraftMessage {
        visibility: Visibility::Hidden,
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

    let results = search_words(store.as_ref(), &["miso", "zebra"], &Filter::default()).await;
    assert_eq!(results.words[0].len(), 1, "neither tool results nor derived messages match: {results:?}");
    assert!(results.words[1].is_empty());
    assert_eq!(results.conversations.len(), 1);
    assert_eq!(results.words[0][0].conversation_id, cats.conversation_id);
    let texts = store.texts(&[results.words[0][0].message_id]).await.unwrap();
    assert_eq!(texts[0].1, "My cat is called Miso");
    let exchange = &store.exchange_texts(&[cats.exchange_id]).await.unwrap()[0];
    assert_eq!(
        (exchange.user.as_str(), exchange.assistant.as_str()),
        ("My cat is called Miso", ""),
        "a derived answer is omitted"
    );
    assert_eq!(
        search_words(store.as_ref(), &["barking"], &Filter::default()).await.words[0].len(),
        1,
        "words are stemmed"
    );
    let elsewhere = Filter { excluded_conversation: Some(cats.conversation_id), ..Filter::default() };
    assert_eq!(
        search_words(store.as_ref(), &["miso"], &elsewhere).await,
        WordSearchResult { words: vec![Vec::new()], ..WordSearchResult::default() }
    );

    let outlines = store.outlines(&[cats.conversation_id]).await.unwrap();
    let kinds: Vec<_> =
        outlines.iter().map(|outline| (outline.role, outline.words, outline.is_question)).collect();
    assert_eq!(kinds, [(Role::User, 5, false), (Role::Assistant, 3, false)]);
}

async fn search_words(store: &dyn Store, words: &[&str], filter: &Filter) -> WordSearchResult {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let search = WordSearch { words: &words, filter, conversations: 10, extra_conversations: &[] };
    store.search_words(&search).await.unwrap()
}

pub async fn messages_of_a_period_are_listed_oldest_first(store: Arc<dyn Store>) {
    for (title, moment) in [("late", 3000), ("early", 1000), ("between", 2000)] {
        let draft = exchange("The boiler was serviced today", "ok", moment);
        store.commit_exchange(&new_conversation(title, "/p"), &draft).await.unwrap();
    }
    let outlines = store.outlines_between(timestamp(1000), timestamp(3000)).await.unwrap();
    let users = outlines.iter().filter(|outline| outline.role == Role::User);
    let times: Vec<i64> = users.map(|outline| outline.created.as_millis()).collect();
    assert_eq!(times, [1000, 2000], "the end is exclusive");
    assert_eq!(store.embedded_count("m").await.unwrap(), 0);
}

pub async fn conversations_that_only_look_things_up_can_be_skipped(store: Arc<dyn Store>) {
    let mut lookup = exchange("Where is the key?", "Under the pot", 1000);
    for message in &mut lookup.messages {
        message.provenance = Provenance::Derived;
    }
    store.commit_exchange(&new_conversation("lookup", "/p"), &lookup).await.unwrap();
    let told = exchange("The key is under the pot", "ok", 2000);
    store.commit_exchange(&new_conversation("told", "/p"), &told).await.unwrap();
    for (exclude_lookups, expected) in [(false, vec!["told", "lookup"]), (true, vec!["told"])] {
        let list = ConversationList { exclude_lookups, limit: 9, ..ConversationList::default() };
        let conversations = store.conversations(&list).await.unwrap();
        let titles: Vec<&str> =
            conversations.iter().map(|conversation| conversation.title.as_str()).collect();
        assert_eq!(titles, expected);
    }
    // A new fork has no messages of its own, but is no lookup.
    let original = store.titles().await.unwrap();
    assert_eq!(original.len(), 1);
    store.fork(original[0].id, timestamp(3000)).await.unwrap();
    assert_eq!(store.titles().await.unwrap().len(), 2);
}

pub async fn rare_and_repeated_words_score_higher(store: Arc<dyn Store>) {
    let mut ids = Vec::new();
    for text in
        ["tea and cake", "tea and milk", "tea tea tea", "milk and a very long list of other things to buy"]
    {
        let draft = exchange(text, "ok", 1000);
        ids.push(store.commit_exchange(&new_conversation(text, "/p"), &draft).await.unwrap().conversation_id);
    }
    let results = search_words(store.as_ref(), &["tea", "cake"], &Filter::default()).await;
    assert_eq!(results.conversations[0].0, ids[0], "it contains both words");
    let score = |word: usize, conversation: usize| {
        let message = results.words[word].iter().find(|message| message.conversation_id == ids[conversation]);
        message.map_or(0.0, |message| message.score)
    };
    assert!(score(1, 0) > score(0, 0), "cake is rarer than tea");
    assert!(score(0, 2) > score(0, 1), "three occurrences score higher than one");
    let milk = search_words(store.as_ref(), &["milk"], &Filter::default()).await;
    assert_eq!(
        milk.conversations.iter().map(|(id, _)| *id).collect::<Vec<_>>(),
        [ids[1], ids[3]],
        "the shorter message first"
    );
    // The best conversation is searched, and the one requested regardless of rank.
    let (words, filter) = (["tea".to_owned()], Filter::default());
    let search =
        WordSearch { words: &words, filter: &filter, conversations: 1, extra_conversations: &[ids[3]] };
    let results = store.search_words(&search).await.unwrap();
    assert_eq!(results.conversations.len(), 2);
    assert_eq!(results.conversations[1], (ids[3], 0.0));
    assert_eq!(results.words[0].len(), 1);
}

pub async fn special_characters_are_not_syntax_errors(store: Arc<dyn Store>) {
    store.commit_exchange(&new_conversation("t", "/p"), &exchange("q", "a", 1)).await.unwrap();
    let long = "word ".repeat(10_000);
    for text in ["", "\"", "a AND", "NEAR(", "x:y", "*", "'; DROP TABLE messages", "你好", "🦀", "\0", &long]
    {
        search_words(store.as_ref(), &[text], &Filter::default()).await;
    }
}

pub async fn filters_apply_before_ranking(store: Arc<dyn Store>) {
    let (mut conversations, mut exchanges) = (Vec::new(), Vec::new());
    for (number, scope) in ["/a", "/a", "/b", "/b"].into_iter().enumerate() {
        let moment = 1000 * i64::try_from(number).unwrap();
        let mut draft = exchange("the same words", "ok", moment);
        draft.messages[0].author = (number == 1).then(|| "Anna".to_owned());
        let committed = store.commit_exchange(&new_conversation("t", scope), &draft).await.unwrap();
        exchanges.push(committed.exchange_id);
        conversations.push(committed.conversation_id);
    }
    let unembedded = store.unembedded(&embeddable(1), 100).await.unwrap();
    let questions = unembedded.iter().filter(|message| message.text.starts_with("the"));
    let embeddings: Vec<NewEmbedding> =
        questions.map(|message| embedding(message.subject, &[0.6, 0.8], "")).collect();
    store.put_embeddings("m", &embeddings).await.unwrap();
    assert!(store.set_shared(conversations[2], true).await.unwrap());
    let any = Filter::default();
    let cases = [
        (Filter { program: Some("memoir".into()), ..any.clone() }, vec![0, 1, 2, 3]),
        (Filter { program: Some("codex".into()), ..any.clone() }, vec![]),
        (Filter { author: Some("Anna".into()), ..any.clone() }, vec![1]),
        (Filter { author: Some("Ben".into()), ..any.clone() }, vec![]),
        (any.clone(), vec![0, 1, 2, 3]),
        (Filter { excluded_conversation: Some(conversations[1]), ..any.clone() }, vec![0, 2, 3]),
        (Filter { conversation: Some(conversations[2]), ..any.clone() }, vec![2]),
        (Filter { scope: Some("/a".into()), ..any.clone() }, vec![0, 1]),
        (Filter { scope: Some("/nowhere".into()), ..any.clone() }, vec![]),
        (Filter { visible_to: Some("/a".into()), ..any.clone() }, vec![0, 1, 2]),
        (Filter { visible_to: Some("/nowhere".into()), ..any.clone() }, vec![2]),
        (Filter { visible_to: Some("/a".into()), scope: Some("/b".into()), ..any.clone() }, vec![2]),
        (
            Filter { visible_to: Some("/a".into()), conversation: Some(conversations[3]), ..any.clone() },
            vec![],
        ),
        (Filter { since: Some(timestamp(2000)), ..any.clone() }, vec![2, 3]),
        (Filter { until: Some(timestamp(2000)), ..any.clone() }, vec![0, 1]),
        (Filter { before: Some(exchanges[1]), ..any.clone() }, vec![0]),
        (Filter { before: Some(exchanges[3]), scope: Some("/b".into()), ..any.clone() }, vec![2]),
        (Filter { scope: Some("/b".into()), since: Some(timestamp(3000)), ..any }, vec![3]),
    ];
    for (filter, expected) in cases {
        let mut expected: Vec<_> = expected.iter().map(|index: &usize| conversations[*index]).collect();
        expected.sort_unstable();
        for accuracy in [Accuracy::Auto, Accuracy::Exact, Accuracy::Approximate] {
            let search = VectorSearch {
                model: "m",
                vector: &[0.6, 0.8],
                filter: &filter,
                effort: SearchEffort { accuracy, ..SearchEffort::default() },
                limit: expected.len().max(1),
            };
            let mut by_meaning: Vec<_> =
                store.nearest(&search).await.unwrap().iter().map(|message| message.conversation_id).collect();
            by_meaning.sort_unstable();
            assert_eq!(by_meaning, expected, "{filter:?}");
        }
        let results = search_words(store.as_ref(), &["words"], &filter).await;
        let mut by_word: Vec<_> = results.words[0].iter().map(|message| message.conversation_id).collect();
        by_word.sort_unstable();
        assert_eq!(by_word, expected, "{filter:?}");
    }
}

pub async fn nearest_messages_are_found_once(store: Arc<dyn Store>) {
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
    assert!(store.unembedded(&embeddable(5), 100).await.unwrap().is_empty(), "all are shorter");
    let unembedded = store.unembedded(&embeddable(4), 100).await.unwrap();
    assert_eq!(store.unembedded_in_exchange(exchanges[1], &embeddable(4)).await.unwrap().len(), 2);
    let questions = unembedded.iter().filter(|message| message.text.starts_with('q'));
    let embeddings: Vec<NewEmbedding> = questions
        .map(|message| {
            let position = ids.iter().position(|id| Some(*id) == message.conversation_id).unwrap();
            embedding(message.subject, &vectors[position], "")
        })
        .collect();
    // Storing the same embeddings again changes nothing.
    for _ in 0..2 {
        store.put_embeddings("m", &embeddings).await.unwrap();
    }
    let (everywhere, query) = (Filter::default(), [1.0, 0.0, 0.0, 0.0]);
    let elsewhere = Filter { excluded_conversation: Some(ids[0]), ..Filter::default() };
    let search = VectorSearch {
        model: "m",
        vector: &query,
        filter: &everywhere,
        effort: SearchEffort::default(),
        limit: 2,
    };
    let nearest: Vec<_> =
        store.nearest(&search).await.unwrap().iter().map(|message| message.conversation_id).collect();
    assert_eq!(nearest, [ids[0], ids[1]]);
    let filtered = store.nearest(&VectorSearch { filter: &elsewhere, ..search }).await.unwrap();
    assert_eq!(filtered[0].conversation_id, ids[1], "the filter applies before ranking");
    assert_eq!(filtered.len(), 2);
    assert!((filtered[0].score - 0.8).abs() < 0.002, "{filtered:?}");
    assert!(store.nearest(&VectorSearch { model: "another", ..search }).await.unwrap().is_empty());
    let estimates = store.similarities("m", &query, &ids[..1]).await.unwrap();
    assert_eq!(estimates.len(), 1, "the answer has no embedding");
    let messages: Vec<_> = filtered.iter().map(|message| message.message_id).collect();
    let parts = store.nearest_parts("m", &query, &messages).await.unwrap();
    assert_eq!(parts.len(), 2);
    assert!(parts.iter().all(|part| messages.contains(&part.message_id) && part.vector.len() == 4));
    assert_eq!(store.unembedded(&embeddable(4), 100).await.unwrap().len(), 3);
    assert_eq!(store.unembedded_count(SubjectKind::Message, &embeddable(4)).await.unwrap(), 3);
    // A long message is found by its best part, and counts once.
    let answers = store.unembedded(&embeddable(4), 1).await.unwrap();
    let parts = vec![(0..1, vec![0.0, 0.0, 0.0, 1.0]), (1..2, vec![0.9, 0.0, 0.0, 0.43589])];
    let long = NewEmbedding { subject: answers[0].subject, parts, text: String::new() };
    let message = MessageId::new(long.subject.id);
    store.put_embeddings("m", &[long]).await.unwrap();
    let nearest = store.nearest(&VectorSearch { limit: 9, ..search }).await.unwrap();
    let scores: Vec<f64> =
        nearest.iter().filter(|found| found.message_id == message).map(|found| found.score).collect();
    assert!(scores.len() == 1 && (scores[0] - 0.9 + LATER_PART_DISCOUNT).abs() < 0.002, "{nearest:?}");
    assert_eq!(nearest.len(), 4);
    let conversation = nearest.iter().find(|found| found.message_id == message).unwrap().conversation_id;
    let estimates = store.similarities("m", &query, &[conversation]).await.unwrap();
    let estimates: Vec<_> = estimates.iter().filter(|found| found.message_id == message).collect();
    assert!(estimates.len() == 1 && estimates[0].score > 0.5, "{estimates:?}");
    let part = store.nearest_parts("m", &query, &[message]).await.unwrap().remove(0);
    assert_eq!(part.range, 1..2);
    assert_eq!(store.embedded_count("m").await.unwrap(), 4);
    assert_eq!(store.unembedded_count(SubjectKind::Message, &embeddable(4)).await.unwrap(), 2);
    // Deleted embeddings are to be recomputed.
    assert_eq!(store.delete_embeddings().await.unwrap(), 5);
    assert!(store.nearest(&search).await.unwrap().is_empty());
    assert_eq!(store.unembedded_count(SubjectKind::Message, &embeddable(4)).await.unwrap(), 6);
}
