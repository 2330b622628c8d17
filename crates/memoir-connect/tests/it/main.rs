//! Connects hosts in a temporary home directory and checks the files.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

mod broken;
mod expected;
#[cfg(unix)]
mod files;
mod json_round_trip;
mod support;
mod toml_round_trip;
mod variants;
