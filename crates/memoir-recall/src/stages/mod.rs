//! The recall stages, one file each. `stage.rs` lists them.

pub(crate) mod abstain;
pub(crate) mod budget;
pub(crate) mod diversify;
pub(crate) mod embed_query;
pub(crate) mod fuse;
pub(crate) mod gather;
pub(crate) mod marks;
pub(crate) mod prefer_scope;
pub(crate) mod read_question;
pub(crate) mod refine;
pub(crate) mod search_documents;
pub(crate) mod search_meaning;
pub(crate) mod search_summaries;
pub(crate) mod search_words;
pub(crate) mod supersede;
