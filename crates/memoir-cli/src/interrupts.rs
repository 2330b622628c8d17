//! Turns Ctrl-C into the cancellation of the current work, and other signals into an orderly end.

use std::{future::Future, io::IsTerminal as _};

use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    sync::mpsc::{UnboundedReceiver, unbounded_channel},
};
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

/// Ends MCP servers when a signal ends the program. They are not in its process group, so that an interrupt in the
/// terminal does not reach them, and other signals do not either.
pub(crate) async fn end_servers_with_program() {
    let mut terminated = listen(SignalKind::terminate());
    // Without a terminal, `nohup` may have asked to ignore this one.
    let mut hung_up = std::io::stdin().is_terminal().then(|| listen(SignalKind::hangup())).flatten();
    let signal = tokio::select! {
        () = received(&mut terminated) => SignalKind::terminate(),
        () = received(&mut hung_up) => SignalKind::hangup(),
    };
    memoir_tools::kill_groups();
    std::process::exit(128 + signal.as_raw_value());
}

fn listen(kind: SignalKind) -> Option<Signal> {
    signal(kind).inspect_err(|error| tracing::warn!(%error, "could not listen for a signal")).ok()
}

async fn received(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}
