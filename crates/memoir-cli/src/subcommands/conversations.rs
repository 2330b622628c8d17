//! `memoir conversations`: lists conversations or shows one.

use memoir_core::ConversationId;
use memoir_runtime::{
    Failure, Runtime,
    operations::{
        conversations::{self, ConversationsRequest},
        export::to_markdown,
    },
};

use crate::{
    args::ConversationsCommand,
    render::{self, print_rendered_report, print_report},
    screen::render_markdown,
};

pub(super) async fn run(command: ConversationsCommand, runtime: &Runtime) -> Result<(), Failure> {
    let (store, zone) = (runtime.store().as_ref(), runtime.zone());
    match command {
        ConversationsCommand::List { matching, scope, limit, json } => {
            let scope = scope.map(|directory| runtime.find_scope(&directory));
            let request = ConversationsRequest { matching, scope, limit };
            let report = conversations::list(&request, store).await?;
            print_report(&report, json, |report| render::conversations::list(report, zone))
        }
        ConversationsCommand::Show { id, json } => {
            let report = conversations::show(ConversationId::new(id), store).await?;
            print_rendered_report(&report, json, |report| render_markdown(&to_markdown(report, zone)))
        }
    }
}
