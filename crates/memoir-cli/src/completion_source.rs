//! Where the values of an argument come from. Arguments carry it, so that completion follows from their declaration.

use clap::builder::ArgExt;

/// Where the values of an argument come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueSource {
    /// Names of slash commands.
    Commands,
    /// Ids of conversations, found by their title too.
    Conversations,
    /// Names of documents.
    Documents,
    /// Files and directories.
    Files,
    /// Names of models.
    Models,
    /// Names of personas.
    Personas,
    /// Blocks of core memory.
    CoreBlocks,
    /// Settings of recall.
    RecallSettings,
    /// Settings of the context.
    ContextSettings,
    /// Names of scheduled tasks.
    Tasks,
    /// Names of workers.
    Workers,
    /// The user's own words: nothing is proposed, and in a slash command they need no quotation marks.
    FreeText,
}

impl ArgExt for ValueSource {}
