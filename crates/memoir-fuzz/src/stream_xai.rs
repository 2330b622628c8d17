//! What a server of OpenAI's dialect as xAI speaks it may send.

use crate::server::answer_with;

/// A call ends with an end or an error, whatever comes.
pub fn stream_xai(data: &[u8]) {
    let _ = answer_with("xai/grok-3", data);
}
