//! The context document of an exchange: what memory says, fenced, and then the user's words.

use memoir_core::{Recollection, TimeZone};

/// `prompt` with what memory says about it. Recalled text never counts as something that the user says now.
pub(crate) fn write(prompt: &str, memory: &Recollection, scope: Option<&str>, zone: &TimeZone) -> String {
    match memoir_recall::context(memory, scope, zone) {
        None => prompt.to_owned(),
        Some(context) => format!("{context}\n\n## The user says now\n\n{prompt}"),
    }
}
