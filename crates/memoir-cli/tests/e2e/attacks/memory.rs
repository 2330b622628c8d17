//! Reading memory that a setting hides.

use serde_json::json;

use crate::{confinement::calls, helpers::import_exchanges, home};

#[test]
fn no_tool_reads_other_projects_if_memory_is_limited_to_one() {
    let home = home();
    let exchange = ("The vault code is 7731.".to_owned(), "I will remember it.".to_owned());
    import_exchanges(&home, "/elsewhere", "2026-01-05T10:00:00Z", &[exchange]);
    let attempts = [
        ("database_query", json!({"sql": "SELECT content FROM messages"})),
        ("database_query", json!({"sql": "SELECT m.content FROM main.messages AS m"})),
        ("database_message", json!({"message_id": 1})),
        ("fetch_conversation_details", json!({"conversation_id": 1})),
        ("fetch_conversation_details", json!({"exchange_id": 1, "include_full_transcript": true})),
        ("search_memory", json!({"query": "vault code"})),
    ];
    for (attempt, output) in attempts.iter().zip(calls(&home, "full", &attempts)) {
        assert!(output.contains("7731"), "the attack works without the setting: {attempt:?} {output}");
    }
    home.memoir(["config", "set", "rag.scope", "only"]).succeed();
    for (attempt, output) in attempts.iter().zip(calls(&home, "full", &attempts)) {
        assert!(!output.contains("7731"), "{attempt:?} {output}");
    }
}
