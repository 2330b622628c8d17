//! Putting recall together: the embedding model, the present project, and what is set.

use std::{path::Path, sync::Arc};

use memoir_core::{SystemClock, TimeZone};
use memoir_recall::Recall;
use memoir_store::Store;

use crate::{failure::Failure, models::Models, scope, settings};

/// Memory, to be asked as the config and what was set say, from the project of `directory`.
pub async fn connect_recall(
    store: Arc<dyn Store>,
    models: &Models,
    zone: &TimeZone,
    directory: Option<&Path>,
    notices: &mut Vec<String>,
) -> Result<Recall, Failure> {
    let settings = settings::read(&models.config, "rag", store.as_ref(), notices).await?;
    let embedder = models.connect_embedder(store.as_ref(), notices).await?;
    let mut recall = Recall::new(store, embedder, Arc::new(SystemClock), zone.clone());
    recall.settings = settings;
    recall.scope = directory.map(|directory| scope::project_of(directory).to_string_lossy().into_owned());
    Ok(recall)
}
