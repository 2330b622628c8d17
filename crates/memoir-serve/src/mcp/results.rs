//! The results of the tools. Their schemas are derived from these types.

use memoir_core::{Conversation, Quotation, Source};
use memoir_runtime::view::{Citation, InjectedQuotation, InjectionReport, ItemId};
use rmcp::schemars::{self, JsonSchema};
use serde::Serialize;

use crate::quote::{NOTICE, fence, title};

/// Maximum length of a passage, in bytes. Recall has already limited it to a budget of tokens.
const MAX_PASSAGE_BYTES: usize = 8 * 1024;

/// A passage from memory, with its source.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PassageResult {
    /// Id for `fetch` and `forget`.
    id: String,
    /// Title of the conversation or document.
    title: String,
    /// Project of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<String>,
    /// Program that the conversation took place in.
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<String>,
    /// When it was said. It was true as of then.
    as_of: String,
    /// When and by what a newer statement corrected it.
    #[serde(skip_serializing_if = "Option::is_none")]
    superseded_by: Option<CorrectionResult>,
    /// Whether a program asked to remember it, so that it may not be the user's words.
    by_others: bool,
    /// Similarity to the question, at most 1.
    similarity: f64,
    /// What was said, in a fence.
    text: String,
}

/// When and by what a statement was corrected.
#[derive(Debug, Serialize, JsonSchema)]
struct CorrectionResult {
    /// Id of the newer statement. Absent if the user marked the statement as wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// Date of the newer statement.
    date: String,
}

impl From<Citation> for PassageResult {
    fn from(citation: Citation) -> Self {
        let text = match &citation.answer {
            Some(answer) => format!("User: {}\nAssistant: {answer}", citation.text),
            None => citation.text,
        };
        Self {
            id: citation.id.to_string(),
            title: title(&citation.title),
            project: citation.project.as_deref().map(title),
            program: citation.program.as_deref().map(title),
            as_of: citation.date,
            superseded_by: citation.superseded.map(|correction| CorrectionResult {
                id: correction.exchange_id.map(|id| ItemId::Exchange(id).to_string()),
                date: correction.created.to_string(),
            }),
            by_others: citation.is_by_program,
            similarity: (citation.similarity * 100.0).round() / 100.0,
            text: fence(&text, MAX_PASSAGE_BYTES),
        }
    }
}

/// What memory says about a question.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RecallResult {
    /// What the texts in this result are.
    notice: &'static str,
    /// The sentence that answers the question, with its source, in a fence. Absent if no sentence does.
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<String>,
    /// Passages that support the answer or are related, most relevant first. Empty if memory has nothing on the question.
    passages: Vec<PassageResult>,
    /// Problems during the search.
    problems: Vec<String>,
}

impl RecallResult {
    pub(super) fn new(answer: Option<String>, citations: Vec<Citation>, problems: Vec<String>) -> Self {
        let passages = citations.into_iter().map(PassageResult::from).collect();
        let answer = answer.map(|answer| fence(&answer, MAX_PASSAGE_BYTES));
        Self { notice: NOTICE, answer, passages, problems }
    }
}

/// A statement that was stored.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RememberResult {
    /// Id of the statement.
    pub(super) id: String,
    /// What the texts in this result are.
    pub(super) notice: &'static str,
    /// Earlier statements that it contradicts. They are still stored, and are returned as superseded.
    pub(super) supersedes: Vec<QuotationResult>,
    /// Why the statement waits on this machine and is not in the shared memory yet. Absent if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) waits: Option<String>,
}

/// A sentence with its source.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct QuotationResult {
    /// Id of the exchange or document.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// When it was said.
    #[serde(skip_serializing_if = "Option::is_none")]
    as_of: Option<String>,
    /// The sentence, in a fence.
    text: String,
}

impl From<Quotation> for QuotationResult {
    fn from(quotation: Quotation) -> Self {
        let (id, as_of) = match quotation.source {
            Source::Message { exchange, created, .. } => {
                (Some(ItemId::Exchange(exchange)), Some(created.to_string()))
            }
            Source::Document { slug, date, .. } => (Some(ItemId::Document(slug)), Some(date)),
            Source::CoreMemory(_) => (None, None),
        };
        Self::new(id.map(|id| id.to_string()), as_of, &quotation.text)
    }
}

impl QuotationResult {
    pub(super) fn new(id: Option<String>, as_of: Option<String>, text: &str) -> Self {
        Self { id, as_of, text: fence(text, MAX_PASSAGE_BYTES) }
    }
}

/// What a search found.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SearchResult {
    /// What the texts in this result are.
    pub(super) notice: &'static str,
    /// Matching exchanges and documents, best first.
    pub(super) results: Vec<FoundItem>,
}

