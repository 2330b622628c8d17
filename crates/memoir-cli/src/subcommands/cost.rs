//! `memoir cost`.

use std::io::{Write as _, stdout};

use memoir_core::{Clock as _, SystemClock, TimeZone};
use memoir_store::Store;

use crate::{cost_view, failure::Failure};

pub(super) async fn run(json: bool, store: &dyn Store, zone: &TimeZone) -> Result<(), Failure> {
    let report = cost_view::gather(store, None, SystemClock.now(), zone).await?;
    let text = if json { report.to_json().to_string() } else { report.to_text() };
    Ok(writeln!(stdout(), "{}", text.trim_end())?)
}
