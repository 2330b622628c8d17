//! The state of the program: a session and its terminal.

use std::sync::Arc;

use memoir_core::RunId;
use memoir_runtime::{Session, tasks::TaskEngine};

use crate::{
    background_printer::BackgroundPrinter,
    live::LiveView,
    repl::{FinishedCall, SessionUsage},
    trace::Verbosity,
};

pub(crate) struct App {
    pub(crate) session: Session,
    pub(crate) verbosity: Verbosity,
    /// Prints messages from background workers.
    pub(crate) printer: BackgroundPrinter,
    pub(crate) tasks: Arc<TaskEngine>,
    /// The part of the screen that changes.
    pub(crate) live: LiveView,
    /// The last tool call, for `/last`.
    pub(crate) last_call: Option<FinishedCall>,
    /// The last command that the user ran in a shell, for `!!`.
    pub(crate) last_shell_command: String,
    /// What the turns of this session used.
    pub(crate) usage: SessionUsage,
    /// Number of unread task reports that the user was notified about, and the latest one.
    pub(crate) announced: (u64, Option<RunId>),
}

impl App {
    pub(crate) fn new(session: Session, verbosity: Verbosity, printer: BackgroundPrinter) -> Self {
        let tasks = session.runtime.task_engine();
        let live = LiveView::new();
        Self {
            session,
            verbosity,
            printer,
            tasks,
            live,
            last_call: None,
            last_shell_command: String::new(),
            usage: SessionUsage::default(),
            announced: (0, None),
        }
    }
}
