//! `memoir worker`.

use memoir_runtime::{
    failure::{Failure, FailureKind},
    operations::workers,
};

use super::CommandContext;
use crate::render::{self, print};

/// Runs the workers until nothing is due.
pub(super) async fn run(context: &CommandContext) -> Result<(), Failure> {
    let settings = context.runtime.worker_settings().await?;
    let report = workers::run(&settings, &context.worker_context().await?, &mut |_| {}).await?;
    print(&render::workers::report(&report))?;
    match report.failing() {
        Some(worker) => {
            Err(Failure::new(FailureKind::Failed, format!("{} does not succeed", worker.as_str()))
                .hint("What failed is tried again by itself, up to seven times; then /worker retry does."))
        }
        None => Ok(()),
    }
}
