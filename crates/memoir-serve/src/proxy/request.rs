//! Reads the requests of programs, without taking them apart: what is not read is passed on byte for byte.

use std::{borrow::Cow, ops::Range};

use memoir_core::ToolCall;
use memoir_providers::ClientApi;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

/// A request of a program.
#[derive(Debug, PartialEq)]
pub(super) struct ChatCall {
    /// Name of the model.
    pub(super) model: String,
    /// Where the name is in the body, with its quotes.
    pub(super) model_span: Range<usize>,
    pub(super) is_stream: bool,
    /// Whether the program wants one answer.
    pub(super) is_one_choice: bool,
    /// Id of the response that the request continues.
    pub(super) previous_response: Option<String>,
    /// The conversation, oldest first, without instructions to the model.
    pub(super) turns: Vec<Turn>,
}

/// A message of a request.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Turn {
    pub(super) speaker: Speaker,
    /// The text, without images and files.
    pub(super) text: String,
    pub(super) tool_calls: Vec<ToolCall>,
    /// Where a text can be added.
    pub(super) end: Option<TextEnd>,
}

/// Who sent a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Speaker {
    User,
    Assistant,
    /// A tool, by the id of its call.
    Tool(String),
}

/// The end of a message's content in the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextEnd {
    /// Before the closing quote of a text.
    Quote(usize),
    /// Before the closing bracket of a list of parts.
    Bracket {
        position: usize,
        /// Whether the list has parts already.
        needs_comma: bool,
    },
}

/// Why a request cannot be read, in words for the program's developer.
pub(super) type Invalid = String;

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(borrow)]
    model: &'a RawValue,
    #[serde(default)]
    stream: Option<bool>,
    #[serde(default)]
    n: Option<Value>,
    #[serde(borrow, default)]
    messages: Option<Vec<&'a RawValue>>,
    #[serde(borrow, default)]
    input: Option<&'a RawValue>,
    #[serde(borrow, default)]
    previous_response_id: Option<Cow<'a, str>>,
}

/// A message, or an item of the Responses API.
#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow, default)]
    r#type: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    role: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    content: Option<&'a RawValue>,
    #[serde(default)]
    tool_calls: Option<Vec<CallBody>>,
    #[serde(borrow, default)]
    tool_call_id: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    call_id: Option<Cow<'a, str>>,
    #[serde(default)]
    name: Value,
    /// Arguments of a function, or input of another tool.
    #[serde(default, alias = "input")]
    arguments: Value,
    #[serde(default)]
    output: Option<Value>,
}

/// A tool call of OpenAI's chat API.
#[derive(Deserialize)]
struct CallBody {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    function: Value,
}

/// Reads a request.
///
/// # Errors
///
/// Fails if it is not a request of this API.
pub(super) fn read(api: ClientApi, body: &[u8]) -> Result<ChatCall, Invalid> {
    let text = std::str::from_utf8(body).map_err(|_| "the body is not UTF-8".to_owned())?;
    let parsed: Body<'_> =
        serde_json::from_str(text).map_err(|error| format!("the body cannot be read: {error}"))?;
    let model = serde_json::from_str(parsed.model.get()).map_err(|_| "`model` is not a text".to_owned())?;
    let mut turns = Vec::new();
    match (api, parsed.input) {
        (ClientApi::Responses, Some(input)) if input.get().starts_with('"') => {
            turns.push(turn(text, Speaker::User, Some(input))?);
        }
        (ClientApi::Responses, Some(input)) => {
            let items: Vec<&RawValue> = serde_json::from_str(input.get())
                .map_err(|_| "`input` is neither a text nor a list".to_owned())?;
            items.into_iter().try_for_each(|item| read_item(text, item, &mut turns))?;
        }
        (ClientApi::Responses, None) => return Err("`input` is missing".to_owned()),
        (ClientApi::Embeddings, _) => {}
        (ClientApi::Chat | ClientApi::Messages | ClientApi::TokenCount, _) => {
            let messages = parsed.messages.ok_or_else(|| "`messages` is missing".to_owned())?;
            messages.into_iter().try_for_each(|message| read_item(text, message, &mut turns))?;
        }
    }
    Ok(ChatCall {
        model,
        model_span: span(text, parsed.model.get()),
        is_stream: parsed.stream.unwrap_or(false),
        is_one_choice: parsed.n.is_none_or(|n| n.as_f64().is_none_or(|n| n <= 1.0)),
        previous_response: parsed.previous_response_id.map(Cow::into_owned),
        turns,
    })
}

