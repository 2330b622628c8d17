//! `memoir worker`.

use std::{
    io::{Write as _, stdout},
    sync::Arc,
};

use memoir_core::{SystemClock, TimeZone};
use memoir_store::Store;
use memoir_workers::{Office, Report, WorkerSettings, run_until_idle};

use crate::{failure::Failure, models::Models, recall, settings};

/// Does everything that is due, and tells what that was.
pub(super) async fn run(models: &Models, store: Arc<dyn Store>, zone: &TimeZone) -> Result<(), Failure> {
    let settings: WorkerSettings = settings::read(&models.config.workers, "workers", store.as_ref()).await?;
    let daily_budget = settings.daily_budget();
    let office = Office {
        recall: recall::recall(Arc::clone(&store), &models.config, zone, None).await?,
        summarizer: models.connect_summarizer(store.as_ref()).await?,
        store,
        clock: Arc::new(SystemClock),
        zone: zone.clone(),
        current: Arc::default(),
        owner: std::process::id().to_string(),
        daily_budget,
    };
    for report in run_until_idle(&office).await? {
        writeln!(stdout(), "{}", line(&report))?;
    }
    Ok(())
}

fn line(report: &Report) -> String {
    let mut line = format!("{:<24} {} done", report.worker.as_str(), report.done);
    if report.failed > 0 {
        line.push_str(&format!(", {} failed", report.failed));
    }
    if let Some(error) = &report.last_error {
        line.push_str(&format!(" ({error})"));
    }
    if report.over_budget {
        line.push_str(", stopped: what may be spent today is spent (workers.daily_budget_usd in the config)");
    }
    line
}
