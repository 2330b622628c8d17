//! Embeds the question, unless it asks for nothing.

use async_trait::async_trait;

use crate::{Inquiry, Recall, RecallError, Stage};

pub(crate) struct EmbedQueryStage;

#[async_trait]
impl Stage for EmbedQueryStage {
    async fn run(&self, inquiry: &mut Inquiry, recall: &Recall) -> Result<(), RecallError> {
        if inquiry.asks_nothing() {
            return Ok(());
        }
        inquiry.vector = recall.embed_query(inquiry.text_to_embed()).await?;
        Ok(())
    }
}