/// Returns where a part of a text is in it.
fn span(text: &str, part: &str) -> Range<usize> {
    let start = part.as_ptr() as usize - text.as_ptr() as usize;
    start..start + part.len()
}

/// Reads a message. Instructions to the model, reasoning and items of unknown types are skipped.
fn read_item(text: &str, raw: &RawValue, turns: &mut Vec<Turn>) -> Result<(), Invalid> {
    let item: Item<'_> =
        serde_json::from_str(raw.get()).map_err(|error| format!("a message cannot be read: {error}"))?;
    let read = match (item.r#type.as_deref(), item.role.as_deref()) {
        (Some(kind), _) if kind.ends_with("_call") => {
            let mut read = turn(text, Speaker::Assistant, None)?;
            let name = if item.name.is_string() { &item.name } else { &Value::from(kind) };
            let call_id = item.call_id.as_deref().unwrap_or_default();
            read.tool_calls.push(tool_call(&Value::from(call_id), name, &item.arguments));
            read
        }
        (Some(kind), _) if kind.ends_with("_call_output") => {
            let call = item.call_id.as_deref().unwrap_or_default().to_owned();
            let output = item.output.as_ref().map(text_of_value).unwrap_or_default();
            Turn { speaker: Speaker::Tool(call), text: output, tool_calls: Vec::new(), end: None }
        }
        (_, Some("user")) => {
            let mut read = turn(text, Speaker::User, item.content)?;
            match item.content.and_then(tool_results) {
                Some(results) => {
                    turns.extend(results);
                    if read.text.is_empty() {
                        return Ok(());
                    }
                    // A note along with results, which belongs to the turn of the model that called the tools.
                    read.end = None;
                    read.speaker = Speaker::Tool(String::new());
                    read
                }
                None => read,
            }
        }
        (_, Some("assistant")) => {
            let mut read = turn(text, Speaker::Assistant, item.content)?;
            let calls = item.tool_calls.unwrap_or_default();
            let calls = calls.iter();
            read.tool_calls.extend(
                calls.map(|call| tool_call(&call.id, &call.function["name"], &call.function["arguments"])),
            );
            read.tool_calls.extend(item.content.map(tool_uses).unwrap_or_default());
            read
        }
        (_, Some("tool")) => {
            let call = item.tool_call_id.as_deref().unwrap_or_default().to_owned();
            turn(text, Speaker::Tool(call), item.content)?
        }
        _ => return Ok(()),
    };
    turns.push(read);
    Ok(())
}

/// Reads the content of a message: a text, or a list of parts.
fn turn(text: &str, speaker: Speaker, content: Option<&RawValue>) -> Result<Turn, Invalid> {
    let mut turn = Turn { speaker, text: String::new(), tool_calls: Vec::new(), end: None };
    let Some(content) = content else { return Ok(turn) };
    let value: Value = serde_json::from_str(content.get())
        .map_err(|error| format!("the content of a message cannot be read: {error}"))?;
    let last = span(text, content.get()).end - 1;
    turn.end = match &value {
        Value::String(_) => Some(TextEnd::Quote(last)),
        Value::Array(parts) => Some(TextEnd::Bracket { position: last, needs_comma: !parts.is_empty() }),
        _ => None,
    };
    turn.text = match turn.speaker {
        Speaker::User => prompt_of_value(&value),
        Speaker::Assistant | Speaker::Tool(_) => text_of_value(&value),
    };
    Ok(turn)
}

/// Returns what the user said, without the parts that Claude Code adds to it.
fn prompt_of_value(content: &Value) -> String {
    let is_added = |part: &&Value| {
        let text = part["text"].as_str().unwrap_or_default().trim();
        text.starts_with("<system-reminder>") && text.ends_with("</system-reminder>")
    };
    let said = content.as_array().map(|parts| parts.iter().filter(|part| !is_added(part)).cloned().collect());
    let said = said.map(Value::Array).as_ref().map(text_of_value).unwrap_or_default();
    // What an agent sends without the user is a prompt, too.
    if said.trim().is_empty() { text_of_value(content) } else { said }
}

/// Returns the text of a content, without images, files and calls.
fn text_of_value(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts =
                parts.iter().filter(|part| !matches!(part["type"].as_str(), Some("thinking" | "reasoning")));
            let texts: Vec<&str> = texts.filter_map(|part| part["text"].as_str().or(part.as_str())).collect();
            texts.join("\n")
        }
        _ => String::new(),
    }
}

