//! The interface to models that find the sentence that answers a question.

use async_trait::async_trait;

use crate::ModelError;

/// A question about a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReaderQuestion {
    /// The question.
    pub text: String,
    /// A sentence that answered the question before the text was written. If there is one, only sentences that replace
    /// it count as answers.
    pub earlier: Option<String>,
}

/// Sentences that follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReaderText {
    /// Title of the text.
    pub title: String,
    /// The end of what precedes the sentences, if anything does.
    pub before: String,
    /// The sentences, each after its speaker and a colon.
    pub sentences: Vec<String>,
}

/// A model that reads texts and finds the sentence that answers a question.
#[async_trait]
pub trait Reader: Send + Sync {
    /// Returns a score for each sentence of each text. A sentence with a score above zero probably answers the
    /// question.
    ///
    /// # Errors
    ///
    /// Fails if any of the texts cannot be read.
    async fn read(
        &self,
        question: ReaderQuestion,
        texts: Vec<ReaderText>,
    ) -> Result<Vec<Vec<f32>>, ModelError>;
}
