//! Attacks that do not work. Each test performs one through the real binary.

mod commands;
mod memory;
mod network;
