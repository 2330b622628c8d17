//! What each provider insists on: roles, their order, and calls with their results. A request that breaks a rule is refused
//! as the provider itself would refuse it.

use std::collections::HashSet;

use serde_json::Value;

/// The first rule that a request for `path` breaks.
pub fn broken_rule(path: &str, body: &Value) -> Option<String> {
    let checked = match path {
        path if path.ends_with("/chat/completions") => openai(body),
        path if path.ends_with("/messages") => anthropic(body),
        path if path.ends_with(":streamGenerateContent") => gemini(body),
        path if path.ends_with("/api/chat") => ollama(body),
        _ => Ok(()),
    };
    checked.err()
}

type Checked = Result<(), String>;

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

fn ensure(holds: bool, rule: impl Into<String>) -> Checked {
    if holds { Ok(()) } else { Err(rule.into()) }
}

/// Roles of OpenAI's kind: a system message first, user and assistant in turns, results right after their calls.
fn in_turns(
    messages: &[Value],
    mut calls: impl FnMut(&Value) -> Vec<String>,
    answers: impl Fn(&Value) -> Option<String>,
) -> Checked {
    let mut open: Vec<String> = Vec::new();
    let mut last = "";
    for (index, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        let text = message["content"].as_str().unwrap_or_default();
        match role {
            "system" | "developer" => ensure(index == 0, "a system message that is not the first")?,
            "user" => {
                ensure(open.is_empty(), format!("calls without results: {open:?}"))?;
                ensure(last != "user", "two user messages in a row")?;
                ensure(!text.trim().is_empty() || message["content"].is_array(), "an empty user message")?;
            }
            "assistant" => {
                ensure(open.is_empty(), format!("calls without results: {open:?}"))?;
                ensure(
                    !matches!(last, "" | "system" | "developer" | "assistant"),
                    "an assistant message out of turn",
                )?;
                open = calls(message);
                ensure(!open.is_empty() || !text.is_empty(), "an assistant message that says nothing")?;
            }
            "tool" => {
                let answered = answers(message);
                let place =
                    open.iter().position(|id| answered.as_ref().is_none_or(|answered| id == answered));
                match place {
                    Some(place) => open.remove(place),
                    None => return Err(format!("a result without its call: {answered:?}")),
                };
            }
            other => return Err(format!("an unknown role {other:?}")),
        }
        last = role;
    }
    ensure(open.is_empty(), format!("calls without results: {open:?}"))?;
    ensure(matches!(last, "user" | "tool"), format!("the last message is of {last:?}"))
}

fn openai(body: &Value) -> Checked {
    let id = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    in_turns(
        list(body, "messages"),
        |message| list(message, "tool_calls").iter().map(|call| id(&call["id"])).collect(),
        |message| Some(id(&message["tool_call_id"])),
    )
}

