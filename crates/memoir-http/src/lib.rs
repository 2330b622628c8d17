//! Serves memory over HTTP: a REST API, the Model Context Protocol, and a proxy for the APIs of model providers.
//!
//! Everything but the health check and the description of the API needs a token. `server.rs` accepts connections;
//! `layers.rs` is what every request passes before it reaches a route; `routes/` has one file per resource and one list, and
//! `pages/` has one file per page for the user's browser.
//! Conversations and documents are read and changed only through a
//! [`MemoryView`](memoir_runtime::view::MemoryView), which limits a request to what its token covers. What is not part of
//! a project needs the right `admin`.

mod access;
mod browser;
mod events;
mod extract;
mod guard;
mod layers;
mod limits;
mod monitoring;
mod options;
mod pages;
mod problem;
mod routes;
mod server;
mod state;
mod tls;

pub use limits::Limits;
pub use options::{ServeOptions, TlsFiles};
pub use routes::api_document;
pub use server::Server;
