//! `/redaction`: shows which secrets were redacted, and why.

use super::{Next, RunCommand};
use memoir_runtime::Failure;

use crate::app::App;

const MAX_REDACTIONS: u32 = 30;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        let redactions = app.session.store().redactions(MAX_REDACTIONS).await?;
        if redactions.is_empty() {
            say!("No secrets were found. Keys, tokens and passwords are redacted before anything is saved.");
        }
        for redaction in redactions {
            let place = match redaction.exchange_id {
                Some(id) => format!("exchange {id}, {}", redaction.place),
                None => redaction.place,
            };
            let created = redaction.created.format_minute(app.session.runtime.zone());
            say!("{created}  {} in {place}: {}", redaction.kind, redaction.reason);
        }
        Ok(Next::Prompt)
    }
}
