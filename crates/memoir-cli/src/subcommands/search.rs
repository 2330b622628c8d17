//! `memoir search` and `/memory search`.

use std::io::{Write as _, stdout};

use memoir_recall::Recall;
use memoir_runtime::{
    failure::Failure,
    operations::search::{self, SearchRequest},
};

use super::Format;
use crate::{answer_view::folded, args::SearchArgs, render};

pub(super) async fn run(arguments: SearchArgs, recall: &Recall) -> Result<(), Failure> {
    let request = SearchRequest {
        query: arguments.query.join(" "),
        since: arguments.since,
        project: arguments.scope,
        limit: arguments.limit,
    };
    let report = search::search(&request, recall).await?;
    let text = match Format::new(arguments.json) {
        Format::Text => render::search::report(&report, &recall.zone),
        // Scripts know this output as an array of passages.
        Format::Json => render::json(&report.results())?,
    };
    Ok(write!(stdout(), "{}", folded(text.trim_end()))?)
}