/// An exchange or document that matches a search.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FoundItem {
    /// Id for `fetch`.
    id: String,
    /// Title of the conversation or document.
    title: String,
    /// Address of the conversation or document.
    url: String,
    /// When it was said, or the date of the document.
    date: String,
    /// The matching text, in a fence.
    text: String,
}

/// Maximum length of the text of a found item, in bytes.
const MAX_FOUND_BYTES: usize = 600;

impl From<Citation> for FoundItem {
    fn from(citation: Citation) -> Self {
        Self {
            id: citation.id.to_string(),
            title: title(&citation.title),
            url: super::resources::uri(&citation.id),
            date: citation.date,
            text: fence(&citation.text, MAX_FOUND_BYTES),
        }
    }
}

/// The text of an exchange, a conversation or a document.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct FetchResult {
    /// Id from the arguments.
    pub(super) id: String,
    /// Title of the conversation or document.
    pub(super) title: String,
    /// Address of the exchange, conversation or document.
    pub(super) url: String,
    /// The text, in a fence.
    pub(super) text: String,
    /// Where to read on, if the text is longer than one result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_offset: Option<usize>,
    /// Date, project and program.
    pub(super) metadata: FetchMetadata,
}

/// The source of a text.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct FetchMetadata {
    /// What the text is.
    pub(super) notice: &'static str,
    /// When it was said, or the date of the document.
    pub(super) date: String,
    /// Project of the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) project: Option<String>,
    /// Program that the conversation took place in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) program: Option<String>,
}

/// Recent conversations.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ConversationsResult {
    /// What the texts in this result are.
    pub(super) notice: &'static str,
    /// Conversations, most recently updated first.
    pub(super) conversations: Vec<ConversationItem>,
}

/// A conversation in a list.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ConversationItem {
    /// Id for `fetch`.
    id: String,
    /// Title of the conversation.
    title: String,
    /// Project of the conversation.
    project: String,
    /// Time of the last exchange.
    updated: String,
    /// Number of exchanges.
    exchanges: u64,
    /// Summary, in a fence, if one has been written.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
}

/// Maximum length of a summary in a list, in bytes.
const MAX_SUMMARY_BYTES: usize = 400;

impl From<Conversation> for ConversationItem {
    fn from(conversation: Conversation) -> Self {
        Self {
            id: ItemId::Conversation(conversation.id).to_string(),
            title: title(&conversation.title),
            project: title(&conversation.scope),
            updated: conversation.updated.to_string(),
            exchanges: conversation.exchange_count,
            summary: conversation.summary.as_deref().map(|summary| fence(summary, MAX_SUMMARY_BYTES)),
        }
    }
}

/// What was forgotten.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ForgetResult {
    /// Whether the user agreed. If not, nothing was deleted.
    pub(super) forgotten: bool,
    /// Number of deleted messages.
    pub(super) messages: u64,
    /// Number of deleted documents.
    pub(super) documents: u64,
}

/// What hooks added to prompts.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct WhyResult {
    /// What the texts in this result are.
    pub(super) notice: &'static str,
    /// What was added, latest first. Empty if hooks have added nothing in this project.
    pub(super) injections: Vec<InjectionResult>,
}

/// What was added at one event.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct InjectionResult {
    /// Program that received it.
    program: String,
    /// Session of that program.
    session: String,
    /// The program's name of the event.
    event: String,
    /// When it was added.
    date: String,
    /// What was quoted. Leaves out what has been deleted since.
    items: Vec<InjectedItemResult>,
}

/// Something that was quoted.
#[derive(Debug, Serialize, JsonSchema)]
struct InjectedItemResult {
    /// Id for `fetch`.
    id: String,
    /// Title of the conversation or document.
    title: String,
    /// When it was said.
    as_of: String,
    /// What the user said, in a fence.
    text: String,
    /// Why it was quoted.
    reason: String,
    /// Number of tokens of the quotation.
    tokens: u64,
}

impl From<InjectionReport> for InjectionResult {
    fn from(report: InjectionReport) -> Self {
        let InjectionReport { source, event, created, items } = report;
        Self {
            program: title(&source.program),
            session: title(&source.session),
            event: title(&event),
            date: created.to_string(),
            items: items.into_iter().map(InjectedItemResult::from).collect(),
        }
    }
}

impl From<InjectedQuotation> for InjectedItemResult {
    fn from(item: InjectedQuotation) -> Self {
        let InjectedQuotation { id, title: name, date, text, reason, tokens } = item;
        Self { id, title: title(&name), as_of: date, text: fence(&text, MAX_FOUND_BYTES), reason, tokens }
    }
}
