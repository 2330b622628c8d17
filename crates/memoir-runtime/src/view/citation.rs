//! Passages with everything that a program needs to cite them.

use memoir_core::{Correction, DocumentPassage, OWN_PROGRAM, Passage, Recollection};

use super::{ItemId, MemoryView, changes::is_statement};
use crate::failure::Failure;

/// A passage and its source.
#[derive(Debug, Clone, PartialEq)]
pub struct Citation {
    /// Exchange or document that it is quoted from.
    pub id: ItemId,
    /// Title of the conversation or document.
    pub title: String,
    /// Project of the conversation. `None` for a document.
    pub project: Option<String>,
    /// Program that the exchange took place in. `None` for a document.
    pub program: Option<String>,
    /// When it was said, in RFC 3339, or the date of the document.
    pub date: String,
    /// What the user said, or the text of the document.
    pub text: String,
    /// What the assistant answered.
    pub answer: Option<String>,
    /// Whether a program asked to remember the text, so that it may not be the user's.
    pub is_by_program: bool,
    /// The correction of the statement, if there is one.
    pub superseded: Option<Correction>,
    /// Cosine similarity to the question's embedding.
    pub similarity: f64,
}

impl MemoryView {
    /// Returns the passages of a recollection with their sources, those from conversations first.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub async fn cite(&self, recollection: &Recollection) -> Result<Vec<Citation>, Failure> {
        let mut citations = Vec::new();
        for passage in &recollection.passages {
            citations.push(self.cite_passage(passage).await?);
        }
        citations.extend(recollection.documents.iter().map(cite_document));
        Ok(citations)
    }

    async fn cite_passage(&self, passage: &Passage) -> Result<Citation, Failure> {
        let store = self.runtime.store();
        let exchange = store.exchange(passage.exchange_id).await?;
        let is_by_program = exchange.as_ref().is_some_and(is_statement);
        let source = exchange.and_then(|exchange| exchange.source);
        let conversation = store.conversation(passage.conversation_id).await?;
        let (text, answer) = match (passage.user_excerpt.is_empty(), passage.assistant_excerpt.is_empty()) {
            (true, true) => (passage.text.clone(), None),
            (_, true) => (passage.user_excerpt.clone(), None),
            _ => (passage.user_excerpt.clone(), Some(passage.assistant_excerpt.clone())),
        };
        Ok(Citation {
            id: ItemId::Exchange(passage.exchange_id),
            title: passage.title.clone(),
            project: conversation.map(|conversation| conversation.scope),
            program: Some(source.map_or_else(|| OWN_PROGRAM.to_owned(), |source| source.program)),
            date: passage.created.to_string(),
            text,
            answer: answer.filter(|_| !is_by_program),
            is_by_program,
            superseded: passage.superseded,
            similarity: passage.similarity,
        })
    }
}

fn cite_document(passage: &DocumentPassage) -> Citation {
    Citation {
        id: ItemId::Document(passage.document.slug.clone()),
        title: passage.document.title.clone(),
        project: None,
        program: None,
        date: passage.document.date.clone(),
        text: passage.text.clone(),
        answer: None,
        is_by_program: false,
        superseded: None,
        similarity: passage.similarity,
    }
}
