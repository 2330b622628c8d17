//! A bar on stderr that follows the progress of an operation.

use indicatif::{ProgressBar, ProgressStyle};
use memoir_runtime::operations::Progress;

/// Template of a bar that counts bytes.
pub(crate) const BYTES: &str = "{bar:30} {bytes} of {total_bytes} {eta}";

/// A bar that follows an operation, and is cleared when it is dropped.
pub(crate) struct OperationBar(ProgressBar);

impl OperationBar {
    /// Creates a bar that is drawn with the first progress. `template` is one of indicatif's.
    pub(crate) fn new(template: &str) -> Self {
        let bar = ProgressBar::new(0);
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        Self(bar)
    }

    pub(crate) fn update(&self, progress: Progress) {
        if let Some(total) = progress.total {
            self.0.set_length(total);
        }
        self.0.set_position(progress.done);
    }
}

impl Drop for OperationBar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
