//! `memoir search` and `/memory search`: search conversations and documents.

use memoir_recall::Recall;
use memoir_runtime::{
    Failure,
    operations::search::{self, SearchRequest},
};

use crate::{
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
    // The JSON output is an array of passages, without the rest of the report.
    print_report(&report.results(), arguments.json, |_| render::search::report(&report, &recall.zone))
}
