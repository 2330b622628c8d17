//! `memoir cost`.

use std::io::{Write as _, stdout};

use memoir_core::{Clock as _, ConversationId, SystemClock, TimeZone};
use memoir_store::{ConversationList, Store};

use super::Format;
use memoir_runtime::{failure::Failure, scope};

use crate::cost_view;

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
    let report = cost_view::gather(store, conversation, SystemClock.now(), zone).await?;
    let text = match format {
        Format::Json => report.to_json().to_string(),
        Format::Text => report.to_text(),
    };
    Ok(writeln!(stdout(), "{}", text.trim_end())?)
}

pub(super) async fn last_of_this_project(store: &dyn Store) -> Result<Option<ConversationId>, Failure> {
    let Ok(directory) = std::env::current_dir() else { return Ok(None) };
    let scope = scope::project_of(&directory).to_string_lossy().into_owned();
    let last = store
        .conversations(&ConversationList { scope: Some(scope), limit: 1, ..ConversationList::default() })
        .await?;
    Ok(last.first().map(|conversation| conversation.id))
}
