//! `memoir memory` and `/memory`: show, search, edit, pin and delete memories.

use std::path::Path;

use memoir_core::{Clock as _, ConversationId, CoreEntry, ExchangeId, Mark, MessageId, SystemClock};
use memoir_recall::Recall;
use memoir_runtime::{
    Failure, Runtime,
    files::write_private,
    operations::{
        conversations,
        core_memory::{self, CoreEditRequest},
        forgetting::{self, ForgetRequest},
        memory::{self, MarkRequest, MemoryRequest, ReleaseRequest},
    },
};
use memoir_store::Store;

use super::search;
use crate::{
    args::{BlockArgs, ExchangeArgs, ForgetArgs, MemoryCommand},
    question,
    render::{self, print, print_rendered_report, print_report},
    text_editor::edit_file,
};

pub(crate) struct MemoryContext<'a> {
    pub(crate) runtime: &'a Runtime,
    pub(crate) recall: &'a Recall,
    pub(crate) conversation: Option<ConversationId>,
    /// The command as the user types it: `memoir memory` or `/memory`.
    pub(crate) command: &'a str,
}

impl MemoryContext<'_> {
    /// Returns the whole store. Operations ask for the traits that they need.
    fn store(&self) -> &dyn Store {
        self.runtime.store().as_ref()
    }

    fn project(&self) -> &str {
        self.recall.scope.as_deref().unwrap_or_default()
    }
}

pub(crate) async fn run(command: MemoryCommand, context: &MemoryContext<'_>) -> Result<(), Failure> {
    let (store, recall, now) = (context.store(), context.recall, SystemClock.now());
    let reads_passages = matches!(
        command,
        MemoryCommand::Search(_) | MemoryCommand::Forget(_) | MemoryCommand::Show { exchange: Some(_), .. }
    );
    if let Some(hub) = context.runtime.hub().filter(|_| !reads_passages) {
        return Err(Failure::usage("this needs the whole memory, which is on another machine")
            .hint(format!("Open {} in a browser.", hub.url())));
    }
    let request = |exchange, mark| MarkRequest { exchange: ExchangeId::new(exchange), mark };
    let report = match command {
        MemoryCommand::List { json } | MemoryCommand::Show { exchange: None, json } => {
            return list(json, context).await;
        }
        MemoryCommand::Show { exchange: Some(id), json } => {
            let report = conversations::show_exchange(ExchangeId::new(id), store).await?;
            return print_rendered_report(&report, json, |report| {
                render::conversations::exchange(report, &recall.zone)
            });
        }
        MemoryCommand::Search(arguments) => return search::run(arguments, context.runtime, recall).await,
        MemoryCommand::Edit(arguments) => return edit(&arguments, context).await,
        MemoryCommand::Undo => {
            let report = core_memory::undo(context.project(), store, now).await?;
            return print(&render::core_memory::undo(&report));
        }
        MemoryCommand::Forget(arguments) => return forget(arguments, context).await,
        MemoryCommand::Pin(ExchangeArgs { exchange }) => {
            memory::mark(&request(exchange, Mark::Pinned), store, now).await?
        }
        MemoryCommand::Wrong(ExchangeArgs { exchange }) => {
            memory::mark(&request(exchange, Mark::Wrong), store, now).await?
        }
        MemoryCommand::Unpin(ExchangeArgs { exchange }) => {
            memory::unmark(&request(exchange, Mark::Pinned), store, now).await?
        }
        MemoryCommand::Right(ExchangeArgs { exchange }) => {
            memory::unmark(&request(exchange, Mark::Wrong), store, now).await?
        }
    };
    print(&render::memory::mark(&report))
}

async fn list(json: bool, context: &MemoryContext<'_>) -> Result<(), Failure> {
    let recall = context.recall;
    let request = MemoryRequest { project: context.project().to_owned(), conversation: context.conversation };
    let report = memory::list(&request, context.store()).await?;
    print_report(&report, json, |report| render::memory::list(report, &recall.zone))
}

/// Stops sending an instruction kept from earlier in the current conversation.
pub(crate) async fn release(number: usize, context: &MemoryContext<'_>) -> Result<(), Failure> {
    let request = ReleaseRequest { conversation: context.conversation, number };
    let report = memory::release_instruction(&request, context.store(), SystemClock.now()).await?;
    print(&render::memory::release(&report))
}

async fn edit(arguments: &BlockArgs, context: &MemoryContext<'_>) -> Result<(), Failure> {
    let (store, home) = (context.store(), context.runtime.home());
    let current = core_memory::read(arguments.block, context.project(), store).await?;
    let text = match arguments.text.as_slice() {
        [] => edit_in_editor(&current, &home.data()).await?,
        words => words.join(" ").trim().to_owned(),
    };
    let request = CoreEditRequest { project: context.project().to_owned(), previous: current, text };
    let report = core_memory::edit(&request, store, home, SystemClock.now()).await?;
    print(&render::core_memory::edit(&report, context.command)?)
}

/// Opens the text of a block in the user's editor and returns the saved text.
async fn edit_in_editor(entry: &CoreEntry, directory: &Path) -> Result<String, Failure> {
    let path = directory.join(format!("core-memory.{}.{}.txt", entry.block, std::process::id()));
    write_private(&path, &entry.text)?;
    let result = edit_file(&path).await;
    let text = std::fs::read_to_string(&path);
    if let Err(error) = std::fs::remove_file(&path) {
        // The editor may have removed it already. The file is private and its text has been read.
        tracing::debug!(%error, "could not remove the edited file");
    }
    result.map_err(|failure| {
        failure.hint("Set `EDITOR` to an installed program, or add the text after the name of the block.")
    })?;
    Ok(text?.trim_end().to_owned())
}

/// Deletes memories after showing a preview and asking for confirmation.
async fn forget(arguments: ForgetArgs, context: &MemoryContext<'_>) -> Result<(), Failure> {
    let (dry_run, yes) = (arguments.dry_run, arguments.yes);
    let preview = forgetting::preview(&forget_request(arguments), context.store(), context.recall).await?;
    print(&render::forgetting::preview(&preview))?;
    if dry_run {
        return print("Nothing was changed.");
    }
    if !question::confirm("This cannot be undone. Delete it?", yes).await? {
        return Ok(());
    }
    let report = context.runtime.forget(&preview.target, context.recall).await?;
    print(&render::forgetting::report(&report))
}

fn forget_request(arguments: ForgetArgs) -> ForgetRequest {
    match arguments {
        ForgetArgs { document: Some(name), .. } => ForgetRequest::Document(name),
        ForgetArgs { message: Some(id), .. } => ForgetRequest::Message(MessageId::new(id)),
        ForgetArgs { exchange: Some(id), .. } => ForgetRequest::Exchange(ExchangeId::new(id)),
        ForgetArgs { conversation: Some(id), .. } => ForgetRequest::Conversation(ConversationId::new(id)),
        ForgetArgs { since, until, .. } => ForgetRequest::Period { since, until },
    }
}
