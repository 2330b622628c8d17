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
    /// Conversations are stored in the memory of another machine, and on this one only until they are sent.
    Hub,
}

impl Persistence {
    /// Returns whether summaries of conversations are of use later.
    pub(crate) fn keeps_summaries(self) -> bool {
        match self {
            Self::Permanent | Self::Demo => true,
            // A hub writes its own.
            Self::Incognito | Self::Hub => false,
        }
    }
}
