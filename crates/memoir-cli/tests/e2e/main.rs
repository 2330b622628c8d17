//! End-to-end tests: the real binary against the scripted provider, as a user or a script sees it.
//!
//! # Adding a test
//!
//! Pick the file of the feature, or add one and a `mod` line below. A test has four parts:
//!
//! ```text
//! #[test]
//! fn a_name_is_remembered() {
//!     // 1. Create an empty home and a provider that plays a script, one reply per request.
//!     let home = home();
//!     let provider = ScriptedProvider::start([Reply::text("Hello, Ada.")]);
//!     // 2. Run the program. `succeed` returns stdout, `fail(CODE)` stderr, `json` a parsed value, `output` everything.
//!     home.memoir(["-p", "I am Ada"]).provider(&provider).succeed();
//!     // 3. Check the request.
//!     assert_eq!(provider.requests()[0].messages().last().unwrap().1, "I am Ada");
//!     // 4. Check the stored data, through the program.
//!     assert_eq!(home.exchanges()[0].assistant_message, "Hello, Ada.");
//! }
//! ```
//!
//! - **Config and project files:** `home.write_config(TOML)`; files go to `home.workspace()`, where the program runs.
//! - **Stored data:** `home.conversations()`, `exchanges()`, `messages()`, `costs()`, `documents()`, `tasks()`, `runs(TASK)`,
//!   `setting(KEY)`, `search(QUERY)`, and `count(KIND)` for everything else. Compare two `home.snapshot()`s to
//!   find changes. If the program cannot show something, add it to the JSON of the command where a user would
//!   look for it.
//! - **SQL:** only in `memoir_testkit::database`, for states that the program would never write.
//! - **The REPL:** `Terminal::open(...)`, then `submit(LINE)`, `wait_for(TEXT)` and `wait_for_prompt()`. `type_keys` sends single
//!   keys. `screens.rs` compares whole screens with `insta` snapshots; `INSTA_UPDATE=always` updates them.
//! - **Waiting:** always for a condition, never for a fixed time. `provider.hold()` holds back answers until `allow(N)` or
//!   `release()`; `wait_for_requests(N)` waits for requests; `wait_until(WHAT, || CONDITION)` for anything else.
//!
//! Run one file with `cargo test -p memoir-cli --test e2e -- recall::`.

#![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

mod answers;
mod attacks;
mod bad_input;
mod concurrency;
mod confinement;
mod connect;
mod context;
mod costs;
mod damage;
mod deletion;
mod documents;
mod faults;
mod followed;
mod formats;
mod habits;
mod helpers;
mod hooks;
mod http;
mod hub;
mod hub_session;
mod images;
mod imports;
mod interface;
mod keys;
mod line_editor;
mod live;
mod logging;
mod long_conversation;
mod long_work;
mod memory;
mod ownership;
mod pages;
mod poisoning;
mod posts;
mod providers;
mod proxy;
mod recall;
mod schedules;
mod screens;
mod secrets;
mod served;
mod server_offers;
mod servers;
mod setup;
mod shells;
mod states;
mod terminal;
mod tool_set;
mod tools;
mod turn_widths;
mod widths;
mod workers;

use helpers::home;
