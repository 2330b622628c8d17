//! Watching the directories in which other programs record their sessions.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use memoir_core::TimeZone;
use memoir_import::HistoryFormat;
use memoir_store::{Conversations, Exchanges, Imports, Transcripts};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::{sync::mpsc, time};

use super::{
    discovery,
    follow::{FOLLOWED, FollowReport, follow_all},
};
use crate::{environment::Environment, failure::Failure};

/// Pause after a change, so that a burst of changes is read once.
const PAUSE: Duration = Duration::from_millis(500);

/// How much longer to wait than reading took, so that following a large file uses little time.
const REST_FACTOR: u32 = 10;

/// Time between two checks for directories that programs have created.
const CHECK: Duration = Duration::from_secs(5);

/// Time between two looks at everything: at changes that were missed, and at exchanges that were left because they were
/// incomplete.
const INTERVAL: Duration = Duration::from_secs(300);

/// Stores new exchanges of other programs as they appear, until the future is dropped. Calls `observe` after each look
/// that stored something, and once after the first one.
///
/// # Errors
///
/// Fails if the store fails.
pub async fn watch(
    environment: &Environment,
    store: &(impl Conversations + Exchanges + Imports + Transcripts + ?Sized),
    zone: &TimeZone,
    observe: &mut (dyn FnMut(FollowReport) + Send),
) -> Result<(), Failure> {
    let (sender, mut changes) = mpsc::unbounded_channel();
    let mut directories = Directories::new(sender);
    directories.watch(environment);
    observe(follow_all(&FOLLOWED, environment, store, zone).await?);
    let mut last_look = Instant::now();
    loop {
        let mut formats: Vec<HistoryFormat> = tokio::select! {
            // The sender lives as long as the watcher.
            Some(format) = changes.recv() => vec![format],
            () = time::sleep(CHECK) => {
                let mut formats = directories.watch(environment);
                if last_look.elapsed() > INTERVAL {
                    formats = FOLLOWED.to_vec();
                }
                if formats.is_empty() {
                    continue;
                }
                formats
            }
        };
        time::sleep(PAUSE).await;
        while let Ok(format) = changes.try_recv() {
            formats.push(format);
        }
        formats.extend(directories.watch(environment));
        let started = Instant::now();
        let report = follow_all(&formats, environment, store, zone).await?;
        last_look = if formats.len() >= FOLLOWED.len() { started } else { last_look };
        if report.messages > 0 {
            observe(report);
        }
        time::sleep(started.elapsed() * REST_FACTOR).await;
    }
}

/// The directories that are watched.
struct Directories {
    sender: mpsc::UnboundedSender<HistoryFormat>,
    watched: Vec<(PathBuf, RecommendedWatcher)>,
}

impl Directories {
    fn new(sender: mpsc::UnboundedSender<HistoryFormat>) -> Self {
        Self { sender, watched: Vec::new() }
    }

    /// Watches the directories of all programs that exist by now. Returns the formats of those that are new.
    fn watch(&mut self, environment: &Environment) -> Vec<HistoryFormat> {
        let mut formats = Vec::new();
        self.watched.retain(|(directory, _)| directory.is_dir());
        for (format, directory) in discovery::session_directories(environment) {
            if self.watched.iter().any(|(watched, _)| *watched == directory) || !directory.is_dir() {
                continue;
            }
            match self.start(format, &directory) {
                Ok(watcher) => {
                    self.watched.push((directory, watcher));
                    formats.push(format);
                }
                // The regular look finds the changes later.
                Err(error) => {
                    tracing::warn!(directory = %directory.display(), %error, "could not watch a directory");
                }
            }
        }
        formats
    }

    fn start(&self, format: HistoryFormat, directory: &Path) -> notify::Result<RecommendedWatcher> {
        let sender = self.sender.clone();
        let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let is_change = event.map_or(true, |event| !event.kind.is_access());
            if is_change {
                // The receiver is gone when watching ends.
                let _ = sender.send(format);
            }
        })?;
        watcher.watch(directory, RecursiveMode::Recursive)?;
        Ok(watcher)
    }
}
