//! What was added from memory to the prompts of another program.

use serde::Serialize;

use crate::{DocumentId, ExchangeId, ExchangeSource, Timestamp};

/// Something that was quoted from memory for another program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum InjectedSubject {
    /// An exchange of a conversation.
    Exchange(ExchangeId),
    /// A document.
    Document(DocumentId),
}

/// One quotation of an injection.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InjectedItem {
    /// What was quoted.
    pub subject: InjectedSubject,
    /// Why it was quoted, such as "similarity 0.71, words 0.50" or "latest exchange".
    pub reason: String,
    /// Number of tokens of the quotation.
    pub tokens: u64,
}

/// What was added from memory at one event of another program. The quoted texts are not repeated here, so deleting
/// them from memory leaves no copy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Injection {
    /// Program and session that received it.
    pub source: ExchangeSource,
    /// Project that the program worked on.
    pub scope: String,
    /// The program's name of the event, such as `UserPromptSubmit`.
    pub event: String,
    /// When it was added.
    pub created: Timestamp,
    /// The quotations, in their order. Those that were deleted since are missing.
    pub items: Vec<InjectedItem>,
}
