//! Notices about the start of a session.

use memoir_core::{Clock as _, SystemClock};
use memoir_runtime::SessionOptions;
use memoir_testkit::ScriptedProvider;

use super::open;

#[tokio::test]
async fn invalid_settings_and_rules_are_ignored_with_a_notice() {
    let home = tempfile::TempDir::new().unwrap();
    let runtime = open(home.path(), &ScriptedProvider::start([])).await;
    let (store, now) = (runtime.store(), SystemClock.now());
    for (key, value) in [
        ("rag.token_budget", "plenty"),
        ("context.budget_tokens", "plenty"),
        ("workers.embedding_generator", "perhaps"),
    ] {
        store.set_setting(key, Some(value), now).await.unwrap();
    }
    let project = runtime.project().to_string_lossy().into_owned();
    store.add_approval_rule("deny", "execute_bash(unclosed", &project, now).await.unwrap();

    let session = runtime.session(SessionOptions::default()).await.unwrap();
    for expected in [
        "rag.token_budget is ignored",
        "context.budget_tokens is ignored",
        "workers.embedding_generator is ignored",
        "(deny execute_bash(unclosed) is ignored",
    ] {
        assert!(
            session.notices.iter().any(|notice| notice.contains(expected)),
            "{expected}: {:?}",
            session.notices
        );
    }
    session.close().await;
    runtime.close().await;
}
