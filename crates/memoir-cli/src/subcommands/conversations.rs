//! `memoir conversations`.

use std::io::{Write as _, stdout};

use memoir_core::{ConversationId, TimeZone};
use memoir_runtime::{
    failure::Failure,
    operations::{
        conversations::{self, ConversationsRequest},
        export::to_markdown,
    },
};
use memoir_store::Store;

use crate::{answer_view::rendered, args::ConversationsCommand, render};

/// Runs a command on conversations.
pub(super) async fn run(
    command: ConversationsCommand,
    store: &dyn Store,
    zone: &TimeZone,
) -> Result<(), Failure> {
    let text = match command {
        ConversationsCommand::List { matching, scope, limit, json } => {
            let request = ConversationsRequest { matching, project: scope, limit };
            let report = conversations::list(&request, store).await?;
            match json {
                true => render::json(&report)? + "\n",
                false => render::conversations::list(&report, zone),
            }
        }
        ConversationsCommand::Show { id, json } => {
            let report = conversations::show(ConversationId::new(id), store).await?;
            match json {
                true => render::json(&report)? + "\n",
                false => rendered(&to_markdown(&report, zone)),
            }
        }
    };
    Ok(write!(stdout(), "{text}")?)
}
