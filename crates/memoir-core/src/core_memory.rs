//! Core memory: a few short texts that are in every request.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// What a block is about. Each is one short text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CoreBlock {
    /// Who the user is.
    User,
    /// The project that the program was started in; every project has its own.
    Project,
    /// What the user wants always done, or never.
    Instructions,
}

/// There is no block of that name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no block \"{0}\"; there are user, project and instructions")]
pub struct UnknownBlock(String);

impl CoreBlock {
    /// All of them, in the order in which they are sent.
    pub const ALL: [Self; 3] = [Self::User, Self::Project, Self::Instructions];

    /// How long a block may be, in characters.
    pub const LONGEST: usize = 2000;

    /// The word the store keeps.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Instructions => "instructions",
        }
    }

    /// Whose it is: a project's, or everyone's.
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
        let found = Self::ALL.into_iter().find(|block| block.as_str() == name);
        found.ok_or_else(|| UnknownBlock(name.to_owned()))
    }
}

/// A block as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoreEntry {
    /// Which one.
    pub block: CoreBlock,
    /// What it says; empty when nothing was written yet.
    pub text: String,
    /// How often it was changed.
    pub version: u64,
}

/// Who changes a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangedBy {
    /// The person.
    User,
    /// The model, with its tool.
    Model,
}

impl ChangedBy {
    /// The word the store keeps.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Model => "model",
        }
    }
}

/// A change of a block, by someone who has seen it as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoreChange {
    /// What it said before, and which version that was.
    pub seen: CoreEntry,
    /// What it is to say.
    pub text: String,
    /// Who changes it.
    pub by: ChangedBy,
    /// When.
    pub at: Timestamp,
}
