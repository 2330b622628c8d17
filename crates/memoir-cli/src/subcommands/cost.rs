//! `memoir cost`: shows costs.

use memoir_core::{Clock as _, ConversationId, SystemClock};
use memoir_runtime::{
    Failure, Runtime,
    operations::{
        conversations,
        costs::{self, CostRequest},
    },
};

use crate::render::{self, print_report};

/// Prints the costs of a conversation, by default the latest in this project, and the totals.
pub(super) async fn run(
    conversation: Option<ConversationId>,
    json: bool,
    runtime: &Runtime,
) -> Result<(), Failure> {
    let store = runtime.store().as_ref();
    let conversation = match conversation {
        Some(id) => Some(id),
        None => conversations::find_latest(&runtime.scope(), store).await?,
    };
    let now = SystemClock.now();
    let report = costs::add_up(&CostRequest { conversation }, store, now, runtime.zone()).await?;
    print_report(&report, json, render::costs::report)
}
