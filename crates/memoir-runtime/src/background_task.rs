//! A task in the background of a session or daemon.

use tokio::task::JoinHandle;

use crate::{persistence::Persistence, runtime::Runtime};

/// A task that works on a permanent memory until it is stopped.
pub(crate) struct BackgroundTask {
    runtime: Runtime,
    task: Option<JoinHandle<()>>,
}

impl BackgroundTask {
    /// Creates a task that does not run yet.
    pub(crate) fn new(runtime: Runtime) -> Self {
        Self { runtime, task: None }
    }

    /// Starts `work`, unless the task runs or the memory is temporary.
    pub(crate) fn start<F: Future<Output = ()> + Send + 'static>(&mut self, work: impl FnOnce(Runtime) -> F) {
        if self.runtime.persistence() == Persistence::Permanent && self.task.is_none() {
            self.task = Some(tokio::spawn(work(self.runtime.clone())));
        }
    }

    /// Stops the task. What it was doing is done again at the next start.
    pub(crate) async fn stop(&mut self) {
        if let Some(task) = self.task.take() {
            task.abort();
            // A task that was aborted returns an error.
            let _ = task.await;
        }
    }
}
