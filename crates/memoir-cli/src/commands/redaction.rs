//! `/redaction`: which secrets were not kept, and why.

use anstream::println;
use async_trait::async_trait;

use super::{Command, Next};
use crate::{app::App, failure::Failure};

/// So many are shown.
const MOST_SHOWN: u32 = 30;

pub(super) struct Redaction;

#[async_trait]
impl Command for Redaction {
    fn name(&self) -> &'static str {
        "redaction"
    }

    fn summary(&self) -> &'static str {
        "Show which secrets were taken out of what is kept, and why."
    }

    async fn run(&self, _arguments: &str, app: &mut App) -> Result<Next, Failure> {
        let found = app.agent.store.redactions(MOST_SHOWN).await?;
        if found.is_empty() {
            println!(
                "No secret was found in what was said. Keys, tokens and passwords are taken out before anything is kept."
            );
        }
        for redaction in found {
            let place = match redaction.exchange_id {
                Some(id) => format!("exchange {id}, {}", redaction.place),
                None => redaction.place,
            };
            println!(
                "{}  {} in {place}: {}",
                redaction.created.minute_in(&app.zone),
                redaction.kind,
                redaction.reason
            );
        }
        Ok(Next::Prompt)
    }
}
