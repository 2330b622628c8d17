//! Passages from memory, as results of recall and search.

use memoir_core::{Correction, Quotation, Source};
use memoir_runtime::view::{Citation, ItemId};
use serde::Serialize;
use utoipa::ToSchema;

/// A passage from memory, with its source.
#[derive(Serialize, ToSchema)]
pub(super) struct PassageBody {
    /// Id of the exchange, unless it is from a document.
    #[serde(skip_serializing_if = "Option::is_none")]
    exchange: Option<i64>,
    /// Name of the document, unless it is from a conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    document: Option<String>,
    /// Title of the conversation or document.
    title: String,
    /// Project of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    /// Program that the exchange took place in.
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<String>,
    /// When it was said, in RFC 3339, or the date of the document.
    date: String,
    /// What the user said, or the text of the document.
    text: String,
    /// What the assistant answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    /// Whether a program asked to remember the text, so that it may not be the user's.
    by_program: bool,
    /// The correction of the statement.
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded: Option<CorrectionBody>,
    /// Cosine similarity to the question.
    similarity: f64,
}

/// When and by what a statement was corrected.
#[derive(Serialize, ToSchema)]
struct CorrectionBody {
    /// Id of the exchange with the newer statement. Absent if the user marked this one as wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    exchange: Option<i64>,
    /// Date of the newer statement, in RFC 3339.
    date: String,
}

impl From<Correction> for CorrectionBody {
    fn from(correction: Correction) -> Self {
        Self { exchange: correction.exchange_id.map(|id| id.get()), date: correction.created.to_string() }
    }
}

impl From<Citation> for PassageBody {
    fn from(citation: Citation) -> Self {
        let (exchange, document) = match citation.id {
            ItemId::Exchange(id) => (Some(id.get()), None),
            ItemId::Document(name) => (None, Some(name)),
            ItemId::Conversation(_) => (None, None),
        };
        Self {
            exchange,
            document,
            title: citation.title,
            project: citation.project,
            program: citation.program,
            date: citation.date,
            text: citation.text,
            answer: citation.answer,
            by_program: citation.is_by_program,
            superseded: citation.superseded.map(CorrectionBody::from),
            similarity: citation.similarity,
        }
    }
}

/// A sentence with its source.
#[derive(Serialize, ToSchema)]
pub(super) struct QuotationBody {
    /// The sentence.
    text: String,
    /// Id of the exchange, unless it is from a document.
    #[serde(skip_serializing_if = "Option::is_none")]
    exchange: Option<i64>,
    /// Name of the document, unless it is from a conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    document: Option<String>,
    /// When it was said, in RFC 3339, or the date of the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    date: Option<String>,
}

impl From<Quotation> for QuotationBody {
    fn from(quotation: Quotation) -> Self {
        let (exchange, document, date) = match quotation.source {
            Source::Message { exchange, created, .. } => {
                (Some(exchange.get()), None, Some(created.to_string()))
            }
            Source::Document { slug, date, .. } => (None, Some(slug), Some(date)),
            Source::CoreMemory(_) => (None, None, None),
        };
        Self { text: quotation.text, exchange, document, date }
    }
}
