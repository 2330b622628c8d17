//! Streamed answers in Ollama's format.

use crate::server::answer_with;

/// Checks that the stream ends with an end event or an error.
pub fn stream_ollama(data: &[u8]) {
    let _ = answer_with("ollama/test-model", data);
}
