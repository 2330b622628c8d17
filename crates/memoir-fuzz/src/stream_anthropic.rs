//! Streamed answers in Anthropic's format.

use crate::server::answer_with;

/// Checks that the stream ends with an end event or an error.
pub fn stream_anthropic(data: &[u8]) {
    let _ = answer_with("anthropic/claude-sonnet-4-5", data);
}
