//! `memoir worker`.

use std::{
    io::{Write as _, stdout},
    sync::Arc,
};

use memoir_core::{TimeZone, WorkerKind};
use memoir_store::Store;
use memoir_workers::{Stopped, WorkerContext, WorkerReport, WorkerSettings, run_until_idle};

use crate::{
    failure::{Failure, Kind},
    models::Models,
    printable::printable,
    recall, settings, worker_view,
};

/// Does everything that is due, and tells what that was.
pub(super) async fn run(models: &Models, store: Arc<dyn Store>, zone: &TimeZone) -> Result<(), Failure> {
    let settings: WorkerSettings = settings::read(&models.config, "workers", store.as_ref()).await?;
    let recall = recall::recall(Arc::clone(&store), models, zone, None).await?;
    let can_embed = recall.embedder.is_available();
    let summarizer = models.connect_summarizer(store.as_ref()).await?;
    let office = WorkerContext::new(recall, summarizer, settings.daily_budget());
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
            Err(Failure::new(Kind::Failed, format!("{} does not succeed", report.worker.as_str()))
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
        Some(Stopped::OverBudget(broke)) => line.push_str(&format!(", stopped: {}", worker_view::why(broke))),
        Some(Stopped::Failing) => line.push_str(", stopped: nothing succeeds; the rest is left for later"),
        None => {}
    }
    line
}
