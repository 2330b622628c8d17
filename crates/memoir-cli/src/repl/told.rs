//! What the background does, told at verbosity 1 and above: over the line that is being typed, which stays whole.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU8, Ordering},
    mpsc::SyncSender,
};

use reedline::ExternalPrinter;

use crate::{trace::Verbosity, worker_view};

/// So many lines wait to be shown while a turn runs; what comes beyond is not told.
const MOST_WAITING: usize = 50;

/// Tells what the background does.
#[derive(Clone)]
pub(crate) struct Told {
    lines: SyncSender<String>,
    verbosity: Arc<AtomicU8>,
    /// Where the lines come out, until the line editor takes it.
    printer: Arc<Mutex<Option<ExternalPrinter<String>>>>,
}

impl Told {
    pub(crate) fn new(verbosity: Verbosity) -> Self {
        let printer = ExternalPrinter::new(MOST_WAITING);
        Self {
            lines: printer.sender(),
            verbosity: Arc::new(AtomicU8::new(verbosity.level())),
            printer: Arc::new(Mutex::new(Some(printer))),
        }
    }

    /// Tells more or less from now on.
    pub(crate) fn set(&self, verbosity: Verbosity) {
        self.verbosity.store(verbosity.level(), Ordering::Relaxed);
    }

    /// What the line editor shows over its line; there is one.
    pub(super) fn take_printer(&self) -> Option<ExternalPrinter<String>> {
        self.printer.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Tells something, to whoever wants to know.
    pub(super) fn say(&self, line: &str) {
        if self.verbosity.load(Ordering::Relaxed) > 0 {
            // Nobody waits for this to be read.
            let _ = self.lines.try_send(line.to_owned());
        }
    }

    /// What workers tell.
    pub(crate) fn listener(&self) -> memoir_workers::Listener {
        let told = self.clone();
        Arc::new(move |worker, progress| {
            if let Some(line) = worker_view::progress(worker, progress) {
                told.say(&line);
            }
        })
    }
}
