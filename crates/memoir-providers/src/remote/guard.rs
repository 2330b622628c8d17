//! A watch over what a server sends, before genai reads it.
//!
//! In OpenAI's dialect a piece of a tool call tells by a number which call it belongs to, and genai makes room for as many calls as the
//! number says: one line with a large number takes all memory, and the program dies. A frame can be seen before genai reads it, but
//! not refused. The way out of there is to unwind, quietly, to [`next`], which makes an error of it.

use std::panic::{self, AssertUnwindSafe};

use futures::{FutureExt as _, Stream, StreamExt as _};
use genai::chat::{ChatOptions, FrameCtx, RawFrameRef};
use memoir_models::ModelError;
use serde_json::Value;

/// No model asks for as many tools in one answer.
const MOST_CALLS: u64 = 1024;

/// Options with which frames are watched.
pub(super) fn watched(options: ChatOptions) -> ChatOptions {
    options.with_raw_frame_fn(|_: &FrameCtx, frame: RawFrameRef<'_>| {
        if asks_for_too_much(frame.data) {
            // Not a panic: nothing is printed.
            panic::resume_unwind(Box::new("too many tool calls"));
        }
    })
}

/// The next event. What genai cannot stand is no answer.
pub(super) async fn next<S: Stream + Unpin>(stream: &mut S) -> Result<Option<S::Item>, ModelError> {
    // The stream is not used again after it unwound.
    let next = AssertUnwindSafe(stream.next()).catch_unwind().await;
    next.map_err(|_| ModelError::Garbled("what came cannot be read".into()))
}

fn asks_for_too_much(frame: &str) -> bool {
    // Most frames are words. A key may be written with escapes.
    if !frame.contains("tool_calls") && !frame.contains("\\u") {
        return false;
    }
    let Ok(frame) = serde_json::from_str::<Value>(frame) else { return false };
    let choices = frame["choices"].as_array().into_iter().flatten();
    let mut calls = choices.filter_map(|choice| choice["delta"]["tool_calls"].as_array()).flatten();
    calls.any(|call| call["index"].as_u64().is_some_and(|index| index >= MOST_CALLS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_beyond_all_measure_is_seen() {
        let frame = |key: &str, index: u64| {
            format!("{{\"choices\":[{{\"delta\":{{\"{key}\":[{{\"index\":{index},\"function\":{{}}}}]}}}}]}}")
        };
        assert!(asks_for_too_much(&frame("tool_calls", 4_294_967_295)));
        assert!(asks_for_too_much(&frame("tool\\u005fcalls", 4_294_967_295)));
        assert!(!asks_for_too_much(&frame("tool_calls", 3)));
        assert!(!asks_for_too_much("tool_calls, but no JSON"));
    }
}
