//! Opens stores by URL, always behind the redaction layer.

use std::{path::Path, sync::Arc};

use crate::{Backend, RedactingStore, Result, Store, StoreError, StoreFault, StoreUrl};

/// Opens stores with a list of backends. A program creates one and passes it to whatever opens a store.
#[derive(Clone)]
pub struct StoreFactory {
    backends: Vec<Arc<dyn Backend>>,
}

impl StoreFactory {
    /// A factory for the URLs of these backends.
    pub fn new(backends: Vec<Arc<dyn Backend>>) -> Self {
        Self { backends }
    }

    /// Opens the store at `url`, creating it if there is none. Secrets are removed from whatever is written to it.
    ///
    /// # Errors
    ///
    /// Fails with [`StoreError::UnknownScheme`] if no backend opens such URLs, and as [`Backend::open`] does.
    pub async fn open(&self, url: &StoreUrl) -> Result<Arc<dyn Store>> {
        let opened = self.backend(url)?.open(url.location()).await?;
        Ok(Arc::new(RedactingStore::new(opened)))
    }

    /// Opens an empty store in memory, with the first backend that has such stores.
    ///
    /// # Errors
    ///
    /// Fails with [`StoreError::Unsupported`] if no backend has such stores, and as [`Backend::open_in_memory`] does.
    pub async fn open_in_memory(&self) -> Result<Arc<dyn Store>> {
        for backend in &self.backends {
            match backend.open_in_memory().await {
                Err(StoreError::Unsupported { .. }) => {}
                opened => return Ok(Arc::new(RedactingStore::new(opened?))),
            }
        }
        Err(StoreError::Unsupported { what: "a store in memory" })
    }

    /// Checks a backup of the store at `url`. Returns its defects; an intact backup has none.
    ///
    /// # Errors
    ///
    /// Fails with [`StoreError::UnknownScheme`] if no backend opens such URLs, and as [`Backend::verify_backup`] does.
    pub async fn verify_backup(&self, url: &StoreUrl, backup: &Path) -> Result<Vec<StoreFault>> {
        self.backend(url)?.verify_backup(backup).await
    }

    /// Replaces the store at `url` by a backup. The store that was there is kept at `aside`.
    ///
    /// # Errors
    ///
    /// Fails with [`StoreError::UnknownScheme`] if no backend opens such URLs, and as [`Backend::restore`] does.
    pub async fn restore(&self, url: &StoreUrl, backup: &Path, aside: &Path) -> Result<()> {
        self.backend(url)?.restore(backup, url.location(), aside).await
    }

    fn backend(&self, url: &StoreUrl) -> Result<&dyn Backend> {
        let matching = self.backends.iter().find(|backend| backend.scheme() == url.scheme());
        matching.map(AsRef::as_ref).ok_or_else(|| StoreError::UnknownScheme {
            scheme: url.scheme().to_owned(),
            known: self.backends.iter().map(|backend| backend.scheme()).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_unknown_scheme_is_an_error_that_names_it() {
        let factory = StoreFactory::new(Vec::new());
        let opened = factory.open(&StoreUrl::new("paper", "/shelf")).await;
        let Err(error) = opened else { panic!("no backend can open it") };
        assert!(matches!(&error, StoreError::UnknownScheme { scheme, .. } if scheme == "paper"), "{error}");
        let opened = factory.open_in_memory().await;
        assert!(matches!(opened.err(), Some(StoreError::Unsupported { .. })));
    }
}
