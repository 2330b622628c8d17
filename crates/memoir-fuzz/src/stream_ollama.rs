//! What a server of Ollama's dialect may send.

use crate::server::answer_with;

/// A call ends with an end or an error, whatever comes.
pub fn stream_ollama(data: &[u8]) {
    let _ = answer_with("ollama/test-model", data);
}
