//! `memoir worker`: runs the background workers in the foreground.

use memoir_runtime::{Failure, Runtime, operations::workers};

use super::print_notices;
use crate::{
    progress::ProgressBars,
    render::{self, print},
};

/// Runs the workers until no work is left.
pub(super) async fn run(runtime: &Runtime) -> Result<(), Failure> {
    let mut notices = Vec::new();
    let context = runtime.worker_context(&mut notices).await?;
    print_notices(&notices);
    let settings = runtime.worker_settings(&mut Vec::new()).await?;
    let report = {
        let mut bars = ProgressBars::default();
        workers::run(&settings, &context, &mut |progress| bars.show(progress)).await?
    };
    print(&render::workers::report(&report))?;
    report.check()
}
