//! Memory that is not in the store.

use async_trait::async_trait;
use memoir_core::ExchangeId;
use memoir_store::Filter;

use crate::Recall;

/// A memory elsewhere, whose exchanges are copied into the store when a question needs them.
#[async_trait]
pub trait Supplier: Send + Sync {
    /// Copies what is relevant to a question in the period of a filter, and returns the exchanges that are new in the store.
    ///
    /// # Errors
    ///
    /// Fails with a clause for the user if the memory cannot be asked.
    async fn supply(&self, question: &str, filter: &Filter) -> Result<Vec<ExchangeId>, String>;
}

impl Recall {
    /// Asks the memory elsewhere, if there is one. Returns a sentence for the user if that fails.
    pub(crate) async fn supply(&self, question: &str, filter: &Filter) -> Option<String> {
        let supplier = self.supplier.as_ref().filter(|_| !self.is_idle(question))?;
        let copied = match supplier.supply(question, filter).await {
            Ok(copied) => copied,
            Err(reason) => {
                return Some(format!("Recall only knows what was said in this session, because {reason}."));
            }
        };
        for exchange in copied {
            if let Err(error) = self.embed_exchange(exchange).await {
                // It is found by its words.
                tracing::warn!(%error, "could not embed an exchange of a memory elsewhere");
                break;
            }
        }
        None
    }
}
