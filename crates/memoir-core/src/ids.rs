//! Ids of stored things: integers that the store hands out and never uses twice.

use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(i64);

        impl $name {
            /// The id with this number.
            pub const fn new(number: i64) -> Self {
                Self(number)
            }

            /// The number as the store keeps it.
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
    /// One thread of talk.
    ConversationId
);
id!(
    /// One user request up to its final answer.
    ExchangeId
);
id!(
    /// One item of an exchange.
    MessageId
);
id!(
    /// A text that the user gave to remember, or a post.
    DocumentId
);
id!(
    /// A stretch of a document.
    ChunkId
);
id!(
    /// Work that is done at its time.
    TaskId
);
id!(
    /// One time that a task was done.
    RunId
);
