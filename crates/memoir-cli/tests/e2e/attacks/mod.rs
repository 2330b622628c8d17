//! Attacks that do not work. Each test performs one through the real binary.

mod commands;
mod display;
mod files;
mod http;
mod later;
mod memory;
mod network;
mod pages;
mod trust;
mod variants;
