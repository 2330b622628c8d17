//! Rules that are kept, secrets that are not, and questions in the database's own language.

use std::time::Duration;

use super::{at, exchange, new_conversation};
use crate::{QueryLimits, Store};

pub(super) async fn rules_are_kept_for_a_project_or_everywhere(store: impl Store) {
    store.add_approval_rule("allow", "run git status", "/p", at(1)).await.unwrap();
    store.add_approval_rule("deny", "run rm", "", at(2)).await.unwrap();
    store.add_approval_rule("deny", "run rm", "", at(3)).await.unwrap();
    let rules = async |scope: &str| -> Vec<String> {
        store.approval_rules(scope).await.unwrap().into_iter().map(|rule| rule.rule).collect()
    };
    assert_eq!(rules("/p").await, ["run git status", "run rm"], "one that is there already stays");
    assert_eq!(rules("/q").await, ["run rm"]);
    let id = store.approval_rules("/p").await.unwrap()[0].id;
    assert!(store.remove_approval_rule(id).await.unwrap());
    assert!(!store.remove_approval_rule(id).await.unwrap());
    assert_eq!(rules("/p").await, ["run rm"]);
}

pub(super) async fn secrets_are_not_kept_and_what_was_found_is_told(store: impl Store) {
    let key = format!("ghp_{}", "Zy9xW7vU5tS3rQ1pN9mL7kJ5hG3fE1dC9bA7");
    let draft = exchange(&format!("My token is {key}"), &format!("Keep {key} safe"), 5_000);
    let filed = store.commit_exchange(&new_conversation(&key, "/p"), &draft).await.unwrap();
    let kept = store.exchange(filed.exchange_id).await.unwrap().unwrap();
    let messages = store.exchange_messages(filed.exchange_id).await.unwrap();
    let title = store.conversation(filed.conversation_id).await.unwrap().unwrap().title;
    let all = format!("{kept:?}{messages:?}{title}");
    assert!(!all.contains(&key) && all.contains("[redacted: "), "{all}");
    let told = store.redactions(10).await.unwrap();
    assert_eq!(told.len(), 2, "where it was said, and nowhere twice");
    assert!(told.iter().all(|found| found.exchange_id == Some(filed.exchange_id) && !format!("{found:?}").contains(&key)));
    assert_eq!(store.redactions(1).await.unwrap().len(), 1);
}

pub(super) async fn questions_in_sql_read_and_no_more(store: impl Store) {
    for number in 0..3 {
        let draft = exchange(&format!("question {number}"), "answer", number);
        store.commit_exchange(&new_conversation("talk", "/p"), &draft).await.unwrap();
    }
    let limits = QueryLimits { rows: 2, time: Duration::from_secs(5) };
    let answer = store.query("SELECT id, user_message FROM exchanges ORDER BY id", limits).await.unwrap();
    assert_eq!(answer.columns, ["id", "user_message"]);
    assert_eq!((answer.rows.len(), answer.more), (2, true));
    assert_eq!(answer.rows[1][1], "question 1");
    for change in
        ["DELETE FROM exchanges", "SELECT 1; DELETE FROM exchanges", "PRAGMA user_version = 1", "", "SELEKT"]
    {
        assert!(store.query(change, limits).await.is_err(), "{change}");
    }
    assert_eq!(
        store.tables().await.unwrap().iter().find(|table| table.name == "exchanges").map(|table| table.rows),
        Some(3)
    );
}
