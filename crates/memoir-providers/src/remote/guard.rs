//! Protection against a server that makes genai exhaust the memory.
//!
//! In OpenAI's API each part of a tool call has the index of its call, and genai allocates space for every index up to
//! that one. A single line with a large index would therefore take all memory and abort the program. genai lets us
//! inspect a frame before it parses it, but not reject it, so the inspection unwinds to [`next`], which turns the panic
//! into an error.

use std::panic::{self, AssertUnwindSafe};

use futures::{FutureExt as _, Stream, StreamExt as _};
use genai::chat::{ChatOptions, FrameCtx, RawFrameRef};
use memoir_models::ModelError;
use serde_json::Value;

/// Maximum number of tool calls in one answer. Real answers have far fewer.
const MAX_CALLS: u64 = 1024;

/// Adds the inspection of frames to `options`.
pub(super) fn inspect_frames(options: ChatOptions) -> ChatOptions {
    options.with_raw_frame_fn(|_: &FrameCtx, frame: RawFrameRef<'_>| {
        if has_too_many_calls(frame.data) {
            // Unlike `panic!`, this prints nothing.
            panic::resume_unwind(Box::new("too many tool calls"));
        }
    })
}

/// Returns the next event, or an error if the frame was rejected or genai panicked.
pub(super) async fn next<S: Stream + Unpin>(stream: &mut S) -> Result<Option<S::Item>, ModelError> {
    // The stream is not used after an unwind, so a broken invariant cannot be observed.
    let next = AssertUnwindSafe(stream.next()).catch_unwind().await;
    next.map_err(|_| ModelError::InvalidResponse("the stream could not be read".into()))
}

fn has_too_many_calls(frame: &str) -> bool {
    // Skip parsing for most frames, which hold only text. The key may be written with escapes.
    if !frame.contains("tool_calls") && !frame.contains("\\u") {
        return false;
    }
    let Ok(frame) = serde_json::from_str::<Value>(frame) else { return false };
    let choices = frame["choices"].as_array().into_iter().flatten();
    let mut calls = choices.filter_map(|choice| choice["delta"]["tool_calls"].as_array()).flatten();
    calls.any(|call| call["index"].as_u64().is_some_and(|index| index >= MAX_CALLS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excessive_call_indexes_are_detected() {
        let frame = |key: &str, index: u64| {
            format!("{{\"choices\":[{{\"delta\":{{\"{key}\":[{{\"index\":{index},\"function\":{{}}}}]}}}}]}}")
        };
        assert!(has_too_many_calls(&frame("tool_calls", 4_294_967_295)));
        assert!(has_too_many_calls(&frame("tool\\u005fcalls", 4_294_967_295)));
        assert!(!has_too_many_calls(&frame("tool_calls", 3)));
        assert!(!has_too_many_calls("tool_calls, but no JSON"));
    }
}
