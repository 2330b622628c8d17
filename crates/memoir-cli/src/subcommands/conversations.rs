//! `memoir conversations`: lists conversations or shows one.

use memoir_core::ConversationId;
use memoir_runtime::{
    Failure, Runtime,
    operations::{
        conversations::{self, ConversationsRequest},
        export::to_markdown,
        sharing,
    },
};

use crate::{
    args::ConversationsCommand,
    render::{self, print, print_rendered_report, print_report},
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
        ConversationsCommand::Share { id } => share(id, true, runtime).await,
        ConversationsCommand::Unshare { id } => share(id, false, runtime).await,
        ConversationsCommand::Show { id, json } => {
            let report = conversations::show(ConversationId::new(id), store).await?;
            print_rendered_report(&report, json, |report| render_markdown(&to_markdown(report, zone)))
        }
    }
}

async fn share(id: i64, is_shared: bool, runtime: &Runtime) -> Result<(), Failure> {
    let id = ConversationId::new(id);
    let report = sharing::share_conversation(id, is_shared, runtime.store().as_ref()).await?;
    let programs = match is_shared {
        true => "every project".to_owned(),
        false => report.conversation.scope,
    };
    print(&format!("Programs that work for {programs} can now see conversation {id}."))
}
