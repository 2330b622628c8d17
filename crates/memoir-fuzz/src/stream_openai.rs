//! Streamed answers in OpenAI's format.

use crate::server::answer_with;

/// Checks that the stream ends with an end event or an error.
pub fn stream_openai(data: &[u8]) {
    let _ = answer_with("openai/gpt-5", data);
}
