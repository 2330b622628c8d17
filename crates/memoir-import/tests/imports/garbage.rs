//! No input makes a reader panic.

use memoir_core::TimeZone;
use memoir_import::{ImportedHistory, detect_format, read_whatsapp};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::FILES;

/// Passes a text to every reader and checks that the histories are consistent.
fn read_with_all(text: &str) {
    let _ = detect_format(text);
    let mut histories: Vec<ImportedHistory> =
        FILES.iter().filter_map(|(_, _, read)| read(text).ok()).collect();
    histories.extend(read_whatsapp(text, "chat", &TimeZone::UTC, None).ok());
    for history in histories {
        for conversation in &history.conversations {
            assert!(!conversation.messages.is_empty());
            assert!(
                !conversation.origin.is_empty()
                    && !conversation.scope.is_empty()
                    && !conversation.model.is_empty()
            );
        }
        assert!(history.skipped.iter().all(|(_, count)| *count > 0));
    }
}

/// Keys that at least one reader knows.
const KEYS: [&str; 46] = [
    "projectHash",
    "$set",
    "$rewindTo",
    "displayContent",
    "toolCalls",
    "thoughts",
    "id",
    "conversation_id",
    "title",
    "create_time",
    "current_node",
    "mapping",
    "parent",
    "message",
    "author",
    "role",
    "content",
    "content_type",
    "parts",
    "metadata",
    "recipient",
    "uuid",
    "name",
    "created_at",
    "chat_messages",
    "text",
    "sender",
    "attachments",
    "type",
    "timestamp",
    "sessionId",
    "cwd",
    "parentUuid",
    "isSidechain",
    "summary",
    "leafUuid",
    "payload",
    "kind",
    "format",
    "conversation",
    "messages",
    "created",
    "origin",
    "tool_calls",
    "num_turns",
    "attachment",
];

/// Values that at least one reader knows.
const WORDS: [&str; 33] = [
    "gemini",
    "info",
    "<hook_context>",
    "user",
    "assistant",
    "system",
    "tool",
    "human",
    "text",
    "multimodal_text",
    "thinking",
    "tool_use",
    "tool_result",
    "summary",
    "attachment",
    "queued_command",
    "session_meta",
    "response_item",
    "event_msg",
    "turn_context",
    "message",
    "input_text",
    "thread_rolled_back",
    "memoir",
    "conversation",
    "exchange",
    "a",
    "b",
    "2024-05-01T10:00:00Z",
    "all",
    "",
    "<environment_context>",
    "\u{feff}",
];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        proptest::sample::select(&WORDS[..]).prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, |inner| {
        let key = prop_oneof![proptest::sample::select(&KEYS[..]), proptest::sample::select(&WORDS[..])];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            proptest::collection::vec((key, inner), 0..8).prop_map(|pairs| {
                Value::from(
                    pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>(),
                )
            }),
        ]
    })
}

/// Replaces the value at a path by another one.
fn replace_at(value: &mut Value, path: &[usize], replacement: Value) {
    let children: Vec<&mut Value> = match value {
        Value::Array(values) => values.iter_mut().collect(),
        Value::Object(values) => values.iter_mut().map(|(_, value)| value).collect(),
        _ => Vec::new(),
    };
    match path.split_first() {
        Some((step, path)) if !children.is_empty() => {
            let index = step % children.len();
            if let Some(child) = children.into_iter().nth(index) {
                replace_at(child, path, replacement);
            }
        }
        _ => *value = replacement,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn truncated_files(file in 0..FILES.len(), part in 0.0..1.0_f64) {
        let (_, text, _) = FILES[file];
        let end = text.floor_char_boundary((text.len() as f64 * part) as usize);
        read_with_all(&text[..end]);
        read_with_all(&text[end..]);
    }

    #[test]
    fn damaged_files(file in 0..FILES.len(), path in proptest::collection::vec(any::<usize>(), 1..7), replacement in value(), line in any::<usize>()) {
        let (_, text, read) = FILES[file];
        if let Ok(mut export) = serde_json::from_str::<Value>(text) {
            let count = export.as_array().map_or(0, Vec::len);
            replace_at(&mut export, &path, replacement);
            read_with_all(&export.to_string());
            if export.as_array().is_some_and(|conversations| conversations.len() == count) {
                // A damaged conversation does not affect the others.
                prop_assert!(!read(&export.to_string()).unwrap().conversations.is_empty());
            }
        } else {
            let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
            let index = line % lines.len();
            if let Ok(mut value) = serde_json::from_str(&lines[index]) {
                replace_at(&mut value, &path, replacement);
                lines[index] = value.to_string();
                read_with_all(&lines.join("\n"));
            }
        }
    }

    #[test]
    fn random_json(values in proptest::collection::vec(value(), 0..6)) {
        let lines: Vec<String> = values.iter().map(Value::to_string).collect();
        read_with_all(&lines.join("\n"));
        read_with_all(&Value::from(values).to_string());
    }

    #[test]
    fn random_text(text in any::<String>(), brackets in "[\\[\\]{}\":,0-9a-z \n\\\\]{0,80}") {
        read_with_all(&text);
        read_with_all(&brackets);
        read_with_all(&format!("{{\"kind\":\"memoir\",\"format\":1}}\n{brackets}\n{text}"));
    }
}

#[test]
fn deep_nesting_does_not_overflow_the_stack() {
    for (open, close) in [("[", "]"), ("{\"mapping\":", "}"), ("{\"payload\":", "}")] {
        let deep = format!("{}1{}", open.repeat(50_000), close.repeat(50_000));
        read_with_all(&deep);
        read_with_all(&format!("[{{\"id\":\"1\",\"mapping\":{{\"a\":{deep}}}}}]"));
    }
}
