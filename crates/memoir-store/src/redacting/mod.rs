//! The layer above every backend that redacts secrets from everything written.
//!
//! [`RedactingStore`] implements the store traits by delegating to a backend. It removes secrets from text first, so
//! that a backend never sees one and cannot leak it. The backend stores a record of each redaction in the same
//! transaction as the redacted text (see [`RedactedWrites`](crate::RedactedWrites)).

mod content;
mod context;
mod findings;
mod search;
mod work;

use std::{fmt, sync::Arc};

use async_trait::async_trait;

use crate::{BackendStore, Inspect, Inspectable, Store};

/// A store that removes secrets before its backend sees them. [`StoreFactory`](crate::StoreFactory) only returns stores
/// of this type.
#[derive(Clone)]
pub struct RedactingStore {
    inner: Arc<dyn BackendStore>,
}

impl RedactingStore {
    /// Wraps `backend` in the redaction layer.
    pub fn new(backend: Arc<dyn BackendStore>) -> Self {
        Self { inner: backend }
    }
}

impl fmt::Debug for RedactingStore {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RedactingStore").finish_non_exhaustive()
    }
}

impl Inspectable for RedactingStore {
    fn inspect(&self) -> Option<&dyn Inspect> {
        self.inner.inspect()
    }
}

#[async_trait]
impl Store for RedactingStore {
    async fn close(&self) {
        self.inner.close().await;
    }
}

/// Implements a trait for [`RedactingStore`]. The listed methods pass their arguments on unchanged. The methods after
/// `clean` are written out because they take text that may contain a secret.
macro_rules! delegate {
    (
        $trait:ident {
            $(fn $method:ident($($name:ident: $type:ty),* $(,)?) -> $output:ty;)*
        }
        $(clean { $($cleaning:tt)* })?
    ) => {
        #[async_trait::async_trait]
        impl crate::$trait for crate::RedactingStore {
            $(
                async fn $method(&self, $($name: $type),*) -> crate::Result<$output> {
                    self.inner.$method($($name),*).await
                }
            )*
            $($($cleaning)*)?
        }
    };
}

use delegate;
