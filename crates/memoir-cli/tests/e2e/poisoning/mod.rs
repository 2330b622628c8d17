//! Prompt injection: text written by others never becomes core memory, an approval or unfenced text.
//!
//! The scripted provider plays a model that is fooled in some tests and not in others. The tests check what
//! the program sends, stores and allows.

mod extensions;
mod fences;
pub(crate) mod helpers;
mod rights;
