//! Whether conversations are stored permanently.

/// How long what is said lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Persistence {
    /// In the user's memory.
    #[default]
    Permanent,
    /// Nowhere: nothing is stored, and nothing from before is read.
    Incognito,
    /// In a disposable memory that holds a made-up history.
    Demo,
}
