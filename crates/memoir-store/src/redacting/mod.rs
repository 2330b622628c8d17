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

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;

use memoir_core::{ExchangeDraft, ExchangeId, lock};

use crate::{BackendStore, HeldRedaction, Inspect, Inspectable, NewRedaction, Result, Store};
use findings::{Allowed, clean_draft};

/// A store that removes secrets before its backend sees them. [`StoreFactory`](crate::StoreFactory) only returns stores
/// of this type.
#[derive(Clone)]
pub struct RedactingStore {
    inner: Arc<dyn BackendStore>,
    held: Arc<Mutex<Held>>,
}

/// What was redacted from exchanges since the store was opened, so that the user can undo it.
#[derive(Default)]
struct Held {
    redactions: Vec<HeldRedaction>,
    /// The exchanges as they were before redaction.
    drafts: HashMap<ExchangeId, ExchangeDraft>,
    allowed: Allowed,
    last_number: u32,
}

impl RedactingStore {
    /// Wraps `backend` in the redaction layer.
    pub fn new(backend: Arc<dyn BackendStore>) -> Self {
        Self { inner: backend, held: Arc::default() }
    }

    /// Returns the texts that the user does not want redacted.
    fn allowed(&self) -> Allowed {
        Arc::clone(&lock(&self.held).allowed)
    }

    /// Keeps what was redacted from an exchange until the store is closed.
    fn hold(&self, exchange_id: ExchangeId, draft: &ExchangeDraft, secrets: Vec<(NewRedaction, String)>) {
        if secrets.is_empty() {
            return;
        }
        let held = &mut *lock(&self.held);
        for (redaction, secret) in secrets {
            held.last_number += 1;
            let NewRedaction { place, kind, .. } = redaction;
            held.redactions.push(HeldRedaction {
                number: held.last_number,
                exchange_id,
                place,
                kind,
                secret,
            });
        }
        held.drafts.insert(exchange_id, draft.clone());
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
    fn held_redactions(&self) -> Vec<HeldRedaction> {
        lock(&self.held).redactions.clone()
    }

    async fn undo_redaction(&self, number: u32) -> Result<bool> {
        let (id, secret, draft, allowed) = {
            let held = lock(&self.held);
            let Some(redaction) = held.redactions.iter().find(|redaction| redaction.number == number) else {
                return Ok(false);
            };
            let Some(draft) = held.drafts.get(&redaction.exchange_id) else { return Ok(false) };
            let mut allowed = held.allowed.as_ref().clone();
            allowed.insert(redaction.secret.clone());
            (redaction.exchange_id, redaction.secret.clone(), draft.clone(), Arc::new(allowed))
        };
        let (clean, secrets) = clean_draft(&draft, &allowed);
        let redactions: Vec<NewRedaction> = secrets.into_iter().map(|(redaction, _)| redaction).collect();
        self.inner.rewrite_redacted(id, &clean, &redactions).await?;
        let held = &mut *lock(&self.held);
        held.allowed = allowed;
        held.redactions.retain(|redaction| redaction.exchange_id != id || redaction.secret != secret);
        Ok(true)
    }

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
