//! Finding what is relevant in memory.
//!
//! [`Recall`] runs a chain of [`Stage`]s over an [`Inquiry`]: the question is read and embedded, messages are looked
//! up by meaning and by words, scored as a sum of soft [terms](terms), and the few that are worth a prompt's room are
//! chosen, or none. [`Recall::related`] finds the documents that belong to a whole talk. [`RecallModel`] is the model that needs no model: it answers with what was found.

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
mod settings;
mod stage;
mod stages;
pub mod terms;

pub use chunk::{ChunkSize, chunk};
pub use dates::{DateRange, Precision, find_dates};
pub use format::{context, fenced, inside_fence, related_posts};
pub use indexing::BATCH;
pub use inquiry::{Asking, Inquiry, Ranked};
pub use model::{RecallModel, behind};
pub use question::Question;
pub use recall::{Recall, RecallError};
pub use related::{NothingRelated, Related, WindowMessage, to_markdown};
pub use settings::{Dedup, ScopeRule, Settings};
pub use stage::{Stage, chain, stage_names};
