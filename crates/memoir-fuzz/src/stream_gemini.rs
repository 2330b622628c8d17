//! What a server of Gemini's dialect may send.

use crate::server::answer_with;

/// A call ends with an end or an error, whatever comes.
pub fn stream_gemini(data: &[u8]) {
    let _ = answer_with("google/gemini-2.5-pro", data);
}