/// Returns the results of tools in a message of Anthropic's API, or `None` if it has none.
fn tool_results(content: &RawValue) -> Option<Vec<Turn>> {
    let results: Vec<Turn> = parts(content)
        .iter()
        .filter(|part| part["type"] == "tool_result")
        .map(|part| Turn {
            speaker: Speaker::Tool(part["tool_use_id"].as_str().unwrap_or_default().to_owned()),
            text: text_of_value(&part["content"]),
            tool_calls: Vec::new(),
            end: None,
        })
        .collect();
    (!results.is_empty()).then_some(results)
}

/// Returns the calls in a message of Anthropic's API.
fn tool_uses(content: &RawValue) -> Vec<ToolCall> {
    let text = |part: &Value, key: &str| part[key].as_str().unwrap_or_default().to_owned();
    let uses = parts(content).into_iter().filter(|part| part["type"] == "tool_use");
    uses.map(|part| ToolCall {
        id: text(&part, "id"),
        name: text(&part, "name"),
        arguments: part["input"].clone(),
    })
    .collect()
}

fn parts(content: &RawValue) -> Vec<Value> {
    serde_json::from_str(content.get()).unwrap_or_default()
}

/// Returns a tool call. Arguments that are not JSON are kept as text.
fn tool_call(id: &Value, name: &Value, arguments: &Value) -> ToolCall {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let arguments = match arguments {
        Value::String(json) => serde_json::from_str(json).unwrap_or_else(|_| arguments.clone()),
        other => other.clone(),
    };
    ToolCall { id: text(id), name: text(name), arguments }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    #[test]
    fn what_an_agent_adds_to_a_prompt_is_not_the_prompt() {
        let read = |content: &str| {
            let body = format!(r#"{{"model":"m","messages":[{{"role":"user","content":{content}}}]}}"#);
            super::read(ClientApi::Messages, body.as_bytes()).unwrap().turns.remove(0).text
        };
        let added = r#"{"type":"text","text":"<system-reminder>\nToday is Friday.\n</system-reminder>\n"}"#;
        assert_eq!(read(&format!(r#"[{added},{{"type":"text","text":"q"}}]"#)), "q");
        assert!(read(&format!("[{added}]")).contains("Friday"), "there is no other prompt");
        assert_eq!(read(r#""<system-reminder>q</system-reminder>""#), "<system-reminder>q</system-reminder>");
    }

    #[test]
    fn tools_are_read_in_all_apis() {
        let chat = r#"{"model":"m","messages":[{"role":"system","content":"s"},{"role":"user","content":"q"},
            {"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]},
            {"role":"tool","tool_call_id":"1","content":"r"}]}"#;
        let messages = r#"{"model":"m","system":"s","messages":[{"role":"user","content":"q"},
            {"role":"assistant","content":[{"type":"thinking","thinking":"t"},{"type":"tool_use","id":"1","name":"f","input":{"a":1}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"r"}]}]}]}"#;
        let responses = r#"{"model":"m","instructions":"s","input":[{"role":"user","content":[{"type":"input_text","text":"q"}]},
            {"type":"reasoning","summary":[]},{"type":"function_call","call_id":"1","name":"f","arguments":"{\"a\":1}"},
            {"type":"function_call_output","call_id":"1","output":"r"}]}"#;
        let call = ToolCall { id: "1".into(), name: "f".into(), arguments: serde_json::json!({"a": 1}) };
        for (api, body) in
            [(ClientApi::Chat, chat), (ClientApi::Messages, messages), (ClientApi::Responses, responses)]
        {
            let turns = read(api, body.as_bytes()).unwrap().turns;
            let speakers: Vec<_> = turns.iter().map(|turn| (&turn.speaker, turn.text.as_str())).collect();
            let tool = Speaker::Tool("1".into());
            assert_eq!(speakers, [(&Speaker::User, "q"), (&Speaker::Assistant, ""), (&tool, "r")], "{api:?}");
            assert_eq!(turns[1].tool_calls, std::slice::from_ref(&call), "{api:?}");
        }
    }

    #[test]
    fn what_is_not_a_request_is_refused() {
        for body in [
            "",
            "[]",
            "{}",
            r#"{"model":1,"messages":[]}"#,
            r#"{"model":"m"}"#,
            r#"{"model":"m","messages":[1]}"#,
        ] {
            assert!(read(ClientApi::Chat, body.as_bytes()).is_err(), "{body}");
        }
        assert!(read(ClientApi::Chat, b"\xff").is_err());
        assert!(read(ClientApi::Responses, br#"{"model":"m","input":7}"#).is_err());
    }
}
