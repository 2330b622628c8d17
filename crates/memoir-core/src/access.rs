//! Tokens that let programs reach the memory over the network.

use serde::{Deserialize, Serialize};

use crate::Timestamp;

/// Something that a token may allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Right {
    /// Search and read.
    Read,
    /// Store statements, and call models through the proxy.
    Write,
    /// Delete.
    Forget,
    /// See and change what is not part of a project, such as core memory and costs.
    Admin,
}

impl Right {
    /// All rights, weakest first.
    pub const ALL: [Self; 4] = [Self::Read, Self::Write, Self::Forget, Self::Admin];

    /// Returns the name, as in the arguments of `memoir serve token add`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Forget => "forget",
            Self::Admin => "admin",
        }
    }
}

/// What a token is limited to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TokenScope {
    /// The whole memory.
    All,
    /// These projects, and what the user shares with all projects.
    Projects(Vec<String>),
}

/// A token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AccessToken {
    /// Unique name, by which it is revoked.
    pub name: String,
    /// What it is limited to.
    pub scope: TokenScope,
    /// What it allows, weakest first.
    pub rights: Vec<Right>,
    /// When it was created.
    pub created: Timestamp,
}

impl AccessToken {
    /// Returns whether it allows something.
    pub fn allows(&self, right: Right) -> bool {
        self.rights.contains(&right)
    }

    /// Returns whether it may be used for a project.
    pub fn covers(&self, project: &str) -> bool {
        match &self.scope {
            TokenScope::All => true,
            TokenScope::Projects(projects) => projects.iter().any(|other| other == project),
        }
    }
}
