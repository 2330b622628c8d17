//! A server that sends arbitrary bytes in chunks as its answer, and a client that has to handle them.

use std::time::Duration;

use futures::StreamExt as _;
use memoir_core::{Recollection, ToolCall, Usage};
use memoir_models::{
    Catalog, ChatEvent, ChatMessage, ChatModel, ChatRequest, ModelError, ModelName, Provider, Replay,
};
use memoir_providers::{CallOptions, Endpoint, OllamaModel, RemoteModel};
use secrecy::SecretString;
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    time::timeout,
};

use crate::input::{Choices, wait};

const KEY: &str = "key-never-to-be-seen";

/// A local answer takes milliseconds, so a call that takes this long hangs, even on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Sends `body` to the client of `model` and checks that the stream ends with an end event or an error.
/// Returns the text and the tool calls of the answer.
pub(crate) fn answer_with(model: &str, body: &[u8]) -> (String, Vec<ToolCall>) {
    wait(async {
        #[expect(clippy::expect_used, reason = "the target needs a server")]
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind a port");
        #[expect(clippy::expect_used, reason = "the listener is bound")]
        let url = format!("http://{}", listener.local_addr().expect("get the address"));
        let server = tokio::spawn(serve(listener, body.to_vec()));
        let client = client(model, url);
        let result = timeout(TIMEOUT, call(&*client)).await;
        server.abort();
        result.unwrap_or_else(|_| panic!("the call hangs"))
    })
}

fn client(model: &str, url: String) -> Box<dyn ChatModel> {
    #[expect(clippy::expect_used, reason = "all names and URLs are valid")]
    let (name, catalog) = (
        model.parse::<ModelName>().expect("parse the model name"),
        Catalog::built_in().expect("read the catalog"),
    );
    let options = CallOptions { idle_timeout: TIMEOUT, ..CallOptions::default() };
    #[expect(clippy::expect_used, reason = "all names and URLs are valid")]
    let endpoint =
        Endpoint::new(name.provider, url, Some(SecretString::from(KEY))).expect("create an endpoint");
    let info = catalog.model(&name).cloned();
    #[expect(clippy::expect_used, reason = "all names and URLs are valid")]
    match name.provider {
        Provider::Ollama => {
            Box::new(OllamaModel::new(&name, &endpoint, info, options).expect("create a client"))
        }
        _ => Box::new(RemoteModel::new(&name, &endpoint, info, options).expect("create a client")),
    }
}

async fn call(model: &dyn ChatModel) -> (String, Vec<ToolCall>) {
    let request = ChatRequest {
        system: "Be brief.".into(),
        messages: vec![ChatMessage::user("Hi")],
        stable_messages: 0,
        tools: Vec::new(),
        memory: Recollection::default(),
        max_output_tokens: None,
    };
    let mut stream = match model.stream(request).await {
        Ok(stream) => stream,
        Err(error) => {
            check_message(&error);
            return (String::new(), Vec::new());
        }
    };
    let (mut has_ended, mut total) = (false, Usage::default());
    let (mut text, mut calls) = (String::new(), Vec::<ToolCall>::new());
    while let Some(event) = stream.next().await {
        assert!(!has_ended, "an event follows the end: {event:?}");
        match event {
            Err(error) => {
                check_message(&error);
                assert!(calls.is_empty(), "a failed answer has tool calls: {calls:?}");
                has_ended = true;
            }
            Ok(ChatEvent::End(finish)) => {
                finish.replay.iter().for_each(|replay| check_replay(replay, &calls));
                has_ended = true;
            }
            Ok(ChatEvent::Usage(usage)) => {
                // Adding up the usage of several calls and pricing it must not overflow.
                total += usage;
                total += usage;
                let _ = model.cost(&total);
            }
            Ok(ChatEvent::Text(chunk)) => text.push_str(&chunk),
            Ok(ChatEvent::ToolCall(call)) => calls.push(call),
            Ok(ChatEvent::Thinking(_) | ChatEvent::Retrying { .. }) => {}
        }
    }
    assert!(has_ended, "the stream ends without an end event or an error");
    (text, calls)
}

/// Checks that the replay contains exactly the tool calls that are run, each with an object as arguments.
/// Servers reject anything else.
fn check_replay(replay: &Replay, calls: &[ToolCall]) {
    let text = replay.to_text();
    let Ok(content) = serde_json::from_str::<Value>(&text) else {
        // Arguments nested up to the parser's depth limit exceed it inside the replay.
        assert!(text.len() > 200, "the replay cannot be parsed: {text:?}");
        return;
    };
    // Each API has its own format, and one of them replays nothing but the reasoning.
    let Some(parts) = content.as_object().and_then(|formats| formats.values().next()?.as_array()) else {
        return;
    };
    let replayed: Vec<(&Value, bool)> = parts.iter().filter_map(replayed_call).collect();
    assert_eq!(replayed.len(), calls.len(), "{text}");
    for ((name, has_object), call) in replayed.into_iter().zip(calls) {
        assert!(name.as_str().unwrap_or_default() == call.name && has_object, "{text} for {call:?}");
    }
}

