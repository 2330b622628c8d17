//! Requests that have not reached the hub yet.
//!
//! Each is a file, which is on disk before anybody is told that it is stored. The names of the files are in the order in
//! which the requests were made, and one process at a time sends them. A file is deleted when the hub has confirmed its
//! request; the hub stores it once, however often it is sent.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicI64, Ordering},
};

use memoir_core::{Clock as _, SystemClock};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{
    failure::Failure,
    files::{create_private_directory, replace_private},
    home::Home,
    operations::tokens::random_text,
};

/// A request to store something.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QueuedRequest {
    /// Identifies the request, so that the hub stores what it contains once.
    pub key: String,
    /// Project that it is stored in. `None` for the project of the hub itself.
    pub project: Option<String>,
    /// Fingerprint of a token. With this token, it may be stored in another project, if the token covers only that one.
    pub may_differ_with: Option<String>,
    /// Route of the REST API that takes it.
    pub route: String,
    /// What the route takes.
    pub body: Value,
}

impl QueuedRequest {
    /// Creates a request with a new key.
    ///
    /// # Errors
    ///
    /// Fails if the system has no random numbers.
    pub fn new(route: &str, project: Option<String>, body: Value) -> Result<Self, Failure> {
        Ok(Self { key: random_text()?, project, may_differ_with: None, route: route.to_owned(), body })
    }
}

/// A request and its file.
pub(super) struct Entry {
    path: PathBuf,
    pub(super) request: QueuedRequest,
}

/// Part of the name of a file whose request may have reached the hub.
const TRIED: &str = ".tried.json";

impl Entry {
    /// Returns whether the request may have reached the hub, although no answer arrived.
    pub(super) fn is_tried(&self) -> bool {
        self.path.to_string_lossy().ends_with(TRIED)
    }

    /// Returns the conversation that the request belongs to. Its requests must stay in their order.
    pub(super) fn thread(&self) -> &str {
        self.request.body["thread"].as_str().unwrap_or_default()
    }
}

/// Returns the path of a request, depending on whether it may have reached the hub.
fn path_when(path: &Path, is_tried: bool) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.trim_end_matches(TRIED).trim_end_matches(".json");
    path.with_file_name(format!("{stem}{}", if is_tried { TRIED } else { ".json" }))
}

/// Numbers of requests that have not reached any hub.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    /// Requests that wait.
    pub requests: usize,
    /// Requests that a hub will never accept.
    pub refused: usize,
}

impl Waiting {
    /// Counts the requests for all hubs.
    ///
    /// # Errors
    ///
    /// Fails if the directory cannot be read.
    pub fn count(home: &Home) -> Result<Self, Failure> {
        let mut count = Self { requests: 0, refused: 0 };
        for queue in list(&home.hub_queues())? {
            count.requests += list(&queue)?.iter().filter(|path| is_request(path)).count();
            count.refused += list(&queue.join(REFUSED))?.iter().filter(|path| is_request(path)).count();
        }
        Ok(count)
    }
}

/// Directory in a queue for requests that the hub refused.
const REFUSED: &str = "refused";

/// Returns what is in a directory, in order. One that does not exist is empty.
fn list(directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let files = match fs::read_dir(directory) {
        Ok(files) => files,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let mut paths = files.map(|file| Ok(file?.path())).collect::<io::Result<Vec<PathBuf>>>()?;
    paths.sort();
    Ok(paths)
}

fn is_request(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "json")
}

/// Returns the time in the name of a file.
fn moment_of(path: &Path) -> Option<i64> {
    path.file_name()?.to_str()?.split('-').next()?.parse().ok()
}

/// The requests for a hub.
pub(super) struct Queue {
    directory: PathBuf,
    /// Time of the last request, so that those of one process are never in the wrong order.
    last: AtomicI64,
}

impl Queue {
    /// Opens the queue for the hub with this address.
    pub(super) fn new(home: &Home, url: &str) -> Self {
        let hash: String = Sha256::digest(url).iter().take(8).map(|byte| format!("{byte:02x}")).collect();
        Self { directory: home.hub_queues().join(hash), last: AtomicI64::new(0) }
    }

