//! What a database implements to hold Memoir's store.

use std::{ffi::OsStr, path::Path, sync::Arc};

use async_trait::async_trait;
use memoir_core::{ConversationId, ConversationTarget, CoreChange, ExchangeDraft, Timestamp};

use crate::{
    Change, Chunker, Committed, Filed, NewDocument, NewImport, NewRedaction, Result, Store, StoreError,
    StoreFault,
};

/// A kind of database. [`StoreFactory`](crate::StoreFactory) is given a list of them.
#[async_trait]
pub trait Backend: Send + Sync {
    /// The scheme of the URLs that this backend opens, such as `sqlite`.
    fn scheme(&self) -> &'static str;

    /// Opens the store at `location`, the part of a URL after the scheme. Creates it if there is none and migrates its
    /// schema to the current version.
    ///
    /// # Errors
    ///
    /// Fails if the location cannot be written, holds something other than a store of Memoir's, or was written by a
    /// newer version.
    async fn open(&self, location: &OsStr) -> Result<Arc<dyn BackendStore>>;

    /// Opens an empty store that exists only in this process and is lost when it is closed.
    ///
    /// # Errors
    ///
    /// Fails with [`StoreError::Unsupported`] unless the backend has such stores.
    async fn open_in_memory(&self) -> Result<Arc<dyn BackendStore>> {
        Err(StoreError::Unsupported { what: "a store in memory" })
    }

    /// Checks a backup made by [`Upkeep::back_up`](crate::Upkeep::back_up) without changing it. Returns its defects; an
    /// intact backup has none.
    ///
    /// # Errors
    ///
    /// Fails if the backup cannot be read, was not made by this backend, or was made by a newer version.
    async fn verify_backup(&self, _backup: &Path) -> Result<Vec<StoreFault>> {
        Err(StoreError::Unsupported { what: "checking a backup" })
    }

    /// Replaces the store at `location` by a backup. The store that was there is kept at `aside`.
    ///
    /// # Errors
    ///
    /// Fails with [`StoreError::Busy`] while a program has the store open, with [`StoreError::Damaged`] if the backup
    /// has defects, and with [`StoreError::Unsupported`] if the backend cannot restore. The store is unchanged then.
    async fn restore(&self, _backup: &Path, _location: &OsStr, _aside: &Path) -> Result<()> {
        Err(StoreError::Unsupported { what: "restoring a backup" })
    }
}

/// A store as a backend opens it: complete, but without protection against secrets.
///
/// Only [`RedactingStore`](crate::RedactingStore) should hold one.
pub trait BackendStore: Store + RedactedWrites {}

impl<T: Store + RedactedWrites + ?Sized> BackendStore for T {}

/// Writes of content from which secrets were removed. What was removed is recorded in the same transaction.
///
/// Each method does what the method of the same purpose in the other traits does, and also stores `redactions`.
#[async_trait]
pub trait RedactedWrites: Send + Sync {
    /// Commits an exchange. See [`Exchanges::commit_exchange`](crate::Exchanges::commit_exchange).
    async fn commit_redacted(
        &self,
        target: &ConversationTarget,
        draft: &ExchangeDraft,
        redactions: &[NewRedaction],
    ) -> Result<Committed>;

    /// Stores imported exchanges; `redactions` has one list for each. See
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

    /// Changes a block of core memory. Records nothing if the change is overtaken. See
    /// [`CoreMemory::change_core_memory`](crate::CoreMemory::change_core_memory).
    async fn change_redacted_core_memory(
        &self,
        project: &str,
        change: &CoreChange,
        redactions: &[NewRedaction],
    ) -> Result<Change>;

    /// Stores a document. The records of an earlier version of the document are deleted. See
    /// [`Documents::put_document`](crate::Documents::put_document).
    async fn put_redacted_document(
        &self,
        new: &NewDocument,
        redactions: &[NewRedaction],
        chunk: &Chunker,
        now: Timestamp,
    ) -> Result<Filed>;
}
