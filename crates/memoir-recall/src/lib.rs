//! Finding what is relevant in memory.
//!
//! [`Recall`] ranks what was said by how well it answers a question: words, meaning, neighbours, the whole
//! conversation, who spoke and when, as soft terms of one score. [`RecallModel`] is the model that needs no
//! model: it answers with what was found.

mod dates;
mod engine;
mod indexing;
mod model;
mod passages;
mod question;
mod score;

pub use dates::{DateRange, Precision, find_dates};
pub use engine::{Mode, Ranked, Recall, RecallError};
pub use model::RecallModel;
pub use passages::Asking;
