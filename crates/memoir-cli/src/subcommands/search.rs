//! `memoir search` and `/memory search`.

use memoir_recall::Recall;
use memoir_runtime::{
    Failure,
    operations::search::{self, SearchRequest},
};

use crate::{
    answer_view::folded,
    args::SearchArgs,
    render::{self, print_report},
};

pub(super) async fn run(arguments: SearchArgs, recall: &Recall) -> Result<(), Failure> {
    let request = SearchRequest {
        query: arguments.query.join(" "),
        since: arguments.since,
        project: arguments.scope,
        limit: arguments.limit,
    };
    let report = search::search(&request, recall).await?;
    // Scripts know this output as an array of passages.
    print_report(&report.results(), arguments.json, |_| {
        folded(render::search::report(&report, &recall.zone).trim_end())
    })
}
