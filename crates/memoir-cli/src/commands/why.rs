//! `/why`: what memory put into the last prompt, and why.

use anstream::{print, println};
use async_trait::async_trait;

use super::{Command, Next};
use crate::{answer_view::folded, app::App, failure::Failure, search_view};

pub(super) struct Why;

#[async_trait]
impl Command for Why {
    fn name(&self) -> &'static str {
        "why"
    }

    fn summary(&self) -> &'static str {
        "Show what memory put into the last prompt, and why."
    }

    async fn run(&self, _arguments: &str, app: &mut App) -> Result<Next, Failure> {
        if app.last_recalled.is_empty() {
            println!("Memory put nothing into the last prompt, or it was forgotten since.");
        } else {
            print!("{}", folded(search_view::recalled(&app.last_recalled, &app.zone).trim_end()));
        }
        Ok(Next::Prompt)
    }
}
