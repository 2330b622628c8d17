//! `/redaction`: which secrets were not kept, and why.

use anstream::println;

use super::{Next, RunCommand};
use memoir_runtime::Failure;

use crate::app::App;

/// So many are shown.
const MOST_SHOWN: u32 = 30;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        let found = app.session.store().redactions(MOST_SHOWN).await?;
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
            let created = redaction.created.minute_in(app.session.runtime.zone());
            println!("{created}  {} in {place}: {}", redaction.kind, redaction.reason);
        }
        Ok(Next::Prompt)
    }
}
