//! The layer above every backend that removes secrets from whatever is written.
//!
//! [`RedactingStore`] implements the traits of a store by passing each call on to a backend. Text is cleaned on the way
//! in, so that a backend cannot leak a secret: it never sees one. What was removed is handed to the backend as plain
//! data ([`RedactedWrites`](crate::RedactedWrites)), which stores it in the same transaction as the cleaned text.

mod content;
mod context;
mod findings;
mod search;
mod work;

use std::{fmt, sync::Arc};

use async_trait::async_trait;

use crate::{BackendStore, Inspect, Inspectable, Store};

/// A store that removes secrets before its backend sees them. [`StoreFactory`](crate::StoreFactory) returns no other.
#[derive(Clone)]
pub struct RedactingStore {
    inner: Arc<dyn BackendStore>,
}

impl RedactingStore {
    /// Puts the redaction layer above `backend`.
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

/// Implements a trait for [`RedactingStore`]: the methods that are listed pass their arguments on unchanged, those
/// after `clean` are written out because they take text that may hold a secret.
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
