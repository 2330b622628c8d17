//! `/write`: a post from talk.

use memoir_core::ConversationId;

use super::{Next, RunCommand};
use memoir_runtime::{Failure, operations::posts::PostRequest};

use crate::{
    app::App,
    args::PostArgs,
    completion_source::ValueSource,
    posts::{self, Writing},
};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// Conversation to write from; this one if neither it nor a time is given
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
            return Err(Failure::usage("nothing was said in this conversation yet")
                .hint("/write ID takes another, /write --since yesterday a time."));
        }
        let writing = Writing {
            exchanges: app.session.store(),
            recall: app.session.recall(),
            model: app.session.state.model.as_ref(),
            folder: app.session.runtime.home().posts(),
            verbose: app.verbosity.level() >= 1,
            dry: dry_run,
        };
        posts::write(&request, &writing).await?;
        Ok(Next::Prompt)
    }
}
