//! Checks the memory and backs it up in the background, once a day while Memoir is in use.

use std::time::Duration;

use crate::{background_task::BackgroundTask, copies, runtime::Runtime};

/// Time between two looks at the date, in a program that runs for days.
const INTERVAL: Duration = Duration::from_secs(60 * 60);

/// The background task of a session or daemon.
pub struct Care(BackgroundTask);

impl Care {
    /// Creates a task that does not run yet.
    pub fn new(runtime: Runtime) -> Self {
        Self(BackgroundTask::new(runtime))
    }

    /// Starts the task, unless it runs or the memory is temporary.
    pub fn start(&mut self) {
        self.0.start(|runtime| async move {
            while run_once(&runtime).await {
                tokio::time::sleep(INTERVAL).await;
            }
        });
    }

    /// Stops the task. What it was doing is done again at the next start.
    pub async fn stop(&mut self) {
        self.0.stop().await;
    }
}

/// Checks the memory and backs it up if that is due. Returns `false` if the memory is damaged.
pub(crate) async fn run_once(runtime: &Runtime) -> bool {
    let config = &runtime.models().config;
    let result = copies::care_for(runtime.store().as_ref(), runtime.home(), runtime.zone(), config).await;
    if let Err(failure) = result {
        tracing::warn!(reason = failure.message, "the memory was not backed up");
    }
    runtime.store().damage().is_none()
}
