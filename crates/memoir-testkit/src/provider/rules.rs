//! Validation of requests as the real providers do it: roles and their order, and results for all tool calls.

use std::collections::HashSet;

use serde_json::Value;

/// Returns a description of the first rule that a request to `path` violates.
pub(super) fn find_violation(path: &str, body: &Value) -> Option<String> {
    let result = match path {
        path if path.ends_with("/chat/completions") => openai(body),
        path if path.ends_with("/responses") => responses(body),
        path if path.ends_with("/messages") => anthropic(body),
        path if path.ends_with(":streamGenerateContent") => gemini(body),
        path if path.ends_with("/api/chat") => ollama(body),
        _ => Ok(()),
    };
    result.err()
}

type RuleResult = Result<(), String>;

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

fn ensure(is_valid: bool, violation: impl Into<String>) -> RuleResult {
    if is_valid { Ok(()) } else { Err(violation.into()) }
}

/// Checks messages with OpenAI's roles: a system message first, alternating user and assistant messages, and
/// results directly after their calls.
fn check_turns(
    messages: &[Value],
    mut call_ids: impl FnMut(&Value) -> Vec<String>,
    result_id: impl Fn(&Value) -> Option<String>,
) -> RuleResult {
    let mut open_calls: Vec<String> = Vec::new();
    let mut last_role = "";
    for (index, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        let text = message["content"].as_str().unwrap_or_default();
        match role {
            "system" | "developer" => ensure(index == 0, "a system message that is not the first")?,
            "user" => {
                ensure(open_calls.is_empty(), format!("calls without results: {open_calls:?}"))?;
                ensure(last_role != "user", "two user messages in a row")?;
                ensure(!text.trim().is_empty() || message["content"].is_array(), "an empty user message")?;
            }
            "assistant" => {
                ensure(open_calls.is_empty(), format!("calls without results: {open_calls:?}"))?;
                ensure(
                    !matches!(last_role, "" | "system" | "developer" | "assistant"),
                    "an assistant message out of turn",
                )?;
                open_calls = call_ids(message);
                ensure(!open_calls.is_empty() || !text.is_empty(), "an empty assistant message")?;
            }
            "tool" => {
                let expected_id = result_id(message);
                let index = open_calls
                    .iter()
                    .position(|id| expected_id.as_ref().is_none_or(|expected| id == expected));
                match index {
                    Some(index) => open_calls.remove(index),
                    None => return Err(format!("a result without its call: {expected_id:?}")),
                };
            }
            other => return Err(format!("an unknown role {other:?}")),
        }
        last_role = role;
    }
    ensure(open_calls.is_empty(), format!("calls without results: {open_calls:?}"))?;
    ensure(matches!(last_role, "user" | "tool"), format!("the last message has the role {last_role:?}"))
}

fn openai(body: &Value) -> RuleResult {
    let id = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    check_turns(
        list(body, "messages"),
        |message| list(message, "tool_calls").iter().map(|call| id(&call["id"])).collect(),
        |message| Some(id(&message["tool_call_id"])),
    )
}

/// Checks Ollama's messages. Its calls have no ids, so only the number of results is checked.
fn ollama(body: &Value) -> RuleResult {
    let mut count = 0;
    check_turns(
        list(body, "messages"),
        |message| {
            let calls = list(message, "tool_calls").iter();
            calls
                .map(|_| {
                    count += 1;
                    count.to_string()
                })
                .collect()
        },
        |_| None,
    )
}

fn responses(body: &Value) -> RuleResult {
    let mut open_calls: HashSet<String> = HashSet::new();
    let mut last = "";
    for item in list(body, "input") {
        let id = item["call_id"].as_str().unwrap_or_default().to_owned();
        let kind = item["type"].as_str().or(item["role"].as_str()).unwrap_or_default();
        match kind {
            "function_call" => drop(open_calls.insert(id)),
            "function_call_output" => {
                ensure(open_calls.remove(&id), format!("a result without its call: {id}"))?;
            }
            "user" => {
                ensure(open_calls.is_empty(), format!("calls without results: {open_calls:?}"))?;
                ensure(last != "user", "two user messages in a row")?;
            }
            "reasoning" => {
                ensure(item["encrypted_content"].is_string(), "reasoning that the server does not know")?
            }
            "assistant" | "message" => {}
            other => return Err(format!("an unknown item {other:?}")),
        }
        last = kind;
    }
    ensure(body["store"] == false, "the server would store the conversation")?;
    ensure(open_calls.is_empty(), format!("calls without results: {open_calls:?}"))?;
    ensure(matches!(last, "user" | "function_call_output"), format!("the last item is {last:?}"))
}

