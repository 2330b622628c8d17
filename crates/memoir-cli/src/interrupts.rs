//! Turns Ctrl-C into the cancellation of the current work.

use std::future::Future;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_util::sync::CancellationToken;

/// A stream of Ctrl-C key presses. While it exists, Ctrl-C does not terminate the program.
pub(crate) struct Interrupts(UnboundedReceiver<()>);

impl Interrupts {
    pub(crate) fn listen() -> Self {
        let (sender, receiver) = unbounded_channel();
        tokio::spawn(
            async move { while tokio::signal::ctrl_c().await.is_ok() && sender.send(()).is_ok() {} },
        );
        Self(receiver)
    }

    /// Runs `work` to completion and cancels `cancel` on Ctrl-C.
    pub(crate) async fn cancel_on_interrupt<F: Future>(
        &mut self,
        cancel: &CancellationToken,
        work: F,
    ) -> F::Output {
        // Discard key presses from before this work started.
        while self.0.try_recv().is_ok() {}
        tokio::pin!(work);
        loop {
            tokio::select! {
                output = &mut work => return output,
                Some(()) = self.0.recv() => cancel.cancel(),
            }
        }
    }
}
