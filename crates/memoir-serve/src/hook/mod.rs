//! Answers the hooks of other programs: adds memory to their prompts, and stores their conversations.
//!
//! A program runs `memoir hook` at an event of a session and passes a description on stdin. The reply on stdout is added
//! to the session. A hook must never disturb the program, so everything that goes wrong ends in an empty reply.

mod event;
mod reply;

use std::time::Duration;

use memoir_core::InjectedItem;
use memoir_import::LastExchange;
use memoir_runtime::{
    Failure,
    view::{MemoryView, list_injected},
};

use crate::context::{self, QuotedContext};

pub use event::{HookError, HookEvent, HookHost, HookKind, StartCause};

/// Maximum number of tokens of what is recalled into a prompt.
const MAX_PROMPT_TOKENS: u64 = 1500;

/// How long embedding may take at the end of a turn. The rest is embedded later.
const MAX_EMBEDDING_TIME: Duration = Duration::from_millis(120);

/// Answers an event. Returns what to print, or `None` if nothing is to be added.
///
/// # Errors
///
/// Fails if memory cannot be read or written.
pub async fn answer(event: &HookEvent, view: &MemoryView) -> Result<Option<String>, Failure> {
    let added = match &event.kind {
        HookKind::Prompt(prompt) => recall(prompt, event, view).await?,
        HookKind::Start(StartCause::Compacted) => {
            // A lengthy one was stored before it was compacted.
            if !event.is_lengthy() {
                capture(event, LastExchange::MayBeOpen, view).await?;
            }
            context::restore_session(&view.session_digest(&event.source()).await?)
        }
        HookKind::Start(StartCause::New) => {
            context::describe_project(&view.brief(Some(&event.source())).await?)
        }
        // The program still has the session.
        HookKind::Start(StartCause::Resumed) => None,
        // The program may compact in the middle of a turn.
        HookKind::BeforeCompaction => {
            capture(event, LastExchange::MayBeOpen, view).await?;
            None
        }
        HookKind::TurnEnd | HookKind::SessionEnd => {
            capture(event, LastExchange::Ended, view).await?;
            None
        }
    };
    let Some(QuotedContext { text, items }) = added else { return Ok(None) };
    if view.was_just_injected(&event.source(), &items).await? {
        return Ok(None);
    }
    record(event, items, view).await;
    Ok(Some(reply::format(event, &text)))
}

async fn recall(
    prompt: &str,
    event: &HookEvent,
    view: &MemoryView,
) -> Result<Option<QuotedContext>, Failure> {
    let recollection = view.recall_for_prompt(prompt, &event.source(), MAX_PROMPT_TOKENS).await?;
    let citations = view.cite(&recollection).await?;
    Ok(context::quote_recalled(&citations, list_injected(&recollection)))
}

/// Stores the new exchanges of the session.
async fn capture(event: &HookEvent, last_exchange: LastExchange, view: &MemoryView) -> Result<(), Failure> {
    let Some(format) = event.host.format() else { return Ok(()) };
    let report = match &event.transcript {
        Some(transcript) => view.capture(format, transcript, last_exchange).await?,
        None => view.capture_all(Some(format)).await?,
    };
    tracing::debug!(
        event = event.name,
        messages = report.messages,
        "stored what was said in another program"
    );
    if report.messages > 0 {
        view.embed_captured(MAX_EMBEDDING_TIME).await?;
    }
    Ok(())
}

/// Records what is added, so that `memoir why` can show it. Without the record, it is still useful.
async fn record(event: &HookEvent, items: Vec<InjectedItem>, view: &MemoryView) {
    if let Err(failure) = view.record_injection(&event.name, &event.source(), items).await {
        tracing::warn!(reason = failure.message, "could not record what was added to a prompt");
    }
}
