//! Opens stores by URL and wraps each one in the redaction layer.

use std::{path::Path, sync::Arc};

use crate::{Backend, RedactingStore, Result, Salvage, Store, StoreError, StoreFault, StoreUrl};

/// Opens stores with a list of backends. A program creates one factory and passes it to every part that opens a store.
#[derive(Clone)]
pub struct StoreFactory {
    backends: Vec<Arc<dyn Backend>>,
}

impl StoreFactory {
    /// Creates a factory that supports the URL schemes of `backends`.
    pub fn new(backends: Vec<Arc<dyn Backend>>) -> Self {
        Self { backends }
    }

    /// Opens the store at `url`, creating it if it does not exist. The store redacts secrets from everything written to
    /// it.
    ///
    /// # Errors
    ///
    /// Fails with [`StoreError::UnknownScheme`] if no backend supports the scheme, and like [`Backend::open`].
    pub async fn open(&self, url: &StoreUrl) -> Result<Arc<dyn Store>> {
        let store = self.backend(url)?.open(url.location()).await?;
        Ok(Arc::new(RedactingStore::new(store)))
    }

    /// Opens the store at `url` for reading, for example because its disk is full.
    ///
    /// # Errors
    ///
    /// Fails with [`StoreError::UnknownScheme`] if no backend supports the scheme, and like
    /// [`Backend::open_for_reading`].
    pub async fn open_for_reading(&self, url: &StoreUrl, scratch: &Path) -> Result<Arc<dyn Store>> {
        let store = self.backend(url)?.open_for_reading(url.location(), scratch).await?;
        Ok(Arc::new(RedactingStore::new(store)))
    }

    /// Opens an empty in-memory store with the first backend that supports one.
    ///
    /// # Errors
    ///
    /// Fails with [`StoreError::Unsupported`] if no backend supports in-memory stores, and like
    /// [`Backend::open_in_memory`].
    pub async fn open_in_memory(&self) -> Result<Arc<dyn Store>> {
        for backend in &self.backends {
            match backend.open_in_memory().await {
                Err(StoreError::Unsupported { .. }) => {}
                result => return Ok(Arc::new(RedactingStore::new(result?))),
            }
        }
        Err(StoreError::Unsupported { operation: "in-memory stores" })
    }

    /// Checks a backup of the store at `url`. Returns its defects, or an empty list if it is intact.
    ///
    /// # Errors
    ///
    /// Fails with [`StoreError::UnknownScheme`] if no backend supports the scheme, and like [`Backend::verify_backup`].
    pub async fn verify_backup(&self, url: &StoreUrl, backup: &Path) -> Result<Vec<StoreFault>> {
        self.backend(url)?.verify_backup(backup).await
    }

    /// Replaces the store at `url` with a backup. The previous store is moved to `aside`.
    ///
    /// # Errors
    ///
    /// Fails with [`StoreError::UnknownScheme`] if no backend supports the scheme, and like [`Backend::restore`].
    pub async fn restore(&self, url: &StoreUrl, backup: &Path, aside: &Path) -> Result<()> {
        self.backend(url)?.restore(backup, url.location(), aside).await
    }

    /// Replaces the store at `url` with a new one that contains everything that can be read from it. The previous store
    /// is moved to `aside`.
    ///
    /// # Errors
    ///
    /// Fails with [`StoreError::UnknownScheme`] if no backend supports the scheme, and like [`Backend::repair`].
    pub async fn repair(&self, url: &StoreUrl, aside: &Path) -> Result<Salvage> {
        self.backend(url)?.repair(url.location(), aside).await
    }

    fn backend(&self, url: &StoreUrl) -> Result<&dyn Backend> {
        let backend = self.backends.iter().find(|backend| backend.scheme() == url.scheme());
        backend.map(AsRef::as_ref).ok_or_else(|| StoreError::UnknownScheme {
            scheme: url.scheme().to_owned(),
            supported: self.backends.iter().map(|backend| backend.scheme()).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn unknown_scheme_is_named_in_the_error() {
        let factory = StoreFactory::new(Vec::new());
        let result = factory.open(&StoreUrl::new("paper", "/shelf")).await;
        let Err(error) = result else { panic!("expected an error: there are no backends") };
        assert!(matches!(&error, StoreError::UnknownScheme { scheme, .. } if scheme == "paper"), "{error}");
        let result = factory.open_in_memory().await;
        assert!(matches!(result.err(), Some(StoreError::Unsupported { .. })));
    }
}
