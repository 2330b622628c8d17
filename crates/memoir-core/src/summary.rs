//! What was said, in short.

use serde::Serialize;

/// A summary, and who wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// What was said, in a sentence or a few.
    pub text: String,
    /// The model that wrote it, or [`Summary::EXTRACT`].
    pub by: String,
}

impl Summary {
    /// The writer of a summary that is made of quotations: made anew when there is a model.
    pub const EXTRACT: &'static str = "extract";
}
