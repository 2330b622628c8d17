//! The state of the terminal program: a session, and what only a terminal needs beside it.

use std::sync::Arc;

use memoir_core::RunId;
use memoir_runtime::{Session, tasks::TaskEngine};

use crate::{background_printer::BackgroundPrinter, trace::Verbosity};

/// A session in a terminal.
pub(crate) struct App {
    pub(crate) session: Session,
    pub(crate) verbosity: Verbosity,
    /// Where messages from background work are shown.
    pub(crate) printer: BackgroundPrinter,
    /// What runs scheduled tasks.
    pub(crate) tasks: Arc<TaskEngine>,
    /// How many reports of tasks the user was told about, and the last of them.
    pub(crate) announced: (u64, Option<RunId>),
}

impl App {
    pub(crate) fn new(session: Session, verbosity: Verbosity, printer: BackgroundPrinter) -> Self {
        let tasks = session.runtime.task_engine();
        Self { session, verbosity, printer, tasks, announced: (0, None) }
    }
}
