//! Changes of the memory, as they happen.

use std::{convert::Infallible, sync::Arc};

use axum::{
    extract::State,
    response::sse::{Event, KeepAlive, Sse},
};
use futures::{Stream, StreamExt as _};
use memoir_runtime::view::MemoryView;
use serde_json::json;
use tokio::sync::broadcast::error::RecvError;

use crate::{events::Change, extract::View, problem::Problem, state::AppState};

/// Watch for changes
///
/// Returns server-sent events: `exchange` with the ids of a new exchange and its conversation, `documents`, `forgotten`, and
/// `missed` if the client was too slow and should read everything again.
#[utoipa::path(get, path = "/events", tag = "conversations", operation_id = "watch", responses(
    (status = OK, content_type = "text/event-stream", body = String)))]
pub(super) async fn watch(
    State(state): State<Arc<AppState>>,
    View(view): View,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    let receiver = state.events.subscribe(state.runtime.store());
    let shutdown = state.shutdown.clone();
    let events = futures::stream::unfold((receiver, view), |(mut receiver, view)| async move {
        loop {
            let event = match receiver.recv().await {
                Ok(change) => describe(change, &view).await,
                Err(RecvError::Lagged(_)) => Some(Event::default().event("missed").data("{}")),
                Err(RecvError::Closed) => return None,
            };
            if let Some(event) = event {
                return Some((Ok(event), (receiver, view)));
            }
        }
    });
    let events = events.take_until(async move { shutdown.cancelled().await });
    Ok(Sse::new(events).keep_alive(KeepAlive::default()))
}

/// Returns the event of a change, if the program may know of it.
async fn describe(change: Change, view: &MemoryView) -> Option<Event> {
    let event = |name: &str| Event::default().event(name);
    match change {
        Change::Exchange(committed) => {
            // Without the conversation, nobody can say whether the program may see it.
            let conversation = view.conversation(committed.conversation_id).await.ok()??;
            let ids = json!({"exchange": committed.exchange_id, "conversation": conversation.id});
            Some(event("exchange").data(ids.to_string()))
        }
        Change::Documents => Some(event("documents").data("{}")),
        Change::Forgotten => Some(event("forgotten").data("{}")),
    }
}
