//! `memoir write`.

use std::sync::Arc;

use memoir_core::{ConversationId, TimeZone};
use memoir_store::Store;

use super::cost::last_of_this_project;
use crate::{
    args::WriteArgs,
    failure::{Failure, Kind},
    home::Home,
    models::Models,
    recall,
    writing::{self, Wanted, Writing},
};

pub(super) async fn run(
    arguments: WriteArgs,
    models: &Models,
    store: Arc<dyn Store>,
    zone: &TimeZone,
    home: &Home,
) -> Result<(), Failure> {
    let WriteArgs { conversation, since, until, dry_run, model, verbose } = arguments;
    let mut wanted = Wanted { conversation: conversation.map(ConversationId::new), since, until };
    if let Some(id) = wanted.conversation
        && store.conversation(id).await?.is_none()
    {
        return Err(Failure::new(Kind::Usage, format!("there is no conversation {id}"))
            .hint("memoir search finds one by what was said in it."));
    }
    if wanted == Wanted::default() {
        wanted.conversation = last_of_this_project(store.as_ref()).await?;
    }
    if wanted == Wanted::default() {
        return Err(Failure::new(Kind::Usage, "there is no conversation in this project")
            .hint("Give one with --conversation ID, or a time with --since DATE."));
    }
    let recall = recall::recall(Arc::clone(&store), models, zone, None).await?;
    let mut choice = models.choose(model.as_deref(), store.as_ref()).await?;
    let model = models.connect(&mut choice).await?;
    let writing =
        Writing { recall: &recall, model: model.as_ref(), folder: home.posts(), verbose, dry: dry_run };
    writing::write(&wanted.span(&recall)?, &writing).await
}
