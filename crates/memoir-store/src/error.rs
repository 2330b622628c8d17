//! Store errors, distinguished by what the caller can do about them.

use std::{error::Error, path::PathBuf};

use memoir_core::{ConversationId, ExchangeId};

/// The result of a store operation.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// The reason a store operation failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The file or its directory is not writable. Use another location or change the permissions.
    #[error("cannot write to {path}: {reason}")]
    NotWritable {
        /// File that could not be written.
        path: PathBuf,
        /// Error message of the operating system.
        reason: String,
    },
    /// The file is not a Memoir database and was left untouched.
    #[error("{path} is not a Memoir database")]
    Foreign {
        /// File that was opened.
        path: PathBuf,
    },
    /// The file was written by a newer version of Memoir and was left untouched.
    #[error(
        "{path} was written by a newer version of Memoir (schema {version}; this version supports up to {supported})"
    )]
    Newer {
        /// File that was opened.
        path: PathBuf,
        /// Schema version of the file.
        version: i64,
        /// Newest schema version that this program supports.
        supported: i64,
    },
    /// The text is not a store URL.
    #[error("\"{url}\" is not a valid store URL; use SCHEME:LOCATION")]
    InvalidUrl {
        /// Text that was parsed.
        url: String,
    },
    /// No backend opens URLs with this scheme.
    #[error("unsupported store scheme \"{scheme}\"; supported: {}", .supported.join(", "))]
    UnknownScheme {
        /// Scheme of the URL.
        scheme: String,
        /// Schemes that are supported.
        supported: Vec<&'static str>,
    },
    /// The backend does not support the operation.
    #[error("this store does not support {operation}")]
    Unsupported {
        /// Name of the operation.
        operation: &'static str,
    },
    /// A SQL query is invalid or took too long.
    #[error("{0}")]
    Query(String),
    /// The disk is full. Nothing was written. Free some space and try again.
    #[error("the disk is full")]
    DiskFull,
    /// Reading from or writing to the disk failed. Data committed earlier is unaffected.
    #[error("could not access the disk: {reason}")]
    DiskFailed {
        /// Error message of the database.
        reason: String,
    },
    /// Another process kept the database locked for too long. Try again.
    #[error("the database is busy: another process has locked it")]
    Busy,
    /// The database file is damaged.
    #[error("the database is damaged: {reason}")]
    Damaged {
        /// Description of the damage.
        reason: String,
    },
    /// The item does not exist or has been deleted.
    #[error("{kind} {id} does not exist")]
    NotFound {
        /// Kind of item, such as `conversation`.
        kind: &'static str,
        /// Id of the item.
        id: i64,
    },
    /// Another session has added to the conversation. Read the new exchanges, then decide whether to commit again.
    #[error("conversation {conversation} has changed: another session added exchange {newest}")]
    Conflict {
        /// Conversation that was changed.
        conversation: ConversationId,
        /// Newest exchange of the conversation, which the caller has not seen.
        newest: ExchangeId,
    },
    /// A failure that the caller cannot resolve.
    #[error("the database failed: {0}")]
    Other(#[source] Box<dyn Error + Send + Sync>),
}
