//! Stores the conversations of other programs.

use std::{path::Path, time::Duration};

use memoir_import::{HistoryFormat, LastExchange};
use memoir_workers::embed_within;

use super::MemoryView;
use crate::{
    failure::Failure,
    operations::import::{FOLLOWED, FollowReport, follow_all, follow_file},
};

impl MemoryView {
    /// Stores the new exchanges of a session of another program.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be written.
    pub async fn capture(
        &self,
        format: HistoryFormat,
        file: &Path,
        last_exchange: LastExchange,
    ) -> Result<FollowReport, Failure> {
        let (store, zone) = (self.runtime.store().as_ref(), self.runtime.zone());
        let environment = &self.runtime.models().environment;
        follow_file(format, file, last_exchange, environment, store, zone).await
    }

    /// Stores the new exchanges of all sessions of a program on this machine, or of all programs.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be written.
    pub async fn capture_all(&self, format: Option<HistoryFormat>) -> Result<FollowReport, Failure> {
        let (store, zone) = (self.runtime.store().as_ref(), self.runtime.zone());
        let environment = &self.runtime.models().environment;
        match format {
            Some(format) => follow_all(&[format], environment, store, zone).await,
            None => follow_all(&FOLLOWED, environment, store, zone).await,
        }
    }

    /// Embeds what was stored, newest first, for at most `time_limit`, so that it is found by meaning.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be written.
    pub async fn embed_captured(&self, time_limit: Duration) -> Result<(), Failure> {
        let context = self.runtime.worker_context(&mut Vec::new()).await?;
        if context.recall.embedder.is_local() && context.recall.embedder.is_available() {
            embed_within(&context, time_limit).await?;
        }
        Ok(())
    }
}
