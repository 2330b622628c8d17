//! `memoir search`, `/search` and `/memory search`: search conversations and documents.

use memoir_recall::Recall;
use memoir_runtime::{
    Failure, Runtime,
    operations::search::{self, SearchRequest},
};

use crate::{
    args::SearchArgs,
    render::{self, print_report},
};

pub(crate) async fn run(arguments: SearchArgs, runtime: &Runtime, recall: &Recall) -> Result<(), Failure> {
    let request = SearchRequest {
        query: arguments.query.join(" "),
        since: arguments.since,
        scope: arguments.scope.map(|directory| runtime.find_scope(&directory)),
        program: arguments.from,
        limit: arguments.limit,
    };
    let report = search::search(&request, recall, runtime.store().as_ref()).await?;
    // The JSON output is an array of passages, without the rest of the report.
    print_report(&report.results(), arguments.json, |_| render::search::report(&report, &recall.zone))
}
