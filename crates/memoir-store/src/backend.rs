//! The traits that a database implements to serve as a store.

use std::{ffi::OsStr, path::Path, sync::Arc};

use async_trait::async_trait;
use memoir_core::{ConversationId, ConversationTarget, CoreChange, ExchangeDraft, ExchangeId, Timestamp};

use crate::{
    ChangeOutcome, Chunker, CommittedExchange, DocumentUpdate, NewDocument, NewImport, NewRedaction, Result,
    Salvage, Store, StoreError, StoreFault,
};

/// A kind of database. Pass backends to a [`StoreFactory`](crate::StoreFactory) to open stores with them.
#[async_trait]
pub trait Backend: Send + Sync {
    /// Returns the scheme of the URLs that this backend opens, such as `sqlite`.
    fn scheme(&self) -> &'static str;

    /// Opens the store at `location`, the part of a URL after the scheme. Creates it if it does not exist, and migrates
    /// its schema to the current version.
    ///
    /// # Errors
    ///
    /// Fails if the location cannot be written, contains something other than a Memoir store, or was written by a newer
    /// version.
    async fn open(&self, location: &OsStr) -> Result<Arc<dyn BackendStore>>;

    /// Opens the store at `location` for reading, without changing anything there. May use `scratch`, a directory on
    /// another disk.
    ///
    /// # Errors
    ///
    /// Fails with [`StoreError::Unsupported`] unless the backend supports it, and like [`Self::open`].
    async fn open_for_reading(&self, _location: &OsStr, _scratch: &Path) -> Result<Arc<dyn BackendStore>> {
        Err(StoreError::Unsupported { operation: "reading without writing" })
    }

    /// Opens an empty in-memory store, which is lost when it is closed.
    ///
    /// # Errors
    ///
    /// Fails with [`StoreError::Unsupported`] unless the backend supports in-memory stores.
    async fn open_in_memory(&self) -> Result<Arc<dyn BackendStore>> {
        Err(StoreError::Unsupported { operation: "in-memory stores" })
    }

    /// Checks a backup made by [`Upkeep::back_up`](crate::Upkeep::back_up) without changing it. Returns its defects, or
    /// an empty list if it is intact.
    ///
    /// # Errors
    ///
    /// Fails if the backup cannot be read, was not made by this backend, or was made by a newer version.
    async fn verify_backup(&self, _backup: &Path) -> Result<Vec<StoreFault>> {
        Err(StoreError::Unsupported { operation: "checking backups" })
    }

    /// Replaces the store at `location` with a backup. The previous store is moved to `aside`.
    ///
    /// # Errors
    ///
    /// Leaves the store unchanged and fails with [`StoreError::Busy`] while a program has the store open, with
    /// [`StoreError::Damaged`] if the backup has defects, or with [`StoreError::Unsupported`] if the backend cannot
    /// restore.
    async fn restore(&self, _backup: &Path, _location: &OsStr, _aside: &Path) -> Result<()> {
        Err(StoreError::Unsupported { operation: "restoring backups" })
    }

    /// Replaces the store at `location` with a new one that contains everything that can be read from it. The previous
    /// store is moved to `aside`.
    ///
    /// # Errors
    ///
    /// Leaves the store unchanged and fails with [`StoreError::Busy`] while a program has the store open, or with
    /// [`StoreError::Unsupported`] if the backend cannot repair.
    async fn repair(&self, _location: &OsStr, _aside: &Path) -> Result<Salvage> {
        Err(StoreError::Unsupported { operation: "repairs" })
    }
}

/// A store as a backend opens it, without redaction.
///
/// Only [`RedactingStore`](crate::RedactingStore) should hold one.
pub trait BackendStore: Store + RedactedWrites {}

impl<T: Store + RedactedWrites + ?Sized> BackendStore for T {}

/// Writes redacted content.
///
/// Each method does the same as its counterpart in the other traits and also records `redactions`, in the same
/// transaction.
#[async_trait]
pub trait RedactedWrites: Send + Sync {
    /// Commits an exchange. See [`Exchanges::commit_exchange`](crate::Exchanges::commit_exchange).
    async fn commit_redacted(
        &self,
        target: &ConversationTarget,
        draft: &ExchangeDraft,
        redactions: &[NewRedaction],
    ) -> Result<CommittedExchange>;

    /// Replaces the texts of an exchange with those of `draft`, which has the same messages, and the record of its
    /// redactions. Everything derived from the texts is made again.
    async fn rewrite_redacted(
        &self,
        id: ExchangeId,
        draft: &ExchangeDraft,
        redactions: &[NewRedaction],
    ) -> Result<()>;

    /// Stores imported exchanges. `redactions` contains one list for each exchange. See
    /// [`Imports::put_import`](crate::Imports::put_import).
    async fn put_redacted_import(
        &self,
        new: &NewImport<'_>,
        redactions: &[Vec<NewRedaction>],
    ) -> Result<Option<ConversationId>>;

    /// Adds a line to the command history. See
    /// [`CommandHistory::append_command`](crate::CommandHistory::append_command).
    async fn append_redacted_command(
        &self,
        line: &str,
        redactions: &[NewRedaction],
        now: Timestamp,
    ) -> Result<()>;

    /// Changes a block of core memory. Records nothing if the result is [`ChangeOutcome::Conflict`]. See
    /// [`CoreMemory::change_core_memory`](crate::CoreMemory::change_core_memory).
    async fn change_redacted_core_memory(
        &self,
        project: &str,
        change: &CoreChange,
        redactions: &[NewRedaction],
    ) -> Result<ChangeOutcome>;

    /// Stores a document and deletes the recorded redactions of its earlier version. See
    /// [`Documents::put_document`](crate::Documents::put_document).
    async fn put_redacted_document(
        &self,
        new: &NewDocument,
        redactions: &[NewRedaction],
        chunk: &Chunker,
        now: Timestamp,
    ) -> Result<DocumentUpdate>;
}
