//! Creates drafts of imported messages. Tokens are counted only when a message is stored, because a repeated
//! import stores few.

use memoir_core::{DraftMessage, MessageBody, Provenance, Timestamp, Visibility};

/// Creates a message that a named person wrote to other people.
pub fn person(author: &str, created: Timestamp, text: impl Into<String>) -> DraftMessage {
    DraftMessage { author: Some(author.to_owned()), ..user(created, text) }
}

/// Creates a message that a user wrote to a model.
pub fn user(created: Timestamp, text: impl Into<String>) -> DraftMessage {
    message(MessageBody::User { text: text.into() }, created)
}

/// Creates a message that a model answered.
pub fn assistant(created: Timestamp, text: impl Into<String>) -> DraftMessage {
    message(MessageBody::Assistant { text: text.into(), tool_calls: Vec::new() }, created)
}

fn message(body: MessageBody, created: Timestamp) -> DraftMessage {
    DraftMessage {
        author: None,
        // A file may come from anyone, and its answers may repeat what a page or a tool said.
        by_others: true,
        body,
        visibility: Visibility::Shown,
        provenance: Provenance::Original,
        tokens: 0,
        created,
    }
}
