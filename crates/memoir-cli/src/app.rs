//! The state of the program: a session and its terminal.

use std::sync::Arc;

use memoir_core::RunId;
use memoir_runtime::{Session, tasks::TaskEngine};

use crate::{background_printer::BackgroundPrinter, spinner::Spinner, trace::Verbosity};

pub(crate) struct App {
    pub(crate) session: Session,
    pub(crate) verbosity: Verbosity,
    /// Prints messages from background workers.
    pub(crate) printer: BackgroundPrinter,
    pub(crate) tasks: Arc<TaskEngine>,
    pub(crate) spinner: Spinner,
    /// Number of unread task reports that the user was notified about, and the latest one.
    pub(crate) announced: (u64, Option<RunId>),
}

impl App {
    pub(crate) fn new(session: Session, verbosity: Verbosity, printer: BackgroundPrinter) -> Self {
        let tasks = session.runtime.task_engine();
        Self { session, verbosity, printer, tasks, spinner: Spinner::default(), announced: (0, None) }
    }
}
