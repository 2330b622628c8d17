//! Ids of stored objects: integers that the store assigns and never reuses.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(i64);

        impl $name {
            /// Creates an id from its number.
            pub const fn new(number: i64) -> Self {
                Self(number)
            }

            /// Returns the number stored in the database.
            pub const fn get(self) -> i64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }
    };
}

id!(
    /// The id of a conversation.
    ConversationId
);
id!(
    /// The id of an exchange: a prompt and its answer.
    ExchangeId
);
id!(
    /// The id of a message within an exchange.
    MessageId
);
id!(
    /// The id of a document: a file the user added, or a post.
    DocumentId
);
id!(
    /// The id of a chunk of a document.
    ChunkId
);
id!(
    /// The id of a scheduled task.
    TaskId
);
id!(
    /// The id of one run of a task.
    RunId
);
