//! `memoir write`.

use memoir_core::ConversationId;
use memoir_runtime::failure::{Failure, FailureKind};

use super::{CommandContext, cost::last_of_this_project};

use crate::{
    args::WriteArgs,
    writing::{self, Wanted, Writing},
};

pub(super) async fn run(arguments: WriteArgs, context: &CommandContext) -> Result<(), Failure> {
    let (store, models) = (context.store(), context.runtime.models());
    let WriteArgs { conversation, since, until, dry_run, model, verbose } = arguments;
    let mut wanted = Wanted { conversation: conversation.map(ConversationId::new), since, until };
    if let Some(id) = wanted.conversation
        && store.conversation(id).await?.is_none()
    {
        return Err(Failure::new(FailureKind::Usage, format!("there is no conversation {id}"))
            .hint("memoir search finds one by what was said in it."));
    }
    if wanted == Wanted::default() {
        wanted.conversation = last_of_this_project(store).await?;
    }
    if wanted == Wanted::default() {
        return Err(Failure::new(FailureKind::Usage, "there is no conversation in this project")
            .hint("Give one with --conversation ID, or a time with --since DATE."));
    }
    let mut recall = context.recall().await?;
    recall.scope = None;
    let mut choice = models.choose(model.as_deref(), store).await?;
    let model = models.connect(&mut choice).await?;
    let writing = Writing {
        recall: &recall,
        model: model.as_ref(),
        folder: context.runtime.home().posts(),
        verbose,
        dry: dry_run,
    };
    writing::write(&wanted.span(&recall)?, &writing).await
}
