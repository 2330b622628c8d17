//! `/write`: writes a post from messages.

use memoir_core::ConversationId;

use super::{Next, RunCommand};
use memoir_runtime::{Failure, operations::posts::PostRequest};

use crate::{
    app::App,
    args::PostArgs,
    completion_source::ValueSource,
    posts::{self, PostWriter},
};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Conversation to write about; defaults to this one unless a period is given
    #[arg(value_name = "CONVERSATION", add = ValueSource::CONVERSATIONS)]
    conversation: Option<i64>,
    #[command(flatten)]
    post: PostArgs,
}

impl RunCommand for Arguments {
    const NEEDS_MEMORY: bool = true;

    async fn run(self, app: &mut App) -> Result<Next, Failure> {
        let Self { conversation, post: PostArgs { since, until, dry_run } } = self;
        let mut request = PostRequest { conversation: conversation.map(ConversationId::new), since, until };
        if request.is_empty() {
            request.conversation = app.session.conversation();
        }
        if request.is_empty() {
            return Err(Failure::usage("this conversation has no messages yet")
                .hint("Use `/write ID` for another one, or `/write --since yesterday` for a period."));
        }
        let writer = PostWriter {
            exchanges: app.session.store(),
            recall: app.session.recall(),
            model: app.session.state.model.as_ref(),
            directory: app.session.runtime.home().posts(),
            verbose: app.verbosity.level() >= 1,
            dry_run,
        };
        posts::write(&request, &writer).await?;
        Ok(Next::Prompt)
    }
}
