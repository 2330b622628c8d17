//! `memoir worker`.

use std::io::{Write as _, stdout};

use memoir_core::WorkerKind;
use memoir_runtime::{
    failure::{Failure, FailureKind},
    printable, worker_text,
};
use memoir_workers::{Stopped, WorkerReport, run_until_idle};

use super::CommandContext;

/// Does everything that is due, and tells what that was.
pub(super) async fn run(context: &CommandContext) -> Result<(), Failure> {
    let settings = context.runtime.worker_settings().await?;
    let office = context.worker_context().await?;
    let can_embed = office.recall.embedder.is_available();
    let is_on =
        |kind: &WorkerKind| settings.is_on(*kind) && (*kind != WorkerKind::EmbeddingGenerator || can_embed);
    let workers: Vec<WorkerKind> = WorkerKind::ALL.into_iter().filter(is_on).collect();
    let reports = run_until_idle(&office, &workers, &mut |_, _| {}).await?;
    for kind in WorkerKind::ALL {
        match reports.iter().find(|report| report.worker == kind) {
            Some(report) => writeln!(stdout(), "{}", line(report))?,
            None if settings.is_on(kind) => {
                writeln!(stdout(), "{:<24} its model cannot be called", kind.as_str())?
            }
            None => writeln!(stdout(), "{:<24} switched off", kind.as_str())?,
        }
    }
    match reports.iter().find(|report| report.stopped == Some(Stopped::Failing)) {
        Some(report) => {
            Err(Failure::new(FailureKind::Failed, format!("{} does not succeed", report.worker.as_str()))
                .hint("What failed is tried again by itself, up to seven times; then /worker retry does."))
        }
        None => Ok(()),
    }
}

fn line(report: &WorkerReport) -> String {
    let mut line = format!("{:<24} {} done", report.worker.as_str(), report.done);
    if report.failed > 0 {
        line.push_str(&format!(", {} failed", report.failed));
    }
    if let Some(error) = &report.last_error {
        line.push_str(&format!(" ({})", printable(error)));
    }
    match report.stopped {
        Some(Stopped::OverBudget(broke)) => line.push_str(&format!(", stopped: {}", worker_text::why(broke))),
        Some(Stopped::Failing) => line.push_str(", stopped: nothing succeeds; the rest is left for later"),
        None => {}
    }
    line
}