/// Returns the name of the tool in a part of a replay, and whether its arguments are an object.
fn replayed_call(part: &Value) -> Option<(&Value, bool)> {
    let function = &part["functionCall"];
    match part["type"].as_str() {
        Some("tool_use") => Some((&part["name"], part["input"].is_object())),
        Some("function_call") => {
            let arguments = part["arguments"].as_str().unwrap_or_default();
            Some((
                &part["name"],
                serde_json::from_str::<Value>(arguments).is_ok_and(|value| value.is_object()),
            ))
        }
        _ => function.is_object().then(|| (&function["name"], function["args"].is_object())),
    }
}

/// Checks that the message is of limited length and does not contain the key. The server is always reachable.
fn check_message(error: &ModelError) {
    assert!(!matches!(error, ModelError::Unreachable { .. }), "{error}");
    let message = error.to_string();
    assert!(!message.is_empty() && !message.contains(KEY), "{message}");
    assert!(message.chars().count() < 1000, "{message}");
}

async fn serve(listener: TcpListener, body: Vec<u8>) {
    while let Ok((connection, _)) = listener.accept().await {
        // The client may close the connection early.
        let _ = answer(connection, &body).await;
    }
}

async fn answer(mut connection: TcpStream, body: &[u8]) -> std::io::Result<()> {
    let head = read_request(&mut connection).await?;
    if head.contains("/api/show") {
        // The client asks Ollama for the model's capabilities first.
        let response = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
        return connection.write_all(response.as_bytes()).await;
    }
    let kind = if head.contains("/api/chat") { "application/x-ndjson" } else { "text/event-stream" };
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
    );
    connection.write_all(head.as_bytes()).await?;
    let (mut choices, mut rest) = (Choices::from(body), body);
    // The client receives each HTTP chunk separately, so the chunk size controls how the body is split.
    let largest = *choices.pick(&[1, 7, 64, 4096]);
    let mut chunks = Vec::new();
    while !rest.is_empty() {
        let (piece, after) = rest.split_at((1 + choices.draw_below(largest)).min(rest.len()));
        chunks.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
        chunks.extend_from_slice(piece);
        chunks.extend_from_slice(b"\r\n");
        rest = after;
    }
    // Some connections break before the end of the body.
    if choices.draw_below(4) > 0 {
        chunks.extend_from_slice(b"0\r\n\r\n");
    }
    connection.write_all(&chunks).await?;
    connection.shutdown().await
}

/// Reads a request and returns its head in lower case.
async fn read_request(connection: &mut TcpStream) -> std::io::Result<String> {
    let mut buffer = Vec::new();
    loop {
        if connection.read_buf(&mut buffer).await? == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let Some(end) = buffer.windows(4).position(|window| window == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&buffer[..end]).to_lowercase();
        let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
        if buffer.len() >= end + 4 + length.unwrap_or(0) {
            return Ok(head);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::answer_with;

    /// Mutating the seeds is pointless unless the seeds themselves are valid.
    #[test]
    fn seeds_are_valid_answers() {
        for (model, body) in [
            ("anthropic/claude-sonnet-4-5", include_bytes!("../seeds/stream_anthropic/tools").as_slice()),
            ("google/gemini-2.5-pro", include_bytes!("../seeds/stream_gemini/tools")),
            ("ollama/test-model", include_bytes!("../seeds/stream_ollama/tools")),
            ("openai/gpt-5", include_bytes!("../seeds/stream_openai/tools")),
            ("openai/gpt-6.1-terra", include_bytes!("../seeds/stream_responses/tools")),
            ("xai/grok-3", include_bytes!("../seeds/stream_xai/tools")),
            // Some servers do not number tool calls from 0.
            ("xai/grok-3", include_bytes!("../seeds/stream_xai/numbered")),
        ] {
            let (text, calls) = answer_with(model, body);
            assert_eq!(text, "Grüße 🌍", "{model}");
            let names_and_arguments: Vec<_> =
                calls.iter().map(|call| (call.name.as_str(), &call.arguments)).collect();
            assert_eq!(names_and_arguments, [("look", &json!({"at": "it"}))], "{model}");
            // Ollama sends calls without an id.
            let id = calls[0].id.as_str();
            assert!(id == "t1" || (model.starts_with("ollama/") && id.starts_with("call_")), "{model}: {id}");
        }
    }
}