/// Calls have no ids here: as many results as calls.
fn ollama(body: &Value) -> Checked {
    let mut count = 0;
    in_turns(
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

fn anthropic(body: &Value) -> Checked {
    ensure(body["max_tokens"].as_u64().is_some_and(|most| most > 0), "max_tokens is missing")?;
    let breakpoints = body.to_string().matches("\"cache_control\"").count();
    ensure(breakpoints <= 4, format!("{breakpoints} cache breakpoints; 4 are allowed"))?;
    let mut open: HashSet<String> = HashSet::new();
    let mut last = "";
    for message in list(body, "messages") {
        let role = message["role"].as_str().unwrap_or_default();
        ensure(matches!(role, "user" | "assistant"), format!("an unknown role {role:?}"))?;
        ensure(role != last && !(last.is_empty() && role == "assistant"), format!("{role:?} out of turn"))?;
        let text = message["content"].as_str();
        ensure(text.is_none_or(|text| !text.trim().is_empty()), "an empty message")?;
        let mut asked = HashSet::new();
        for block in list(message, "content") {
            let id = |name: &str| block[name].as_str().unwrap_or_default().to_owned();
            match block["type"].as_str().unwrap_or_default() {
                "text" => ensure(!id("text").trim().is_empty(), "an empty text block")?,
                "tool_use" => drop(asked.insert(id("id"))),
                "tool_result" => {
                    ensure(
                        open.remove(&id("tool_use_id")),
                        format!("a result without its call: {}", id("tool_use_id")),
                    )?;
                }
                _ => {}
            }
        }
        ensure(open.is_empty(), format!("calls without results: {open:?}"))?;
        open = asked;
        last = role;
    }
    ensure(last == "user", format!("the last message is of {last:?}"))
}

fn gemini(body: &Value) -> Checked {
    let mut open: Vec<String> = Vec::new();
    let mut last = "";
    for content in list(body, "contents") {
        let role = content["role"].as_str().unwrap_or_default();
        ensure(matches!(role, "user" | "model" | "function"), format!("an unknown role {role:?}"))?;
        ensure(role != last && !(last.is_empty() && role == "model"), format!("{role:?} out of turn"))?;
        let parts = list(content, "parts");
        ensure(!parts.is_empty(), "a content without parts")?;
        let mut asked = Vec::new();
        for part in parts {
            let name = |kind: &str| part[kind]["name"].as_str().map(str::to_owned);
            if let Some(name) = name("functionCall") {
                asked.push(name);
            } else if let Some(name) = name("functionResponse") {
                match open.iter().position(|call| *call == name) {
                    Some(place) => drop(open.remove(place)),
                    None => return Err(format!("a response without its call: {name}")),
                }
            } else if part["text"].is_string() {
                ensure(part["text"] != "" || !part["thoughtSignature"].is_null(), "an empty part")?;
            }
        }
        ensure(open.is_empty(), format!("calls without responses: {open:?}"))?;
        open = asked;
        last = role;
    }
    ensure(matches!(last, "user" | "function"), format!("the last content is of {last:?}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const OPENAI: &str = "/v1/chat/completions";

    #[test]
    fn a_proper_request_breaks_no_rule() {
        let call = json!({"id": "a", "type": "function", "function": {"name": "t", "arguments": "{}"}});
        let talk = json!({"messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "u"},
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "a", "content": "r"},
        ]});
        assert_eq!(broken_rule(OPENAI, &talk), None);
        assert_eq!(broken_rule("/api/chat", &talk), None);
        let talk = json!({"max_tokens": 10, "messages": [
            {"role": "user", "content": "u"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a"}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a"}]},
        ]});
        assert_eq!(broken_rule("/v1/messages", &talk), None);
        let talk = json!({"contents": [
            {"role": "user", "parts": [{"text": "u"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "t"}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "t"}}]},
        ]});
        assert_eq!(broken_rule("/m:streamGenerateContent", &talk), None);
    }

    #[test]
    fn each_way_to_break_them_is_seen() {
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
            assert!(broken_rule(OPENAI, &json!({"messages": messages})).is_some(), "{messages:?}");
        }
        let anthropic =
            |messages: Value| broken_rule("/v1/messages", &json!({"max_tokens": 1, "messages": messages}));
        assert!(anthropic(json!([user(), user()])).is_some());
        assert!(
            anthropic(
                json!([user(), {"role": "assistant", "content": [{"type": "tool_use", "id": "a"}]}, user()])
            )
            .is_some()
        );
        assert!(anthropic(json!([{"role": "user", "content": [{"type": "text", "text": ""}]}])).is_some());
        assert!(broken_rule("/v1/messages", &json!({"messages": [user()]})).is_some());
        let gemini =
            |contents: Value| broken_rule("/m:streamGenerateContent", &json!({"contents": contents}));
        let said = |role: &str| json!({"role": role, "parts": [{"text": "x"}]});
        assert!(gemini(json!([said("model"), said("user")])).is_some());
        assert!(gemini(json!([said("user"), said("model"), said("model"), said("user")])).is_some());
        assert!(gemini(json!([said("user"), {"role": "model", "parts": [{"functionCall": {"name": "t"}}]}, said("user")])).is_some());
        assert!(gemini(json!([{"role": "user", "parts": []}])).is_some());
    }
}
