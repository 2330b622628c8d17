//! Whether and where conversations are stored.

/// Whether and where conversations are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Persistence {
    /// Conversations are stored in the user's memory.
    #[default]
    Permanent,
    /// Nothing is stored, and earlier conversations are not read.
    Incognito,
    /// Conversations are stored in a temporary memory with a fictional history.
    Demo,
}
