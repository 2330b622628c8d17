//! What a server of OpenAI's dialect may send.

use crate::server::answer_with;

/// A call ends with an end or an error, whatever comes.
pub fn stream_openai(data: &[u8]) {
    let _ = answer_with("openai/gpt-5", data);
}
