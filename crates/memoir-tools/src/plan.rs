//! What a call would access, determined before it runs. Approvals use it, and so does the decision about which calls
//! may run concurrently.

use std::path::{Path, PathBuf};

/// A resource that a call would use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// Reads a file or a directory in the workspace.
    Read(PathBuf),
    /// Reads a path outside the workspace.
    ReadOutside(PathBuf),
    /// Changes a file or a directory in the workspace.
    Write(PathBuf),
    /// Runs a command, which may access anything that the sandbox permits.
    Run(String),
    /// Calls a service on the network.
    Network(String),
    /// Calls a tool of an MCP server.
    Server(String),
    /// Reads core memory, or changes it at the user's request.
    Memory,
    /// Changes core memory, possibly at the request of untrusted text.
    ChangeMemory,
    /// Runs a sub-agent. Each of its own calls is approved separately.
    Subagent,
}

impl Access {
    fn conflicts_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Write(path), Self::Write(other_path) | Self::Read(other_path))
            | (Self::Read(path), Self::Write(other_path)) => overlap(path, other_path),
            (Self::Run(_) | Self::Server(_), Self::Network(_) | Self::Memory | Self::ChangeMemory)
            | (Self::Network(_) | Self::Memory | Self::ChangeMemory, Self::Run(_) | Self::Server(_)) => false,
            (Self::Run(_) | Self::Server(_), _) | (_, Self::Run(_) | Self::Server(_)) => true,
            (Self::Memory | Self::ChangeMemory, Self::Memory | Self::ChangeMemory) => true,
            (Self::Subagent, other) | (other, Self::Subagent) => !matches!(other, Self::Network(_)),
            _ => false,
        }
    }
}

/// Returns whether two paths are the same or one contains the other.
fn overlap(path: &Path, other: &Path) -> bool {
    path.starts_with(other) || other.starts_with(path)
}

/// What a call would access, and how it is shown to the user.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// The resources used. Empty if the call only reads memory.
    pub accesses: Vec<Access>,
    /// What the user sees when asked for approval, such as the exact command or a diff.
    pub preview: String,
}

impl Plan {
    /// Creates a plan with one access and no preview.
    pub(crate) fn new(access: Access) -> Self {
        Self { accesses: vec![access], preview: String::new() }
    }

    pub(crate) fn with_preview(mut self, preview: impl Into<String>) -> Self {
        self.preview = preview.into();
        self
    }

    /// Returns whether the preview is a diff of a file.
    pub fn is_diff(&self) -> bool {
        matches!(self.accesses[..], [Access::Write(_)]) && self.preview.starts_with("--- ")
    }

    /// Marks changes to core memory as requested by the user. Use this if no untrusted text can have asked for them.
    #[must_use]
    pub fn requested_by_user(mut self) -> Self {
        for access in &mut self.accesses {
            if *access == Access::ChangeMemory {
                *access = Access::Memory;
            }
        }
        self
    }

    /// Returns whether two calls must not run concurrently.
    pub fn conflicts_with(&self, other: &Self) -> bool {
        self.accesses.iter().any(|access| other.accesses.iter().any(|other| access.conflicts_with(other)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_writes_and_commands_conflict_but_reads_do_not() {
        let write = |path: &str| Plan::new(Access::Write(path.into()));
        let read = |path: &str| Plan::new(Access::Read(path.into()));
        let run = Plan::new(Access::Run("ls".into()));
        assert!(write("/w/a").conflicts_with(&read("/w/a")));
        assert!(write("/w").conflicts_with(&read("/w/a/b")) && read("/w").conflicts_with(&write("/w/a")));
        assert!(!write("/w/a").conflicts_with(&write("/w/ab")), "whole path components are compared");
        assert!(!read("/w/a").conflicts_with(&read("/w/a")));
        assert!(run.conflicts_with(&run) && run.conflicts_with(&read("/w/a")));
        let memory = Plan::new(Access::Memory);
        assert!(memory.conflicts_with(&memory) && !memory.conflicts_with(&run));
        assert!(!Plan::default().conflicts_with(&run));
    }
}
