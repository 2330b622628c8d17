//! Sets up recall with the embedding model, the project and the settings.

use std::sync::Arc;

use memoir_core::{SystemClock, TimeZone};
use memoir_embed::LocalReader;
use memoir_recall::Recall;
use memoir_store::Store;

use crate::{failure::Failure, models::Models, settings};

/// Returns recall for the project of `directory`, with the configured settings and embedding model.
pub async fn connect_recall(
    store: Arc<dyn Store>,
    models: &Models,
    zone: &TimeZone,
    scope: Option<String>,
    notices: &mut Vec<String>,
) -> Result<Recall, Failure> {
    let settings = settings::read(&models.config, "rag", store.as_ref(), notices).await?;
    let embedder = models.connect_embedder(store.as_ref(), notices).await?;
    let mut recall = Recall::new(store, embedder, Arc::new(SystemClock), zone.clone());
    recall.reader = Some(Arc::new(LocalReader));
    recall.settings = settings;
    recall.scope = scope;
    Ok(recall)
}
