//! Finding what is relevant in memory.
//!
//! [`Recall`] runs a chain of [`Stage`]s over an [`Inquiry`]: the question is read and embedded, messages are looked
//! up by meaning and by words, scored as a sum of soft [terms](terms), and the few that are worth a prompt's room are
//! chosen, or none. [`Recall::related`] finds the documents that belong to a whole conversation. [`RecallModel`] needs no
//! language model: it answers by quoting what was found.

mod calibration;
mod chunk;
mod dates;
mod excerpt;
mod format;
mod indexing;
mod inquiry;
mod model;
mod question;
mod recall;
mod related;
mod selection;
mod settings;
mod stage;
mod stages;
pub mod terms;

pub use chunk::{ChunkSize, chunk};
pub use dates::{DateRange, Precision, find_dates};
pub use format::{context, fenced, inside_fence, related_posts};
pub use indexing::BATCH;
pub use inquiry::{Inquiry, QueryKind, RankedMessage};
pub use model::{RecallModel, describe_backlog};
pub use question::ParsedQuestion;
pub use recall::{Recall, RecallError};
pub use related::{RelatedDocuments, RelatedDocumentsError, WindowMessage, to_markdown};
pub use settings::{Dedup, RecallSettings, ScopeRule};
pub use stage::{Stage, StageName};
pub use terms::TermName;
