//! Checks that results are in commit order, regardless of the clock and of concurrent writers.

use std::sync::Arc;

use memoir_core::{ConversationId, ConversationTarget, ExchangeId};

use super::{assistant, draft_message, exchange, new_conversation, timestamp, user};
use crate::{ConversationList, Filter, ListPosition, Store, WordSearch};

/// Commits one exchange per pair of question and time.
async fn commit(
    store: &dyn Store,
    target: &mut ConversationTarget,
    questions: &[(&str, i64)],
) -> Vec<ExchangeId> {
    let mut ids = Vec::new();
    for (question, moment) in questions {
        let committed = store.commit_exchange(target, &exchange(question, "ok", *moment)).await.unwrap();
        *target = committed.to_target();
        ids.push(committed.exchange_id);
    }
    ids
}

fn id_of(target: &ConversationTarget) -> ConversationId {
    match target {
        ConversationTarget::Existing { conversation, .. } => *conversation,
        _ => unreachable!("the conversation exists after a commit"),
    }
}

async fn questions(store: &dyn Store, id: ConversationId, limit: u32) -> Vec<String> {
    let exchanges = store.exchanges(id, limit).await.unwrap();
    exchanges.into_iter().map(|exchange| exchange.user_message).collect()
}

pub async fn exchanges_keep_commit_order_when_the_clock_goes_back(store: Arc<dyn Store>) {
    let mut target = new_conversation("t", "/p");
    let ids =
        commit(store.as_ref(), &mut target, &[("first", 9_000), ("second", 5_000), ("third", 7_000)]).await;
    let id = id_of(&target);
    assert_eq!(questions(store.as_ref(), id, 10).await, ["first", "second", "third"]);
    assert_eq!(questions(store.as_ref(), id, 2).await, ["second", "third"], "the last two");
    let texts = async |after| -> Vec<String> {
        let messages = store.shown_messages(id, after).await.unwrap();
        messages.into_iter().map(|message| message.body.text().to_owned()).collect()
    };
    assert_eq!(texts(None).await, ["first", "ok", "second", "ok", "third", "ok"]);
    assert_eq!(texts(Some(ids[0])).await, ["second", "ok", "third", "ok"], "committed after the first");
    let outlines = store.outlines(&[id]).await.unwrap();
    let exchanges: Vec<ExchangeId> = outlines.iter().map(|outline| outline.exchange_id).collect();
    assert_eq!(exchanges, [ids[0], ids[0], ids[1], ids[1], ids[2], ids[2]]);
}

pub async fn conversations_and_exchanges_are_read_in_pages(store: Arc<dyn Store>) {
    let mut trunk = new_conversation("trunk", "/p");
    commit(store.as_ref(), &mut trunk, &[("1", 9_000), ("2", 5_000), ("3", 7_000)]).await;
    let fork = store.fork(id_of(&trunk), timestamp(9_010)).await.unwrap().unwrap();
    let mut branch = ConversationTarget::Existing { conversation: fork, last_seen: None };
    let last = commit(store.as_ref(), &mut branch, &[("4", 9_000)]).await[0];
    let before = async |exchange, limit| -> Vec<(String, ExchangeId)> {
        let exchanges = store.exchanges_before(fork, exchange, limit).await.unwrap();
        exchanges.into_iter().map(|exchange| (exchange.user_message, exchange.id)).collect()
    };
    let page = before(last, 2).await;
    assert_eq!([&page[0].0, &page[1].0], ["2", "3"]);
    assert_eq!(before(page[0].1, 2).await[0].0, "1");

    commit(store.as_ref(), &mut new_conversation("older", "/p"), &[("5", 100)]).await;
    // The trunk and the fork were updated at the same time.
    let (mut titles, mut after) = (Vec::new(), None);
    loop {
        let list = ConversationList { after, limit: 1, ..ConversationList::default() };
        let Some(conversation) = store.conversations(&list).await.unwrap().pop() else { break };
        after = Some(ListPosition { updated: conversation.updated, id: conversation.id });
        titles.push((conversation.title, conversation.id));
    }
    let all = ConversationList { limit: 9, ..ConversationList::default() };
    let all = store.conversations(&all).await.unwrap().into_iter();
    assert_eq!(titles, all.map(|conversation| (conversation.title, conversation.id)).collect::<Vec<_>>());
    assert_eq!(titles.len(), 3);
}

