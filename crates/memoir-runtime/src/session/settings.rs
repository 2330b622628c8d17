//! Settings that a session changes for itself and for later ones.

use std::sync::Arc;

use memoir_core::{
    WorkerKind,
    setting::{HasSettings, Setting},
};
use serde::Serialize;

use super::Session;
use crate::{failure::Failure, settings};

/// A setting and its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ChangedSetting {
    /// Its key.
    pub key: &'static str,
    /// Its value now.
    pub value: String,
}

impl ChangedSetting {
    fn new<S: HasSettings>(setting: &Setting<S>, settings: &S) -> Self {
        Self { key: setting.key, value: setting.show(settings) }
    }
}

impl Session {
    /// Changes a setting of recall; `default` goes back to the configured value.
    ///
    /// # Errors
    ///
    /// Fails if there is no such setting, if the value does not fit, or if the project's configuration sets it.
    pub async fn set_recall(&mut self, key: &str, value: &str) -> Result<ChangedSetting, Failure> {
        const HINT: &str = "See /rag config for what there is.";
        let (config, store) = (&self.runtime.models().config, self.store());
        let current = &self.state.recall.settings;
        let (setting, changed) = settings::change((key, value), current, config, store, HINT).await?;
        self.state.recall.settings = changed;
        Ok(ChangedSetting::new(setting, &self.state.recall.settings))
    }

    /// Changes a setting of the context; `default` goes back to the configured value.
    ///
    /// # Errors
    ///
    /// Fails if there is no such setting, if the value does not fit, or if the project's configuration sets it.
    pub async fn set_context(&mut self, key: &str, value: &str) -> Result<ChangedSetting, Failure> {
        const HINT: &str = "See /context config for what there is.";
        let (config, store) = (&self.runtime.models().config, self.store());
        let (setting, changed) =
            settings::change((key, value), &self.state.context, config, store, HINT).await?;
        self.state.context = changed;
        Ok(ChangedSetting::new(setting, &self.state.context))
    }

    /// Switches workers on or off, now and in later sessions.
    ///
    /// # Errors
    ///
    /// Fails if the project's configuration sets it.
    pub async fn switch_workers(&mut self, kinds: &[WorkerKind], on: bool) -> Result<(), Failure> {
        const HINT: &str = "Workers are switched on or off.";
        let runtime = self.runtime.clone();
        let (config, store) = (&runtime.models().config, Arc::clone(runtime.store()));
        for kind in kinds {
            let key = format!("workers.{}", kind.as_str());
            let value = (key.as_str(), if on { "on" } else { "off" });
            let background = &mut self.background;
            let (_, changed) =
                settings::change(value, &background.settings, config, store.as_ref(), HINT).await?;
            background.settings = changed;
            if background.should_run(*kind, runtime.persistence()) {
                background.runner.start(*kind);
            } else {
                background.runner.stop(*kind).await;
            }
            self.divide_work();
        }
        Ok(())
    }
}
