//! Changes settings of a session, which also apply to later sessions.

use std::sync::Arc;

use memoir_core::{
    WorkerKind,
    setting::{HasSettings, Setting},
};
use serde::Serialize;

use super::Session;
use crate::{failure::Failure, settings};

/// A setting after it was changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChangedSetting {
    /// Key, such as `rag.mode`.
    pub key: &'static str,
    /// The value after the change.
    pub value: String,
}

impl ChangedSetting {
    fn new<S: HasSettings>(setting: &Setting<S>, settings: &S) -> Self {
        Self { key: setting.key, value: setting.show(settings) }
    }
}

impl Session {
    /// Changes a setting of recall. The value `default` restores the configured value.
    ///
    /// # Errors
    ///
    /// Fails if there is no such setting, if the value is invalid, or if the project config sets it.
    pub async fn set_recall(&mut self, key: &str, value: &str) -> Result<ChangedSetting, Failure> {
        const HINT: &str = "List the settings with `/rag config`.";
        let (config, store) = (&self.runtime.models().config, self.store());
        let current = &self.state.recall.settings;
        let (setting, changed) = settings::change((key, value), current, config, store, HINT).await?;
        self.state.recall.settings = changed;
        Ok(ChangedSetting::new(setting, &self.state.recall.settings))
    }

    /// Changes a setting of the context. The value `default` restores the configured value.
    ///
    /// # Errors
    ///
    /// Fails if there is no such setting, if the value is invalid, or if the project config sets it.
    pub async fn set_context(&mut self, key: &str, value: &str) -> Result<ChangedSetting, Failure> {
        const HINT: &str = "List the settings with `/context config`.";
        let (config, store) = (&self.runtime.models().config, self.store());
        let (setting, changed) =
            settings::change((key, value), &self.state.context, config, store, HINT).await?;
        self.state.context = changed;
        Ok(ChangedSetting::new(setting, &self.state.context))
    }

    /// Enables or disables workers, in this and later sessions.
    ///
    /// # Errors
    ///
    /// Fails if the project config sets it.
    pub async fn switch_workers(&mut self, kinds: &[WorkerKind], is_on: bool) -> Result<(), Failure> {
        const HINT: &str = "The value must be on or off.";
        let runtime = self.runtime.clone();
        let (config, store) = (&runtime.models().config, Arc::clone(runtime.store()));
        for kind in kinds {
            let key = format!("workers.{}", kind.as_str());
            let value = (key.as_str(), if is_on { "on" } else { "off" });
            let background = &mut self.background;
            let (_, changed) =
                settings::change(value, &background.settings, config, store.as_ref(), HINT).await?;
            background.settings = changed;
            if background.should_run(*kind, runtime.persistence()) {
                background.runner.start(*kind);
            } else {
                background.runner.stop(*kind).await;
            }
            self.assign_work();
        }
        Ok(())
    }
}
