//! What can go wrong in a store, as decisions a caller can take.

use std::{error::Error, path::PathBuf};

use memoir_core::{ConversationId, ExchangeId};

/// A store's result.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Why the store could not do it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file or its directory cannot be written. Ask for another place or for permission.
    #[error("cannot write to {path}: {reason}")]
    NotWritable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// The file is something else than a memory of ours. Leave it alone.
    #[error("{path} is not a Memoir database")]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file was written by a newer program. Leave it alone and upgrade.
    #[error("{path} was written by a newer Memoir (schema {found}; this program knows {known})")]
    Newer {
        /// The file.
        path: PathBuf,
        /// The file's schema version.
        found: i64,
        /// The newest version known here.
        known: i64,
    },
    /// The text is not a store's URL.
    #[error("\"{url}\" is not the URL of a store; write SCHEME:LOCATION")]
    InvalidUrl {
        /// The text.
        url: String,
    },
    /// No backend opens URLs with this scheme.
    #[error("stores with the scheme \"{scheme}\" are not supported; use {}", .known.join(", "))]
    UnknownScheme {
        /// The scheme.
        scheme: String,
        /// The schemes that are supported.
        known: Vec<&'static str>,
    },
    /// The backend cannot do this.
    #[error("this store does not support {what}")]
    Unsupported {
        /// What was asked for.
        what: &'static str,
    },
    /// A question was not understood, or takes too long.
    #[error("{0}")]
    Query(String),
    /// No space is left. Nothing was written; free some and try again.
    #[error("the disk is full")]
    DiskFull,
    /// The disk refuses to be read or written. What was committed before is there; look at the disk.
    #[error("the disk failed: {reason}")]
    DiskFailed {
        /// What the database said.
        reason: String,
    },
    /// Another process held the database longer than anyone should wait. Try again.
    #[error("the database is busy: another process is holding it")]
    Busy,
    /// The file is damaged.
    #[error("the database is damaged: {reason}")]
    Damaged {
        /// What the database said.
        reason: String,
    },
    /// There is no such thing, or not any more.
    #[error("there is no {what} {id}")]
    NotFound {
        /// What was looked for.
        what: &'static str,
        /// Its id.
        id: i64,
    },
    /// Another session has added to the conversation. Read what it added, then decide whether to commit again.
    #[error("conversation {conversation} has changed: exchange {newest} was added by another session")]
    Conflict {
        /// The conversation.
        conversation: ConversationId,
        /// Its newest exchange, which the caller has not seen.
        newest: ExchangeId,
    },
    /// Something that no caller can mend.
    #[error("the database failed: {0}")]
    Other(#[source] Box<dyn Error + Send + Sync>),
}