pub async fn interleaved_conversations_keep_their_order(store: Arc<dyn Store>) {
    let (mut one, mut other) = (new_conversation("one", "/p"), new_conversation("other", "/p"));
    for round in 0..4 {
        commit(store.as_ref(), &mut one, &[(&format!("one {round}"), round)]).await;
        commit(store.as_ref(), &mut other, &[(&format!("other {round}"), 100 - round)]).await;
    }
    assert_eq!(questions(store.as_ref(), id_of(&one), 10).await, ["one 0", "one 1", "one 2", "one 3"]);
    assert_eq!(questions(store.as_ref(), id_of(&other), 2).await, ["other 2", "other 3"]);
}

pub async fn messages_keep_the_order_of_their_draft(store: Arc<dyn Store>) {
    let mut draft = exchange("0", "1", 1_000);
    // Timestamps decrease, so only the positions in the draft give the order.
    for number in 2..12 {
        let text = number.to_string();
        let body = if number % 2 == 0 { user(&text) } else { assistant(&text) };
        draft.messages.push(draft_message(body, 1_000 - number));
    }
    let committed = store.commit_exchange(&new_conversation("t", "/p"), &draft).await.unwrap();
    let messages = store.exchange_messages(committed.exchange_id).await.unwrap();
    let texts: Vec<String> = messages.iter().map(|message| message.body.text().to_owned()).collect();
    assert_eq!(texts, (0..12).map(|number: i32| number.to_string()).collect::<Vec<_>>());
    assert_eq!(store.messages(committed.conversation_id, 1).await.unwrap(), messages);
    assert_eq!(store.message(messages[3].id).await.unwrap().as_ref(), Some(&messages[3]));
}

pub async fn fork_continues_the_order_of_its_parent(store: Arc<dyn Store>) {
    let mut trunk = new_conversation("t", "/p");
    let shared = commit(store.as_ref(), &mut trunk, &[("shared", 8_000)]).await;
    let fork = store.fork(id_of(&trunk), timestamp(8_500)).await.unwrap().unwrap();
    let mut branch = ConversationTarget::Existing { conversation: fork, last_seen: None };
    // Commits to the trunk and the fork alternate while the clock goes back.
    commit(store.as_ref(), &mut trunk, &[("trunk 1", 9_000)]).await;
    commit(store.as_ref(), &mut branch, &[("fork 1", 4_000)]).await;
    commit(store.as_ref(), &mut trunk, &[("trunk 2", 3_000)]).await;
    commit(store.as_ref(), &mut branch, &[("fork 2", 2_000)]).await;
    assert_eq!(questions(store.as_ref(), fork, 10).await, ["shared", "fork 1", "fork 2"]);
    assert_eq!(questions(store.as_ref(), id_of(&trunk), 10).await, ["shared", "trunk 1", "trunk 2"]);
    let shown = store.shown_messages(fork, Some(shared[0])).await.unwrap();
    assert_eq!(shown.len(), 4, "the messages after the shared exchange");
}

pub async fn search_before_an_exchange_finds_earlier_commits(store: Arc<dyn Store>) {
    let mut target = new_conversation("t", "/p");
    let ids = commit(
        store.as_ref(),
        &mut target,
        &[("a lantern", 9_000), ("a lantern", 5_000), ("a lantern", 1_000)],
    )
    .await;
    let words = ["lantern".to_owned()];
    for (position, id) in ids.iter().enumerate() {
        let filter = Filter { before: Some(*id), ..Filter::default() };
        let search =
            WordSearch { words: &words, filter: &filter, conversations: 5, extra_conversations: &[] };
        assert_eq!(store.search_words(&search).await.unwrap().words[0].len(), position);
        assert_eq!(store.committed_before(&ids, *id).await.unwrap(), ids[..position]);
    }
}

pub async fn lists_are_sorted_by_time(store: Arc<dyn Store>) {
    for (rule, moment) in [("run ls", 30), ("run cat", 10), ("run git", 20)] {
        store.add_approval_rule("allow", rule, "/p", timestamp(moment)).await.unwrap();
    }
    let rules: Vec<String> =
        store.approval_rules("/p").await.unwrap().into_iter().map(|rule| rule.rule).collect();
    assert_eq!(rules, ["run cat", "run git", "run ls"]);
    let (first, second) = (new_conversation("used last", "/p"), new_conversation("used before", "/p"));
    store.commit_exchange(&first, &exchange("q", "a", 9_000)).await.unwrap();
    store.commit_exchange(&second, &exchange("q", "a", 1_000)).await.unwrap();
    let titles: Vec<String> = store.titles().await.unwrap().into_iter().map(|entry| entry.title).collect();
    assert_eq!(titles, ["used last", "used before"]);
}
