//! Core memory: a few short blocks of text included in every request.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// A block of core memory. Each block holds one short text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CoreBlock {
    /// Facts about the user.
    User,
    /// Facts about the project Memoir was started in. Each project has its own block.
    Project,
    /// Standing instructions from the user.
    Instructions,
}

/// The error for a name that is not a core memory block.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no block \"{0}\"; the blocks are user, project and instructions")]
pub struct UnknownBlock(String);

impl CoreBlock {
    /// All blocks, in the order they are sent.
    pub const ALL: [Self; 3] = [Self::User, Self::Project, Self::Instructions];

    /// Maximum length of a block, in characters.
    pub const MAX_CHARS: usize = 2000;

    /// Returns the stored name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Instructions => "instructions",
        }
    }

    /// Returns the scope of the block: `project` for the project block, otherwise empty.
    pub fn scope(self, project: &str) -> &str {
        match self {
            Self::Project => project,
            Self::User | Self::Instructions => "",
        }
    }
}

impl fmt::Display for CoreBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for CoreBlock {
    type Err = UnknownBlock;

    fn from_str(name: &str) -> Result<Self, UnknownBlock> {
        let block = Self::ALL.into_iter().find(|block| block.as_str() == name);
        block.ok_or_else(|| UnknownBlock(name.to_owned()))
    }
}

/// The current content of a block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoreEntry {
    /// Block that holds the text.
    pub block: CoreBlock,
    /// Text of the block. Empty if it has never been written.
    pub text: String,
    /// Number of changes made so far.
    pub version: u64,
}

/// The author of a change to core memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangedBy {
    /// The user, with a command.
    User,
    /// The model, with the core memory tool.
    Model,
}

impl ChangedBy {
    /// Returns the stored name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Model => "model",
        }
    }
}

/// A change to a block, with the entry it is based on to detect concurrent changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoreChange {
    /// Entry as it was before the change.
    pub previous: CoreEntry,
    /// Complete text of the block after the change.
    pub text: String,
    /// Author of the change.
    pub author: ChangedBy,
    /// When the change was made.
    pub created: Timestamp,
}
