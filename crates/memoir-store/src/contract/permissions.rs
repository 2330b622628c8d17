//! Checks for permission rules.

use std::sync::Arc;

use super::timestamp;
use crate::Store;

pub async fn rules_apply_to_one_project_or_all(store: Arc<dyn Store>) {
    store.add_approval_rule("allow", "run git status", "/p", timestamp(1)).await.unwrap();
    store.add_approval_rule("deny", "run rm", "", timestamp(2)).await.unwrap();
    store.add_approval_rule("deny", "run rm", "", timestamp(3)).await.unwrap();
    let rules = async |scope: &str| -> Vec<String> {
        store.approval_rules(scope).await.unwrap().into_iter().map(|rule| rule.rule).collect()
    };
    assert_eq!(rules("/p").await, ["run git status", "run rm"], "a rule is not added twice");
    assert_eq!(rules("/q").await, ["run rm"]);
    let id = store.approval_rules("/p").await.unwrap()[0].id;
    assert!(store.remove_approval_rule(id).await.unwrap());
    assert!(!store.remove_approval_rule(id).await.unwrap());
    assert_eq!(rules("/p").await, ["run rm"]);
}
