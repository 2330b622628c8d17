//! `memoir why`: shows what was added to prompts of other programs.

use memoir_runtime::{
    Failure, Runtime,
    view::{MemoryView, Reach},
};

use super::print_notices;
use crate::render::{self, print_report};

pub(super) async fn run(limit: u32, json: bool, runtime: &Runtime) -> Result<(), Failure> {
    let mut notices = Vec::new();
    let view = MemoryView::new(runtime, Reach::All, &mut notices).await?;
    print_notices(&notices);
    let reports = view.explain_injections(limit).await?;
    print_report(&reports, json, |reports| render::injections::list(reports, runtime.zone()))
}
