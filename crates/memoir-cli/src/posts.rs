//! Runs `memoir write` and `/write`.

use std::path::PathBuf;

use memoir_models::ChatModel;
use memoir_recall::Recall;
use memoir_runtime::{
    Failure,
    operations::posts::{self, PostPlan, PostRequest, PostSources, PostStep},
    printable,
};
use memoir_store::Exchanges;

use crate::render::{self, print};

/// The sources and options for writing a post.
pub(crate) struct PostWriter<'a> {
    pub(crate) exchanges: &'a dyn Exchanges,
    pub(crate) recall: &'a Recall,
    pub(crate) model: &'a dyn ChatModel,
    pub(crate) directory: PathBuf,
    /// Whether to show how related posts are searched for.
    pub(crate) verbose: bool,
    /// Whether to show what would be sent instead of writing the post.
    pub(crate) dry_run: bool,
}

/// Writes a post, prints it and saves it.
pub(crate) async fn write(request: &PostRequest, writer: &PostWriter<'_>) -> Result<(), Failure> {
    let PostWriter { exchanges, recall, model, directory, verbose, dry_run } = writer;
    let sources = PostSources { exchanges: *exchanges, recall, model: *model, posts: directory };
    if *dry_run {
        let plan = posts::plan(request, sources).await?;
        print_log(&plan, *verbose);
        return print(&render::posts::plan(&plan, &recall.zone));
    }
    let mut print_result = Ok(());
    let mut observe = |step: PostStep<'_>| match step {
        PostStep::Gathered(plan) => {
            print_log(plan, *verbose);
            if !plan.by_quotation {
                let messages = render::pluralize(plan.messages as u64, "message", "messages");
                note!("{} is writing a post from {messages} …", plan.model);
            }
        }
        PostStep::Drafted(draft) => {
            print_result = print(&printable(draft.text.trim_end()));
            render::posts::warnings(draft).iter().for_each(|line| note!("{line}"));
        }
    };
    let report = posts::write(request, sources, &mut observe).await?;
    note!("{}", render::posts::report(&report));
    print_result
}

fn print_log(plan: &PostPlan, verbose: bool) {
    if verbose {
        plan.log.iter().for_each(|line| note!("{}", printable(line)));
    }
}
