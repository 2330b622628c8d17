//! Messages as they are read. Their tokens are counted when they are brought in: most of what is read is known already.

use memoir_core::{DraftMessage, MessageBody, Provenance, Timestamp, Visibility};

/// What a person said, by name, in talk between people.
pub fn person(author: &str, created: Timestamp, text: impl Into<String>) -> DraftMessage {
    DraftMessage { author: Some(author.to_owned()), ..user(created, text) }
}

/// What a user said to a model.
pub fn user(created: Timestamp, text: impl Into<String>) -> DraftMessage {
    message(MessageBody::User { text: text.into() }, created)
}

/// What a model answered.
pub fn assistant(created: Timestamp, text: impl Into<String>) -> DraftMessage {
    message(MessageBody::Assistant { text: text.into(), tool_calls: Vec::new() }, created)
}

fn message(body: MessageBody, created: Timestamp) -> DraftMessage {
    DraftMessage {
        author: None,
        by_others: body.infer_by_others(),
        body,
        visibility: Visibility::Shown,
        provenance: Provenance::Said,
        tokens: 0,
        created,
    }
}
