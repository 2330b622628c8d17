//! What a call would do, told before it does it: who may call what, and which calls may run side by side, follows from this.

use std::path::{Path, PathBuf};

/// Something that a call touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Access {
    /// Reads a file or a folder of the workspace.
    Read(PathBuf),
    /// Reads something outside of it.
    ReadOutside(PathBuf),
    /// Changes a file or a folder of the workspace.
    Write(PathBuf),
    /// Runs a command, which may touch whatever a command may.
    Run(String),
    /// Asks a service elsewhere.
    Network(String),
    /// Asks another program's server.
    Server(String),
    /// Looks at Memoir's own notes, or changes them as the user asked.
    Memory,
    /// Changes them, whoever asked for that.
    Remember,
    /// Has a sub-agent work, which may touch whatever it is allowed to; each of its own calls is judged by itself.
    Subagent,
}

impl Access {
    /// Whether two of them must not happen at the same time.
    fn conflicts_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Write(one), Self::Write(another) | Self::Read(another))
            | (Self::Read(one), Self::Write(another)) => overlap(one, another),
            (Self::Run(_) | Self::Server(_), Self::Network(_) | Self::Memory | Self::Remember)
            | (Self::Network(_) | Self::Memory | Self::Remember, Self::Run(_) | Self::Server(_)) => false,
            (Self::Run(_) | Self::Server(_), _) | (_, Self::Run(_) | Self::Server(_)) => true,
            (Self::Memory | Self::Remember, Self::Memory | Self::Remember) => true,
            (Self::Subagent, other) | (other, Self::Subagent) => !matches!(other, Self::Network(_)),
            _ => false,
        }
    }
}

/// Whether one of two paths lies in the other, or both are the same.
fn overlap(one: &Path, another: &Path) -> bool {
    one.starts_with(another) || another.starts_with(one)
}

/// What a call would do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// What it touches; nothing, if it only looks at memory.
    pub accesses: Vec<Access>,
    /// What the user is shown before he is asked: the very command, or the change line by line.
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

    /// The same plan, when nobody but the user can have asked for it.
    #[must_use]
    pub fn as_the_user_asked(mut self) -> Self {
        for access in &mut self.accesses {
            if *access == Access::Remember {
                *access = Access::Memory;
            }
        }
        self
    }

    /// Whether two calls must run one after the other.
    pub fn conflicts_with(&self, other: &Self) -> bool {
        self.accesses.iter().any(|one| other.accesses.iter().any(|another| one.conflicts_with(another)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_path_and_commands_conflict_and_reading_does_not() {
        let write = |path: &str| Plan::new(Access::Write(path.into()));
        let read = |path: &str| Plan::new(Access::Read(path.into()));
        let run = Plan::new(Access::Run("ls".into()));
        assert!(write("/w/a").conflicts_with(&read("/w/a")));
        assert!(write("/w").conflicts_with(&read("/w/a/b")) && read("/w").conflicts_with(&write("/w/a")));
        assert!(!write("/w/a").conflicts_with(&write("/w/ab")), "by whole names");
        assert!(!read("/w/a").conflicts_with(&read("/w/a")));
        assert!(run.conflicts_with(&run) && run.conflicts_with(&read("/w/a")));
        let memory = Plan::new(Access::Memory);
        assert!(memory.conflicts_with(&memory) && !memory.conflicts_with(&run));
        assert!(!Plan::default().conflicts_with(&run));
    }
}
