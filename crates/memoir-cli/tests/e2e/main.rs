//! The real binary against the scripted provider: what a person or a script sees from the outside.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

mod bad_input;
mod confinement;
mod context;
mod costs;
mod documents;
mod faults;
mod forgetting;
mod formats;
mod keys;
mod long_talk;
mod memory;
mod owning;
mod poisoning;
mod providers;
mod recall;
mod schedules;
mod screens;
mod secrets;
mod servers;
mod setting_up;
mod sharing;
mod terminal;
mod tool_set;
mod tools;
mod workers;
mod writing;

use memoir_testkit::Home;

fn home() -> Home {
    Home::new(env!("CARGO_BIN_EXE_memoir"))
}
