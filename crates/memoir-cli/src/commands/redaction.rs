//! `/redaction`: shows which secrets were redacted and why, and undoes it.

use super::{Next, RunCommand};
use memoir_core::reveal_on_one_line;
use memoir_runtime::Failure;
use memoir_store::HeldRedaction;

use crate::app::App;

const MAX_REDACTIONS: u32 = 30;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Number of a redaction of this session to undo
    #[arg(long, value_name = "N")]
    undo: Option<u32>,
}

impl RunCommand for Arguments {
    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        if let Some(number) = self.undo {
            return undo(number, app).await;
        }
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
        let held = app.session.store().held_redactions();
        if !held.is_empty() {
            say!("\nUntil this session ends, `/redaction --undo N` restores the text of:");
        }
        for HeldRedaction { number, exchange_id, place, kind, secret } in held {
            say!("{number:>3}  {kind} in exchange {exchange_id}, {place}: {}", reveal_on_one_line(&secret));
        }
        Ok(Next::Prompt)
    }
}

async fn undo(number: u32, app: &App) -> Result<Next, Failure> {
    if !app.session.store().undo_redaction(number).await? {
        return Err(Failure::usage(format!("there is no redaction {number} in this session"))
            .hint("Run `/redaction` to list them."));
    }
    say!("Restored. This text is not redacted again in this session.");
    Ok(Next::Prompt)
}
