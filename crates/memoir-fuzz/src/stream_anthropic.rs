//! What a server of Anthropic's dialect may send.

use crate::server::answer_with;

/// A call ends with an end or an error, whatever comes.
pub fn stream_anthropic(data: &[u8]) {
    let _ = answer_with("anthropic/claude-sonnet-4-5", data);
}
