//! What the background does, told at verbosity 1 and above: over the line that is being typed, which stays whole.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicU8, Ordering},
    mpsc::SyncSender,
};

use memoir_core::lock;
use reedline::ExternalPrinter;

use memoir_runtime::worker_text;

use crate::trace::Verbosity;

/// So many lines wait to be shown while a turn runs; what comes beyond is not told.
const MOST_WAITING: usize = 50;

/// Tells what the background does.
#[derive(Clone)]
pub(crate) struct BackgroundPrinter {
    lines: SyncSender<String>,
    verbosity: Arc<AtomicU8>,
    /// Where the lines come out, until the line editor takes it.
    printer: Arc<Mutex<Option<ExternalPrinter<String>>>>,
}

impl BackgroundPrinter {
    pub(crate) fn new(verbosity: Verbosity) -> Self {
        let printer = ExternalPrinter::new(MOST_WAITING);
        Self {
            lines: printer.sender(),
            verbosity: Arc::new(AtomicU8::new(verbosity.level())),
            printer: Arc::new(Mutex::new(Some(printer))),
        }
    }

    /// Tells more or less from now on.
    pub(crate) fn set_verbosity(&self, verbosity: Verbosity) {
        self.verbosity.store(verbosity.level(), Ordering::Relaxed);
    }

    /// What the line editor shows over its line; there is one.
    pub(crate) fn take_printer(&self) -> Option<ExternalPrinter<String>> {
        lock(&self.printer).take()
    }

    /// Tells something, to whoever wants to know.
    pub(crate) fn print(&self, line: &str) {
        if self.verbosity.load(Ordering::Relaxed) > 0 {
            // Nobody waits for this to be read.
            let _ = self.lines.try_send(line.to_owned());
        }
    }

    /// What workers tell.
    pub(crate) fn listener(&self) -> memoir_workers::Listener {
        let printer = self.clone();
        Arc::new(move |worker, progress| {
            if let Some(line) = worker_text::progress(worker, progress) {
                printer.print(&line);
            }
        })
    }
}
