//! The backend for URLs of the form `sqlite:PATH`.

use std::{ffi::OsStr, path::Path, sync::Arc};

use async_trait::async_trait;
use memoir_core::{ConversationId, ConversationTarget, CoreChange, ExchangeDraft, ExchangeId, Timestamp};
use memoir_store::{
    Backend, BackendStore, ChangeOutcome, Chunker, CommittedExchange, DocumentUpdate, Inspect, Inspectable,
    NewDocument, NewImport, NewRedaction, RedactedWrites, Result, Salvage, Store, StoreFault,
};

use super::{
    SqliteStore,
    upkeep::{repair, restore, verify},
};

/// Opens stores in SQLite files.
#[derive(Debug, Clone, Copy, Default)]
pub struct SqliteBackend;

#[async_trait]
impl Backend for SqliteBackend {
    fn scheme(&self) -> &'static str {
        "sqlite"
    }

    async fn open(&self, location: &OsStr) -> Result<Arc<dyn BackendStore>> {
        Ok(Arc::new(SqliteStore::open(Path::new(location)).await?))
    }

    async fn open_for_reading(&self, location: &OsStr, scratch: &Path) -> Result<Arc<dyn BackendStore>> {
        Ok(Arc::new(SqliteStore::open_for_reading(Path::new(location), scratch).await?))
    }

    async fn open_in_memory(&self) -> Result<Arc<dyn BackendStore>> {
        Ok(Arc::new(SqliteStore::in_memory().await?))
    }

    async fn verify_backup(&self, backup: &Path) -> Result<Vec<StoreFault>> {
        verify(backup).await
    }

    async fn restore(&self, backup: &Path, location: &OsStr, aside: &Path) -> Result<()> {
        restore(backup, Path::new(location), aside).await
    }

    async fn repair(&self, location: &OsStr, aside: &Path) -> Result<Salvage> {
        repair(Path::new(location), aside).await
    }
}

impl Inspectable for SqliteStore {
    fn inspect(&self) -> Option<&dyn Inspect> {
        Some(self)
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn close(&self) {
        SqliteStore::close(self).await;
    }
}

#[async_trait]
impl RedactedWrites for SqliteStore {
    async fn commit_redacted(
        &self,
        target: &ConversationTarget,
        draft: &ExchangeDraft,
        redactions: &[NewRedaction],
    ) -> Result<CommittedExchange> {
        self.commit(target, draft, redactions).await
    }

    async fn rewrite_redacted(
        &self,
        id: ExchangeId,
        draft: &ExchangeDraft,
        redactions: &[NewRedaction],
    ) -> Result<()> {
        self.rewrite_texts(id, draft, redactions).await
    }

    async fn put_redacted_import(
        &self,
        new: &NewImport<'_>,
        redactions: &[Vec<NewRedaction>],
    ) -> Result<Option<ConversationId>> {
        self.store_import(new, redactions).await
    }

    async fn append_redacted_command(
        &self,
        line: &str,
        redactions: &[NewRedaction],
        now: Timestamp,
    ) -> Result<()> {
        self.append_line(line, redactions, now).await
    }

    async fn change_redacted_core_memory(
        &self,
        project: &str,
        change: &CoreChange,
        redactions: &[NewRedaction],
    ) -> Result<ChangeOutcome> {
        self.change_block(project, change, redactions).await
    }

    async fn put_redacted_document(
        &self,
        new: &NewDocument,
        redactions: &[NewRedaction],
        chunk: &Chunker,
        now: Timestamp,
    ) -> Result<DocumentUpdate> {
        self.store_document(new, redactions, chunk, now).await
    }
}
