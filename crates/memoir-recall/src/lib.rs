//! Recalls relevant passages from memory.
//!
//! [`Recall`] runs a chain of [`Stage`]s over an [`Inquiry`]. They parse and embed the question, search messages by
//! meaning and by keyword, score each message as a sum of soft [terms](terms), and select the few passages worth
//! including in a prompt, if any. [`Recall::find_related_documents`] finds documents related to a whole conversation.
//! [`RecallModel`] answers with quotations from memory, without a language model.

mod answer;
mod calibration;
mod chunk;
mod dates;
mod excerpt;
mod format;
mod indexing;
mod inquiry;
mod markdown;
mod model;
mod nicknames;
mod question;
mod recall;
mod related;
mod selection;
mod settings;
mod stage;
mod stages;
mod subject;
mod supplier;
pub mod terms;

pub use answer::{AnswerContext, is_lookup, resolve_follow_up};
pub use chunk::{ChunkSize, split_into_chunks};
pub use dates::{DateRange, Precision, find_dates};
pub use format::{escape_angle_brackets, fence_text, format_recollection, format_related_posts};
pub use indexing::EMBED_BATCH_SIZE;
pub use inquiry::{Inquiry, QueryKind, RankedMessage};
pub use model::{RecallModel, describe_backlog, render_answer};
pub use question::ParsedQuestion;
pub use recall::{Recall, RecallError};
pub use related::{RelatedDocuments, RelatedDocumentsError, WindowMessage, to_markdown};
pub use settings::{Dedup, RecallSettings, ScopeRule};
pub use stage::{Stage, StageName};
pub use supplier::{Supplied, Supplier};
pub use terms::TermName;
