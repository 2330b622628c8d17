//! `memoir write`: writes a post from messages.

use memoir_core::ConversationId;
use memoir_runtime::{
    Failure, Runtime,
    operations::posts::{PostRequest, complete},
};

use super::recall;
use crate::{
    args::{PostArgs, WriteArgs},
    posts::{self, PostWriter},
};

pub(super) async fn run(arguments: WriteArgs, runtime: &Runtime) -> Result<(), Failure> {
    let store = runtime.store().as_ref();
    let WriteArgs { conversation, post: PostArgs { since, until, dry_run }, model, verbose } = arguments;
    let request = PostRequest { conversation: conversation.map(ConversationId::new), since, until };
    let request = complete(request, runtime.project(), store).await?;
    let mut recall = recall(runtime).await?;
    recall.scope = None;
    let mut choice = runtime.models().choose(model.as_deref(), store).await?;
    let model = runtime.models().connect(&mut choice).await?;
    let writer = PostWriter {
        exchanges: store,
        recall: &recall,
        model: model.as_ref(),
        directory: runtime.home().posts(),
        verbose,
        dry_run,
    };
    posts::write(&request, &writer).await
}
