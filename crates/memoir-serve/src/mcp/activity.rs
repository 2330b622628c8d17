//! Whether a server has something to do.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// Counts the work of a server that is in progress.
#[derive(Clone, Default)]
pub(super) struct Activity(Arc<AtomicUsize>);

/// Work that ends when this is dropped.
pub(super) struct Work(Activity);

impl Activity {
    pub(super) fn start(&self) -> Work {
        self.0.fetch_add(1, Ordering::Relaxed);
        Work(self.clone())
    }

    pub(super) fn is_working(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}
