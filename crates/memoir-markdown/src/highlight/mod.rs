//! Syntax highlighting of comments, strings, numbers, keywords, types and function calls.
//!
//! A small scanner uses a table of languages instead of grammars. It reads every character once, and the only
//! state between lines is an open comment or string. The table covers the few dozen languages that are common
//! in answers. By comparison, syntect adds three megabytes, a minute of build time, tens of milliseconds
//! before the first line and an unmaintained dependency, and its default grammars lack TOML and TypeScript.

mod languages;
mod scan;

pub(crate) use scan::Highlighter;
