//! Text that wants to be obeyed: what others wrote never becomes core memory, an approval or unfenced text, whatever it says.
//!
//! The scripted provider plays a model, now a sound one and now one that was fooled. What matters is what the program sends,
//! keeps and allows.

mod extensions;
mod fences;
mod helpers;
mod rights;
