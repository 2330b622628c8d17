//! Finding what is relevant in memory.
//!
//! So far this crate holds [`RecallModel`], the model that needs no model: it answers from stored exchanges
//! by full text, so that the program is useful with no key, no server and no network.

mod model;

pub use model::RecallModel;
