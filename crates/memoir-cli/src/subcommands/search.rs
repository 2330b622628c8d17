//! `memoir search`.

use std::{
    io::{Write as _, stdout},
    sync::Arc,
};

use memoir_core::TimeZone;
use memoir_recall::Asking;
use memoir_store::Store;

use super::Format;
use crate::{app::recall, failure::Failure, output::JsonPassage, search_view};

pub(super) async fn run(
    query: &str,
    format: Format,
    limit: usize,
    store: Arc<dyn Store>,
    zone: &TimeZone,
) -> Result<(), Failure> {
    let mut passages =
        recall(store, zone).passages(query, Asking::Search, None).await.map_err(Failure::from)?;
    passages.truncate(limit);
    let text = match format {
        Format::Text => search_view::text(&passages, zone),
        Format::Json => {
            let json: Vec<JsonPassage<'_>> = passages.iter().map(JsonPassage::from).collect();
            serde_json::to_string(&json).map_err(std::io::Error::from)?
        }
    };
    Ok(writeln!(stdout(), "{}", text.trim_end())?)
}
