//! `memoir write`.

use memoir_core::ConversationId;
use memoir_runtime::{
    failure::Failure,
    operations::posts::{PostRequest, complete},
};

use super::CommandContext;
use crate::{
    args::WriteArgs,
    posts::{self, Writing},
};

pub(super) async fn run(arguments: WriteArgs, context: &CommandContext) -> Result<(), Failure> {
    let (runtime, store) = (&context.runtime, context.store());
    let WriteArgs { conversation, since, until, dry_run, model, verbose } = arguments;
    let request = PostRequest { conversation: conversation.map(ConversationId::new), since, until };
    let request = complete(request, runtime.project(), store).await?;
    let mut recall = context.recall().await?;
    recall.scope = None;
    let mut choice = runtime.models().choose(model.as_deref(), store).await?;
    let model = runtime.models().connect(&mut choice).await?;
    let writing = Writing {
        recall: &recall,
        model: model.as_ref(),
        folder: runtime.home().posts(),
        verbose,
        dry: dry_run,
    };
    posts::write(&request, &writing).await
}
