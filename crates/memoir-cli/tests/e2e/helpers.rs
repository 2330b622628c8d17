//! Helpers that prepare a home. The helpers that read stored data are in `memoir_testkit::data`.

use memoir_testkit::TestHome;
use serde_json::json;

/// Creates an empty home with the binary under test.
pub(crate) fn home() -> TestHome {
    TestHome::new(env!("CARGO_BIN_EXE_memoir"))
}

/// Imports one conversation of prompts and answers, all dated `created` (RFC 3339). Does not embed or
/// summarize anything.
pub(crate) fn import_exchanges(home: &TestHome, scope: &str, created: &str, exchanges: &[(String, String)]) {
    import_conversations(home, scope, created, &[exchanges.to_vec()]);
}

/// Imports several conversations; see [`import_exchanges`].
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
        lines.extend(exchanges.iter().map(|(prompt, answer)| {
            json!({"kind": "exchange", "conversation": id, "model": "imported", "messages": [
                {"role": "user", "text": prompt, "created": created},
                {"role": "assistant", "text": answer, "created": created},
            ]})
        }));
    }
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let file = home.workspace().join("import.jsonl");
    std::fs::write(&file, text).unwrap();
    home.memoir(["import", "memoir", "import.jsonl"]).succeed();
    std::fs::remove_file(file).unwrap();
}
