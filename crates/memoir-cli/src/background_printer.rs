//! Prints the progress of background workers above the input line, at verbosity 1 and above.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU8, Ordering},
    mpsc::SyncSender,
};

use memoir_core::lock;
use memoir_runtime::worker_text;
use reedline::ExternalPrinter;

use crate::trace::Verbosity;

/// Maximum number of lines queued while a turn runs. Further lines are dropped.
const MAX_QUEUED: usize = 50;

#[derive(Clone)]
pub(crate) struct BackgroundPrinter {
    lines: SyncSender<String>,
    verbosity: Arc<AtomicU8>,
    /// The receiving end of `lines`, until the line editor takes it.
    printer: Arc<Mutex<Option<ExternalPrinter<String>>>>,
}

impl BackgroundPrinter {
    pub(crate) fn new(verbosity: Verbosity) -> Self {
        let printer = ExternalPrinter::new(MAX_QUEUED);
        Self {
            lines: printer.sender(),
            verbosity: Arc::new(AtomicU8::new(verbosity.level())),
            printer: Arc::new(Mutex::new(Some(printer))),
        }
    }

    pub(crate) fn set_verbosity(&self, verbosity: Verbosity) {
        self.verbosity.store(verbosity.level(), Ordering::Relaxed);
    }

    /// Returns the printer for the line editor. Returns `None` on later calls.
    pub(crate) fn take_printer(&self) -> Option<ExternalPrinter<String>> {
        lock(&self.printer).take()
    }

    /// Queues a line for printing, unless the verbosity is 0.
    pub(crate) fn print(&self, line: &str) {
        if self.verbosity.load(Ordering::Relaxed) > 0 {
            // Progress lines may be dropped when the queue is full.
            let _ = self.lines.try_send(line.to_owned());
        }
    }

    /// Returns a listener that prints the progress of workers.
    pub(crate) fn listener(&self) -> memoir_workers::Listener {
        let printer = self.clone();
        Arc::new(move |worker, progress| {
            if let Some(line) = worker_text::format_progress(worker, progress) {
                printer.print(&line);
            }
        })
    }
}