    /// Stores a request.
    pub(super) fn add(&self, request: &QueuedRequest) -> Result<(), Failure> {
        // The clock may have been set back since the last one.
        let latest = list(&self.directory)?
            .iter()
            .filter(|path| is_request(path))
            .filter_map(|path| moment_of(path))
            .max();
        let now = SystemClock.now().as_millis().max(latest.map_or(0, |latest| latest + 1));
        let last = self.last.fetch_max(now, Ordering::SeqCst);
        let moment = if now > last { now } else { self.last.fetch_add(1, Ordering::SeqCst) + 1 };
        let path = self.directory.join(format!("{moment:015}-{}.json", request.key));
        let bytes = serde_json::to_vec(request).map_err(io::Error::from)?;
        replace_private(&path, &bytes).map_err(|error| {
            Failure::failed(format!("it could not be stored on this machine: {error}"))
                .hint("Check that the data directory is writable and the disk is not full.")
        })
    }

    /// Returns all requests in their order.
    pub(super) fn entries(&self) -> Result<Vec<Entry>, Failure> {
        let mut entries = Vec::new();
        for path in list(&self.directory)?.into_iter().filter(|path| is_request(path)) {
            let other = path_when(&path, !path.to_string_lossy().ends_with(TRIED));
            // Another task may have renamed it, or have sent it.
            let found = [path, other].into_iter().find_map(|path| match fs::read(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                bytes => Some((path, bytes)),
            });
            let Some((path, bytes)) = found else { continue };
            match serde_json::from_slice(&bytes?) {
                Ok(request) => entries.push(Entry { path, request }),
                Err(error) => tracing::warn!(%error, path = %path.display(), "a waiting request is damaged"),
            }
        }
        Ok(entries)
    }

    /// Removes what is stored under a key, also if the hub refused it.
    pub(super) fn discard(&self, key: &str) -> Result<(), Failure> {
        for directory in [self.directory.clone(), self.directory.join(REFUSED)] {
            for path in list(&directory)?.iter().filter(|path| is_request(path)) {
                if path.to_string_lossy().contains(key) {
                    fs::remove_file(path)?;
                }
            }
        }
        Ok(())
    }

    /// Records whether a request may have reached the hub.
    pub(super) fn mark(&self, entry: &mut Entry, is_tried: bool) -> Result<(), Failure> {
        if entry.is_tried() != is_tried {
            let path = path_when(&entry.path, is_tried);
            fs::rename(&entry.path, &path)?;
            entry.path = path;
        }
        Ok(())
    }

    /// Removes a request that the hub has confirmed, or that is withdrawn.
    pub(super) fn remove(&self, entry: &Entry) -> Result<(), Failure> {
        match fs::remove_file(&entry.path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Puts a request aside that the hub will never accept, so that the others can be sent. The user can read it.
    pub(super) fn put_aside(&self, entry: &Entry) -> Result<PathBuf, Failure> {
        let directory = self.directory.join(REFUSED);
        create_private_directory(&directory)?;
        let path = directory.join(entry.path.file_name().unwrap_or_default());
        fs::rename(&entry.path, &path)?;
        Ok(path)
    }

    /// Returns the right to send, or `None` if another process is sending.
    pub(super) fn lock(&self) -> Result<Option<File>, Failure> {
        create_private_directory(&self.directory)?;
        let path: &Path = &self.directory.join("lock");
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    fn request(key: &str) -> QueuedRequest {
        QueuedRequest { key: key.into(), ..QueuedRequest::new("statements", None, Value::Null).unwrap() }
    }

    #[test]
    fn requests_keep_their_order_and_damaged_files_stop_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let queue = Queue::new(&Home::in_directory(directory.path()), "https://hub.example");
        // The order is that of the calls, not of the keys.
        for key in ["z", "y", "x", "a"] {
            queue.add(&request(key)).unwrap();
        }
        fs::write(queue.directory.join("000-damaged.json"), "{").unwrap();
        let keys = |entries: &[Entry]| -> String {
            entries.iter().map(|entry| entry.request.key.as_str()).collect()
        };
        let mut entries = queue.entries().unwrap();
        assert_eq!(keys(&entries), "zyxa");
        queue.mark(&mut entries[1], true).unwrap();
        let tried: Vec<bool> = queue.entries().unwrap().iter().map(Entry::is_tried).collect();
        assert_eq!(tried, [false, true, false, false]);
        queue.mark(&mut entries[1], false).unwrap();
        assert_eq!(keys(&queue.entries().unwrap()), "zyxa");
        queue.remove(&entries[0]).unwrap();
        queue.put_aside(&entries[2]).unwrap();
        assert_eq!(keys(&queue.entries().unwrap()), "ya");
        let other = Queue::new(&Home::in_directory(directory.path()), "https://other.example");
        assert_eq!(other.entries().unwrap().len(), 0);
        let held = queue.lock().unwrap();
        assert!(held.is_some() && queue.lock().unwrap().is_none());
    }
}
