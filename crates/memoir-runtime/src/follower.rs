//! Follows the sessions of other programs in the background of a session or daemon, if the user wants that.

use crate::{background_task::BackgroundTask, operations::import, runtime::Runtime};

/// The background task of a session or daemon.
pub struct Follower(BackgroundTask);

impl Follower {
    /// Creates a task that does not run yet.
    pub fn new(runtime: Runtime) -> Self {
        Self(BackgroundTask::new(runtime))
    }

    /// Starts the task, unless it runs, the memory is temporary or `import.watch` is off.
    pub fn start(&mut self) {
        self.0.start(follow);
    }

    /// Stops the task. What it was doing is done again at the next start.
    pub async fn stop(&mut self) {
        self.0.stop().await;
    }
}

async fn follow(runtime: Runtime) {
    match runtime.import_settings(&mut Vec::new()).await {
        Ok(settings) if settings.watch => {}
        Ok(_) => return,
        Err(failure) => return tracing::warn!(reason = failure.message, "other programs are not followed"),
    }
    let environment = &runtime.models().environment;
    let (store, zone) = (runtime.store().as_ref(), runtime.zone());
    let mut observe = |report: import::FollowReport| {
        tracing::info!(messages = report.messages, "stored what was said in other programs");
    };
    if let Err(failure) = import::watch(environment, store, zone, &mut observe).await {
        tracing::warn!(reason = failure.message, "other programs are no longer followed");
    }
}
