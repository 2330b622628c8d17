//! Streamed answers in xAI's variant of OpenAI's format.

use crate::server::answer_with;

/// Checks that the stream ends with an end event or an error.
pub fn stream_xai(data: &[u8]) {
    let _ = answer_with("xai/grok-3", data);
}
