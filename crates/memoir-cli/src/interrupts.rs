//! Ctrl-C, listened to from start to end.

use std::future::Future;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio_util::sync::CancellationToken;

/// Ctrl-C, as it comes. While this lives, no Ctrl-C ends the program by itself.
pub(crate) struct Interrupts(UnboundedReceiver<()>);

impl Interrupts {
    /// Begins to listen.
    pub(crate) fn listen() -> Self {
        let (sender, receiver) = unbounded_channel();
        tokio::spawn(
            async move { while tokio::signal::ctrl_c().await.is_ok() && sender.send(()).is_ok() {} },
        );
        Self(receiver)
    }

    /// Runs `work` to its end, cancelling its token when Ctrl-C comes.
    pub(crate) async fn cancelling<F: Future>(&mut self, cancel: &CancellationToken, work: F) -> F::Output {
        // What was pressed before is not meant for this.
        while self.0.try_recv().is_ok() {}
        tokio::pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return done,
                Some(()) = self.0.recv() => cancel.cancel(),
            }
        }
    }
}
