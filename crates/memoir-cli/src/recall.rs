//! Putting recall together: the compiled-in embedder, the present project, and what is set.

use std::{path::Path, sync::Arc};

use memoir_core::{SystemClock, TimeZone};
use memoir_embed::LocalEmbedder;
use memoir_recall::{Recall, Setting, Settings};
use memoir_store::Store;

use crate::{
    config::Config,
    failure::{Failure, Kind},
    scope,
};

/// Memory, to be asked as the config and what was set say, from the project of `directory`.
pub(crate) async fn recall(
    store: Arc<dyn Store>,
    config: &Config,
    zone: &TimeZone,
    directory: Option<&Path>,
) -> Result<Recall, Failure> {
    let settings = settings(store.as_ref(), config).await?;
    let mut recall = Recall::new(store, Arc::new(LocalEmbedder), Arc::new(SystemClock), zone.clone());
    recall.settings = settings;
    recall.scope = directory.map(|directory| scope::project_of(directory).to_string_lossy().into_owned());
    Ok(recall)
}

/// What was set goes before the config, and that before the defaults.
pub(crate) async fn settings(store: &dyn Store, config: &Config) -> Result<Settings, Failure> {
    let mut settings = Settings::default();
    for (name, value) in &config.rag {
        let changed = Setting::find(name).and_then(|setting| setting.change(&mut settings, &plain(value)));
        changed.map_err(|error| {
            Failure::new(Kind::Failed, format!("the config's [rag] has a mistake: {error}"))
                .hint("Mend the file; /rag config lists what there is.")
        })?;
    }
    for setting in Setting::all() {
        if let Some(value) = store.setting(setting.key).await? {
            // Written by another version, it may not fit; then the default holds, and /rag config shows it.
            let _ = setting.change(&mut settings, &value);
        }
    }
    Ok(settings)
}

/// A value of the config as it would be typed.
fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Array(values) => values.iter().map(plain).collect::<Vec<_>>().join(","),
        toml::Value::Integer(number) => number.to_string(),
        toml::Value::Float(number) => number.to_string(),
        // Nothing takes one of these; what is said about it names it.
        toml::Value::Boolean(switch) => switch.to_string(),
        toml::Value::Datetime(date) => date.to_string(),
        toml::Value::Table(_) => "a table".into(),
    }
}
