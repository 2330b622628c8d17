//! OpenAI's chat-completions dialect: server-sent events, ended by `[DONE]`.

use std::io;

use axum::{
    body::Body,
    http::{StatusCode, header},
    response::Response,
};
use futures::{Stream, StreamExt as _, stream};
use serde_json::{Value, json};

use super::reply::{Ending, Piece, Reply};

/// The reply as this dialect sends it.
pub(super) fn render(reply: Reply) -> Response {
    let mut response = Response::builder().status(StatusCode::from_u16(reply.status).unwrap());
    for (name, value) in &reply.headers {
        response = response.header(name, value);
    }
    match &reply.plain_body {
        Some(body) => response
            .header(header::CONTENT_TYPE, "application/json")
            .body(Body::from(body.clone()))
            .unwrap(),
        None => {
            let events = Body::from_stream(with_ending(events(&reply), reply.ending));
            response
                .header(header::CONTENT_TYPE, "text/event-stream")
                .body(events)
                .unwrap()
        }
    }
}

fn events(reply: &Reply) -> Vec<String> {
    let mut tool_calls = 0;
    let mut events: Vec<String> = reply
        .pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text(text) => chunk(json!({"content": text}), Value::Null),
            Piece::Raw(raw) => raw.clone(),
            Piece::ToolCall { id, name, arguments } => {
                let function = json!({"name": name, "arguments": arguments});
                let call = json!({"index": tool_calls, "id": id, "type": "function", "function": function});
                tool_calls += 1;
                chunk(json!({"tool_calls": [call]}), Value::Null)
            }
        })
        .collect();
    if reply.ending == Ending::Proper {
        let reason = if tool_calls > 0 { "tool_calls" } else { "stop" };
        events.push(chunk(json!({}), json!(reason)));
        let usage = json!({
            "prompt_tokens": reply.input_tokens,
            "completion_tokens": reply.output_tokens,
            "total_tokens": reply.input_tokens + reply.output_tokens,
            "prompt_tokens_details": {"cached_tokens": reply.cached_tokens},
        });
        events.push(data(
            &json!({"object": "chat.completion.chunk", "choices": [], "usage": usage}),
        ));
        events.push("data: [DONE]\n\n".to_owned());
    }
    events
}

fn chunk(delta: Value, finish_reason: Value) -> String {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish_reason});
    data(&json!({"object": "chat.completion.chunk", "choices": [choice]}))
}

fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

fn with_ending(events: Vec<String>, ending: Ending) -> impl Stream<Item = io::Result<String>> + Send {
    let events = stream::iter(events.into_iter().map(Ok));
    let ending = match ending {
        Ending::Proper => stream::empty().boxed(),
        Ending::Cut => stream::once(async {
            // Waiting once makes the server flush what came before; then the connection breaks.
            tokio::task::yield_now().await;
            Err(io::Error::other("cut on purpose"))
        })
        .boxed(),
        Ending::Silence => stream::pending().boxed(),
    };
    events.chain(ending)
}
