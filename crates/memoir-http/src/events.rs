//! Notices changes of the memory and passes them to the clients that watch it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use memoir_store::{CommittedExchange, Store};
use tokio::sync::broadcast::{self, Receiver, Sender};

/// Time between two looks at the memory, which other processes change, too.
const INTERVAL: Duration = Duration::from_millis(500);

/// Maximum number of exchanges that are reported one by one.
const MAX_EXCHANGES: u32 = 200;

/// Number of changes that a slow client may be behind.
const CAPACITY: usize = 1024;

/// A change of the memory.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Change {
    /// An exchange was stored.
    Exchange(CommittedExchange),
    /// Documents were added or changed.
    Documents,
    /// Something was deleted, or is no longer shared.
    Forgotten,
}

/// Passes changes to all clients that watch the memory. Nobody looks at it while there are none.
pub(crate) struct Events {
    sender: Sender<Change>,
    is_watching: Arc<AtomicBool>,
}

impl Events {
    pub(crate) fn new() -> Self {
        Self { sender: broadcast::channel(CAPACITY).0, is_watching: Arc::default() }
    }

    /// Returns all changes from now on.
    pub(crate) fn subscribe(&self, store: &Arc<dyn Store>) -> Receiver<Change> {
        let receiver = self.sender.subscribe();
        if !self.is_watching.swap(true, Ordering::SeqCst) {
            let watcher = Watcher {
                store: Arc::clone(store),
                sender: self.sender.clone(),
                is_watching: Arc::clone(&self.is_watching),
            };
            tokio::spawn(watcher.run());
        }
        receiver
    }
}

struct Watcher {
    store: Arc<dyn Store>,
    sender: Sender<Change>,
    is_watching: Arc<AtomicBool>,
}

impl Watcher {
    async fn run(self) {
        let mut mark = None;
        loop {
            match self.look(mark).await {
                Ok(now) => mark = Some(now),
                // The next look may succeed.
                Err(error) => tracing::debug!(%error, "could not look for changes"),
            }
            if self.sender.receiver_count() == 0 {
                self.is_watching.store(false, Ordering::SeqCst);
                // A client may have come in between.
                if self.sender.receiver_count() == 0 || self.is_watching.swap(true, Ordering::SeqCst) {
                    return;
                }
            }
            tokio::time::sleep(INTERVAL).await;
        }
    }

    /// Reports what has changed since a moment, and returns the present one.
    async fn look(
        &self,
        since: Option<memoir_store::ChangeMark>,
    ) -> memoir_store::Result<memoir_store::ChangeMark> {
        let Some(since) = since else { return self.store.change_mark().await };
        let changes = self.store.changes_since(since, MAX_EXCHANGES).await?;
        let others = [
            (changes.mark.documents != since.documents, Change::Documents),
            (changes.mark.deletions != since.deletions, Change::Forgotten),
        ];
        let others = others.into_iter().filter_map(|(has_changed, change)| has_changed.then_some(change));
        for change in changes.exchanges.into_iter().map(Change::Exchange).chain(others) {
            // Fails only if the last client has just left.
            let _ = self.sender.send(change);
        }
        Ok(changes.mark)
    }
}
