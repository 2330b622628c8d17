//! `memoir daemon`: runs scheduled tasks in the foreground.

use memoir_core::{Clock as _, SystemClock};
use memoir_runtime::{
    Care, Failure, Follower, Runtime,
    operations::daemon::{self, DaemonLock},
    printable,
};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::render::tasks::describe_event;

/// Runs due tasks until SIGTERM or Ctrl-C.
pub(super) async fn run(runtime: &Runtime) -> Result<(), Failure> {
    let engine = runtime.task_engine();
    let _lock = DaemonLock::acquire(&engine.home)?;
    let cancel = CancellationToken::new();
    let cancel_on_signal = cancel.clone();
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
        cancel_on_signal.cancel();
    });
    log("started");
    let mut care = Care::new(runtime.clone());
    care.start();
    let mut follower = Follower::new(runtime.clone());
    follower.start();
    daemon::run(engine, &cancel, &mut |event| log(&describe_event(&event))).await;
    follower.stop().await;
    care.stop().await;
    log("stopped");
    Ok(())
}

fn log(text: &str) {
    note!("{} memoir daemon: {}", SystemClock.now(), printable(text));
}
