//! `memoir cost`.

use std::io::{Write as _, stdout};

use memoir_core::{Clock as _, ConversationId, SystemClock, TimeZone};
use memoir_runtime::{
    failure::Failure,
    operations::{
        conversations,
        costs::{self, CostRequest},
    },
    scope,
};
use memoir_store::{Conversations, Store};

use super::Format;
use crate::render;

pub(super) async fn run(
    conversation: Option<ConversationId>,
    format: Format,
    store: &dyn Store,
    zone: &TimeZone,
) -> Result<(), Failure> {
    let conversation = match conversation {
        Some(id) => Some(id),
        None => last_of_this_project(store).await?,
    };
    let report = costs::add_up(&CostRequest { conversation }, store, SystemClock.now(), zone).await?;
    let text = match format {
        Format::Json => render::json(&report)?,
        Format::Text => render::costs::report(&report),
    };
    Ok(writeln!(stdout(), "{}", text.trim_end())?)
}

/// Returns the latest conversation of the project that contains the current directory.
pub(super) async fn last_of_this_project(
    store: &dyn Conversations,
) -> Result<Option<ConversationId>, Failure> {
    let Ok(directory) = std::env::current_dir() else { return Ok(None) };
    conversations::find_latest(&scope::scope_of(&directory), store).await
}
