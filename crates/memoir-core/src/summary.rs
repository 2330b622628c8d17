//! Summaries of exchanges and conversations.

use serde::Serialize;

/// A summary and its author.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// One sentence or a few.
    pub text: String,
    /// Model that wrote the summary, or [`Summary::EXTRACT`].
    #[serde(rename = "by")]
    pub author: String,
}

impl Summary {
    /// Author of a summary made of quotations. It is rewritten once a model is available.
    pub const EXTRACT: &'static str = "extract";
}
