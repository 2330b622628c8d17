//! What several test files use to arrange a home. What reads one back is in `memoir_testkit::data`.

use memoir_testkit::TestHome;
use serde_json::json;

/// Creates a fresh home with the binary under test.
pub(crate) fn home() -> TestHome {
    TestHome::new(env!("CARGO_BIN_EXE_memoir"))
}

/// Imports one conversation: what was asked and answered, all of it at `created` (RFC 3339). Nothing is embedded or summarised yet.
pub(crate) fn import_exchanges(home: &TestHome, scope: &str, created: &str, exchanges: &[(String, String)]) {
    import_conversations(home, scope, created, &[exchanges.to_vec()]);
}

/// Imports conversations; see [`import_exchanges`].
pub(crate) fn import_conversations(
    home: &TestHome,
    scope: &str,
    created: &str,
    conversations: &[Vec<(String, String)>],
) {
    let mut lines = vec![json!({"kind": "memoir", "format": 1})];
    for (id, exchanges) in conversations.iter().enumerate() {
        lines.push(json!({
            "kind": "conversation", "id": id, "origin": format!("{scope}/{created}/{id}"), "title": "Imported",
            "scope": scope, "created": created,
        }));
        lines.extend(exchanges.iter().map(|(asked, answered)| {
            json!({"kind": "exchange", "conversation": id, "model": "imported", "messages": [
                {"role": "user", "text": asked, "created": created},
                {"role": "assistant", "text": answered, "created": created},
            ]})
        }));
    }
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let file = home.workspace().join("import.jsonl");
    std::fs::write(&file, text).unwrap();
    home.memoir(["import", "memoir", "import.jsonl"]).succeed();
    std::fs::remove_file(file).unwrap();
}
