//! `/summarizer`: whether summaries are made, from now on and at every start.

use anstream::println;
use async_trait::async_trait;
use memoir_core::WorkerKind;

use super::{Command, Next};
use crate::{
    app::App,
    failure::{Failure, Kind},
    settings, worker_view,
};

pub(super) struct Summarizer;

const USAGE: &str =
    "Use /summarizer, /summarizer on|off, /summarizer exchange on|off or /summarizer conversation on|off.";

#[async_trait]
impl Command for Summarizer {
    fn name(&self) -> &'static str {
        "summarizer"
    }

    fn arguments(&self) -> &'static str {
        "[on | off | exchange [on|off] | conversation [on|off]]"
    }

    fn summary(&self) -> &'static str {
        "Whether exchanges and conversations are summarised."
    }

    async fn run(&self, arguments: &str, app: &mut App) -> Result<Next, Failure> {
        let words: Vec<&str> = arguments.split_whitespace().collect();
        let both = [WorkerKind::ExchangeSummarizer, WorkerKind::ConversationSummarizer];
        match words.as_slice() {
            [] => {}
            [switch @ ("on" | "off")] => turn(&both, switch, app).await?,
            ["exchange" | "conversation"] => {}
            ["exchange", switch @ ("on" | "off")] => turn(&both[..1], switch, app).await?,
            ["conversation", switch @ ("on" | "off")] => turn(&both[1..], switch, app).await?,
            _ => {
                return Err(Failure::new(Kind::Usage, format!("/summarizer {arguments} is not understood"))
                    .hint(USAGE));
            }
        }
        let shown = match words.first() {
            Some(&"exchange") => &both[..1],
            Some(&"conversation") => &both[1..],
            _ => &both[..],
        };
        for kind in shown {
            show(*kind, app).await?;
        }
        match &app.summarizer {
            Some(model) => println!("Summaries are made by {}.", model.name()),
            None => println!("Summaries are made by quotation; /models set NAME summarizer names a model."),
        }
        Ok(Next::Prompt)
    }
}

/// Whether a worker is switched on, and how it is getting on.
pub(super) async fn show(kind: WorkerKind, app: &App) -> Result<(), Failure> {
    let on = if app.worker_settings.is_on(kind) { "on" } else { "off" };
    let pending = app.agent.store.pending(&app.workers.context().claim(kind)).await?;
    let statuses = app.workers.statuses();
    let state = statuses.iter().find(|status| status.worker == kind);
    let state = state.map(|status| worker_view::state(status, pending)).unwrap_or_default();
    println!("{:<24} {on}: {state}", kind.as_str());
    Ok(())
}

/// Starts or stops workers, now and at every start.
pub(super) async fn turn(kinds: &[WorkerKind], switch: &str, app: &mut App) -> Result<(), Failure> {
    for kind in kinds {
        let key = format!("workers.{}", kind.as_str());
        let (config, store) = (&app.models.config, app.agent.store.as_ref());
        let (_, changed) =
            settings::change((&key, switch), &app.worker_settings, config, store, USAGE).await?;
        app.worker_settings = changed;
        if app.should_run(*kind) {
            app.workers.start(*kind);
        } else {
            app.workers.stop(*kind).await;
        }
        app.share_out_work();
    }
    Ok(())
}
