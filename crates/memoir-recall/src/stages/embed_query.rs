//! Giving the question a vector.

use async_trait::async_trait;
use memoir_models::EmbedTask;

use crate::{Inquiry, Recall, RecallError, Stage};

pub(crate) struct EmbedQuery;

#[async_trait]
impl Stage for EmbedQuery {
    fn name(&self) -> &'static str {
        "embed_query"
    }

    async fn run(&self, inquiry: &mut Inquiry, recall: &Recall) -> Result<(), RecallError> {
        if inquiry.asks_nothing() {
            return Ok(());
        }
        let meaning = match inquiry.question.meaning.as_str() {
            "" => inquiry.text.clone(),
            meaning => meaning.to_owned(),
        };
        let embedded = recall.embedder.embed(&[meaning], EmbedTask::Query).await?;
        inquiry.vector = embedded.vectors.into_iter().next();
        Ok(())
    }
}
