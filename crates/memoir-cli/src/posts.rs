//! `memoir write` and `/write`.

use std::path::PathBuf;

use anstream::eprintln;
use memoir_models::ChatModel;
use memoir_recall::Recall;
use memoir_runtime::{
    Failure,
    operations::posts::{self, PostPlan, PostRequest, PostSources, PostStep},
    printable,
};
use memoir_store::Exchanges;

use crate::render::{self, print};

/// How a post is written.
pub(crate) struct Writing<'a> {
    pub(crate) exchanges: &'a dyn Exchanges,
    pub(crate) recall: &'a Recall,
    pub(crate) model: &'a dyn ChatModel,
    /// Directory for posts.
    pub(crate) folder: PathBuf,
    /// Whether to show how related posts are looked for.
    pub(crate) verbose: bool,
    /// Whether to show only what would be done.
    pub(crate) dry: bool,
}

/// Writes a post, prints it and saves it.
pub(crate) async fn write(request: &PostRequest, writing: &Writing<'_>) -> Result<(), Failure> {
    let Writing { exchanges, recall, model, folder, verbose, dry } = writing;
    let sources = PostSources { exchanges: *exchanges, recall, model: *model, posts: folder };
    if *dry {
        let plan = posts::plan(request, sources).await?;
        print_log(&plan, *verbose);
        return print(&render::posts::plan(&plan, &recall.zone));
    }
    let mut printed = Ok(());
    let mut observe = |step: PostStep<'_>| match step {
        PostStep::Gathered(plan) => {
            print_log(plan, *verbose);
            if !plan.by_quotation {
                eprintln!("{} writes from {} messages …", plan.model, plan.messages);
            }
        }
        PostStep::Drafted(draft) => {
            printed = print(&printable(draft.text.trim_end()));
            render::posts::warnings(draft).iter().for_each(|line| eprintln!("{line}"));
        }
    };
    let report = posts::write(request, sources, &mut observe).await?;
    eprintln!("{}", render::posts::saved(&report));
    printed
}

fn print_log(plan: &PostPlan, verbose: bool) {
    if verbose {
        plan.log.iter().for_each(|line| eprintln!("{}", printable(line)));
    }
}
