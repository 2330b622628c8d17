//! Memory that is not in the store.

use async_trait::async_trait;
use memoir_core::{ChunkId, ExchangeId, Subject, SubjectKind};
use memoir_store::Filter;

use crate::{Recall, RecallError};

/// What is new in the store.
#[derive(Debug, Default)]
pub struct Supplied {
    /// Exchanges.
    pub exchanges: Vec<ExchangeId>,
    /// Chunks of documents.
    pub chunks: Vec<ChunkId>,
}

/// A memory elsewhere, which is copied into the store as far as questions need it.
#[async_trait]
pub trait Supplier: Send + Sync {
    /// Copies what is relevant to a question in the period of a filter, and returns what is new in the store.
    ///
    /// # Errors
    ///
    /// Fails with a clause for the user if the memory cannot be asked.
    async fn supply(&self, question: &str, filter: &Filter) -> Result<Supplied, String>;
}

/// Maximum number of chunks that are embedded before a question is answered. The others are found by their words.
const MAX_CHUNKS: usize = 8;

impl Recall {
    /// Asks the memory elsewhere, if there is one. Returns a sentence for the user if that fails.
    pub(crate) async fn supply(&self, question: &str, filter: &Filter) -> Option<String> {
        let supplier = self.supplier.as_ref().filter(|_| !self.is_idle(question))?;
        match supplier.supply(question, filter).await {
            Ok(supplied) => {
                if let Err(error) = self.embed_supplied(supplied).await {
                    // It is found by its words.
                    tracing::warn!(%error, "could not embed what a memory elsewhere returned");
                }
                None
            }
            Err(reason) => {
                Some(format!("Recall only knows what was said in this session, because {reason}."))
            }
        }
    }

    async fn embed_supplied(&self, Supplied { exchanges, chunks }: Supplied) -> Result<(), RecallError> {
        for exchange in exchanges {
            self.embed_exchange(exchange).await?;
        }
        let chunks = chunks.into_iter().take(MAX_CHUNKS);
        let subjects: Vec<Subject> = chunks.map(|id| Subject::new(SubjectKind::Chunk, id.get())).collect();
        self.embed(&self.store.embeddable_texts(&subjects).await?).await.map(drop)
    }
}
