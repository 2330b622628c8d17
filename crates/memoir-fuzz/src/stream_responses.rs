//! Streamed answers in the format of OpenAI's Responses.

use crate::server::answer_with;

/// Checks that the stream ends with an end event or an error.
pub fn stream_responses(data: &[u8]) {
    let _ = answer_with("openai/gpt-6.1-terra", data);
}