fn anthropic(body: &Value) -> RuleResult {
    ensure(body["max_tokens"].as_u64().is_some_and(|limit| limit > 0), "max_tokens is missing")?;
    let breakpoints = body.to_string().matches("\"cache_control\"").count();
    ensure(breakpoints <= 4, format!("{breakpoints} cache breakpoints; 4 are allowed"))?;
    let mut open_calls: HashSet<String> = HashSet::new();
    let mut last_role = "";
    for message in list(body, "messages") {
        let role = message["role"].as_str().unwrap_or_default();
        ensure(matches!(role, "user" | "assistant"), format!("an unknown role {role:?}"))?;
        ensure(
            role != last_role && !(last_role.is_empty() && role == "assistant"),
            format!("{role:?} out of turn"),
        )?;
        let text = message["content"].as_str();
        ensure(text.is_none_or(|text| !text.trim().is_empty()), "an empty message")?;
        let mut new_calls = HashSet::new();
        for block in list(message, "content") {
            let field = |name: &str| block[name].as_str().unwrap_or_default().to_owned();
            match block["type"].as_str().unwrap_or_default() {
                "text" => ensure(!field("text").trim().is_empty(), "an empty text block")?,
                "tool_use" => drop(new_calls.insert(field("id"))),
                "tool_result" => {
                    ensure(
                        open_calls.remove(&field("tool_use_id")),
                        format!("a result without its call: {}", field("tool_use_id")),
                    )?;
                }
                _ => {}
            }
        }
        ensure(open_calls.is_empty(), format!("calls without results: {open_calls:?}"))?;
        open_calls = new_calls;
        last_role = role;
    }
    ensure(last_role == "user", format!("the last message has the role {last_role:?}"))
}

fn gemini(body: &Value) -> RuleResult {
    let mut open_calls: Vec<String> = Vec::new();
    let mut last_role = "";
    for content in list(body, "contents") {
        let role = content["role"].as_str().unwrap_or_default();
        ensure(matches!(role, "user" | "model" | "function"), format!("an unknown role {role:?}"))?;
        ensure(
            role != last_role && !(last_role.is_empty() && role == "model"),
            format!("{role:?} out of turn"),
        )?;
        let parts = list(content, "parts");
        ensure(!parts.is_empty(), "a content without parts")?;
        let mut new_calls = Vec::new();
        for part in parts {
            let name = |kind: &str| part[kind]["name"].as_str().map(str::to_owned);
            if let Some(name) = name("functionCall") {
                new_calls.push(name);
            } else if let Some(name) = name("functionResponse") {
                match open_calls.iter().position(|call| *call == name) {
                    Some(index) => drop(open_calls.remove(index)),
                    None => return Err(format!("a response without its call: {name}")),
                }
            } else if part["text"].is_string() {
                ensure(part["text"] != "" || !part["thoughtSignature"].is_null(), "an empty part")?;
            }
        }
        ensure(open_calls.is_empty(), format!("calls without responses: {open_calls:?}"))?;
        open_calls = new_calls;
        last_role = role;
    }
    ensure(matches!(last_role, "user" | "function"), format!("the last content has the role {last_role:?}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const OPENAI: &str = "/v1/chat/completions";

    #[test]
    fn valid_requests_have_no_violation() {
        let call = json!({"id": "a", "type": "function", "function": {"name": "t", "arguments": "{}"}});
        let body = json!({"messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "u"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "a", "content": "r"},
        ]});
        assert_eq!(find_violation(OPENAI, &body), None);
        assert_eq!(find_violation("/api/chat", &body), None);
        let body = json!({"max_tokens": 10, "messages": [
            {"role": "user", "content": "u"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a"}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]},
        ]});
        assert_eq!(find_violation("/v1/messages", &body), None);
        let body = json!({"contents": [
            {"role": "user", "parts": [{"text": "u"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "t"}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "t"}}]},
        ]});
        assert_eq!(find_violation("/m:streamGenerateContent", &body), None);
    }

    #[test]
    fn every_violation_is_found() {
        let user = || json!({"role": "user", "content": "u"});
        let assistant = || json!({"role": "assistant", "content": "a"});
        let call = || json!({"role": "assistant", "content": "", "tool_calls": [{"id": "a"}]});
        let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "r"});
        for messages in [
            vec![user(), user()],
            vec![assistant(), user()],
            vec![user(), assistant()],
            vec![user(), assistant(), assistant(), user()],
            vec![user(), call(), user()],
            vec![user(), call(), result("b")],
            vec![user(), result("a")],
            vec![user(), json!({"role": "system", "content": "late"}), user()],
            vec![json!({"role": "user", "content": " "})],
            vec![],
        ] {
            assert!(find_violation(OPENAI, &json!({"messages": messages})).is_some(), "{messages:?}");
        }
        let anthropic =
            |messages: Value| find_violation("/v1/messages", &json!({"max_tokens": 1, "messages": messages}));
        assert!(anthropic(json!([user(), user()])).is_some());
        assert!(
            anthropic(
                json!([user(), {"role": "assistant", "content": [{"type": "tool_use", "id": "a"}]}, user()])
            )
            .is_some()
        );
        assert!(anthropic(json!([{"role": "user", "content": [{"type": "text", "text": ""}]}])).is_some());
        assert!(find_violation("/v1/messages", &json!({"messages": [user()]})).is_some());
        let gemini =
            |contents: Value| find_violation("/m:streamGenerateContent", &json!({"contents": contents}));
        let content = |role: &str| json!({"role": role, "parts": [{"text": "x"}]});
        assert!(gemini(json!([content("model"), content("user")])).is_some());
        assert!(
            gemini(json!([content("user"), content("model"), content("model"), content("user")])).is_some()
        );
        assert!(gemini(json!([content("user"), {"role": "model", "parts": [{"functionCall": {"name": "t"}}]}, content("user")])).is_some());
        assert!(gemini(json!([{"role": "user", "parts": []}])).is_some());
    }
}
