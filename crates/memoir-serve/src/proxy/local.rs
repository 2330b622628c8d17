//! `memoir/recall`: answers from memory, as a provider would write them.

use http::{HeaderValue, Response, StatusCode};
use memoir_core::count_tokens;
use memoir_providers::ClientApi;
use memoir_recall::render_answer;
use memoir_runtime::{
    Failure,
    view::{LookUp, list_injected},
};
use serde_json::{Value, json};

use super::{
    ProxyRequest, RECALLED_HEADER, ReplyBody, list_items,
    reply::{error_reply, event_reply, json_reply},
    request::{ChatCall, Speaker},
};

/// Maximum number of tokens of the passages that are quoted.
const MAX_TOKENS: u64 = 4000;

/// Answers a question from memory. Neither the question nor the answer is stored, because memory has both already.
pub(super) async fn answer(request: &ProxyRequest, call: &ChatCall) -> Result<Response<ReplyBody>, Failure> {
    if !request.may_read {
        return Ok(error_reply(request.api, StatusCode::FORBIDDEN, "the token lacks the right to read"));
    }
    let Some(question) = call.turns.iter().rfind(|turn| turn.speaker == Speaker::User) else {
        return Ok(error_reply(request.api, StatusCode::BAD_REQUEST, "there is no message of the user"));
    };
    let look_up = LookUp { question: question.text.clone(), ..LookUp::default() };
    let recollection = request.view.look_up(&look_up, MAX_TOKENS).await?;
    let text = render_answer(&recollection, &request.view.recall().zone);
    let reply = Reply {
        model: &call.model,
        id: "memoir-recall",
        input: count_tokens(&question.text),
        output: count_tokens(&text),
        text: &text,
    };
    let mut response = match (request.api, call.is_stream) {
        (ClientApi::Messages | ClientApi::TokenCount, false) => json_reply(&reply.message()),
        (ClientApi::Messages | ClientApi::TokenCount, true) => event_reply(&reply.message_events()),
        (ClientApi::Responses, false) => json_reply(&reply.response("completed")),
        (ClientApi::Responses, true) => event_reply(&reply.response_events()),
        (ClientApi::Chat | ClientApi::Embeddings, false) => json_reply(&reply.completion()),
        (ClientApi::Chat | ClientApi::Embeddings, true) => event_reply(&reply.completion_events()),
    };
    let items = list_injected(&recollection);
    if !items.is_empty() {
        response.headers_mut().insert(RECALLED_HEADER, list_items(&items));
    }
    if let Ok(id) = HeaderValue::from_str(reply.id) {
        response.headers_mut().insert("x-request-id", id);
    }
    Ok(response)
}

/// Returns how many tokens the messages of a request have.
pub(super) fn count_tokens_of(call: &ChatCall) -> Response<ReplyBody> {
    let tokens: usize = call.turns.iter().map(|turn| count_tokens(&turn.text)).sum();
    json_reply(&json!({"input_tokens": tokens}))
}

/// An answer, and what a provider says along with it.
struct Reply<'a> {
    model: &'a str,
    id: &'a str,
    text: &'a str,
    input: usize,
    output: usize,
}

type Events = Vec<(Option<&'static str>, String)>;

impl Reply<'_> {
    fn completion(&self) -> Value {
        json!({
            "id": self.id, "object": "chat.completion", "created": 0, "model": self.model,
            "choices": [{
                "index": 0, "message": {"role": "assistant", "content": self.text, "refusal": null},
                "logprobs": null, "finish_reason": "stop",
            }],
            "usage": {
                "prompt_tokens": self.input, "completion_tokens": self.output, "total_tokens": self.input + self.output,
            },
        })
    }

    fn completion_events(&self) -> Events {
        let chunk = |delta: Value, finish: Value| {
            json!({
                "id": self.id, "object": "chat.completion.chunk", "created": 0, "model": self.model,
                "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}],
            })
            .to_string()
        };
        let text = chunk(json!({"role": "assistant", "content": self.text}), Value::Null);
        vec![(None, text), (None, chunk(json!({}), json!("stop"))), (None, "[DONE]".to_owned())]
    }

    fn message(&self) -> Value {
        json!({
            "id": self.id, "type": "message", "role": "assistant", "model": self.model,
            "content": [{"type": "text", "text": self.text}], "stop_reason": "end_turn", "stop_sequence": null,
            "usage": {"input_tokens": self.input, "output_tokens": self.output},
        })
    }

    fn message_events(&self) -> Events {
        let mut start = self.message();
        start["content"] = json!([]);
        start["stop_reason"] = Value::Null;
        let events = [
            ("message_start", json!({"message": start})),
            ("content_block_start", json!({"index": 0, "content_block": {"type": "text", "text": ""}})),
            ("content_block_delta", json!({"index": 0, "delta": {"type": "text_delta", "text": self.text}})),
            ("content_block_stop", json!({"index": 0})),
            (
                "message_delta",
                json!({
                    "delta": {"stop_reason": "end_turn", "stop_sequence": null},
                    "usage": {"output_tokens": self.output},
                }),
            ),
            ("message_stop", json!({})),
        ];
        typed(events)
    }

    fn response(&self, status: &str) -> Value {
        json!({
            "id": self.id, "object": "response", "created_at": 0, "status": status, "model": self.model,
            "output": [self.item(status)], "error": null, "incomplete_details": null, "instructions": null,
            "metadata": {}, "parallel_tool_calls": false, "temperature": null, "tool_choice": "none", "tools": [],
            "top_p": null,
            "usage": {
                "input_tokens": self.input, "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": self.output, "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": self.input + self.output,
            },
        })
    }

    fn item(&self, status: &str) -> Value {
        let part = json!({"type": "output_text", "text": self.text, "annotations": []});
        json!({"id": "memoir-answer", "type": "message", "role": "assistant", "status": status, "content": [part]})
    }

    fn response_events(&self) -> Events {
        let mut begun = self.response("in_progress");
        begun["output"] = json!([]);
        begun["usage"] = Value::Null;
        let mut item = self.item("in_progress");
        item["content"] = json!([]);
        let place = |mut event: Value| {
            event["item_id"] = json!("memoir-answer");
            event["output_index"] = json!(0);
            event["content_index"] = json!(0);
            event
        };
        let empty = json!({"type": "output_text", "text": "", "annotations": []});
        let part = json!({"type": "output_text", "text": self.text, "annotations": []});
        let events = [
            ("response.created", json!({"response": begun})),
            ("response.output_item.added", json!({"output_index": 0, "item": item})),
            ("response.content_part.added", place(json!({"part": empty}))),
            ("response.output_text.delta", place(json!({"delta": self.text, "logprobs": []}))),
            ("response.output_text.done", place(json!({"text": self.text, "logprobs": []}))),
            ("response.content_part.done", place(json!({"part": part}))),
            ("response.output_item.done", json!({"output_index": 0, "item": self.item("completed")})),
            ("response.completed", json!({"response": self.response("completed")})),
        ];
        let numbered = events.into_iter().enumerate().map(|(number, (name, mut event))| {
            event["sequence_number"] = json!(number);
            (name, event)
        });
        typed(numbered)
    }
}

/// Adds the type to events, which have it as their name, too.
fn typed(events: impl IntoIterator<Item = (&'static str, Value)>) -> Events {
    let typed = events.into_iter().map(|(name, mut event)| {
        event["type"] = json!(name);
        (Some(name), event.to_string())
    });
    typed.collect()
}
