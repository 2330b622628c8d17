//! Settings that the program changes at run time, as text by key.

use async_trait::async_trait;
use memoir_core::Timestamp;

use crate::Result;

/// Stores and reads settings.
#[async_trait]
pub trait Settings: Send + Sync {
    /// Returns the value of `key`, if it is set.
    async fn setting(&self, key: &str) -> Result<Option<String>>;

    /// Returns the keys and values of all settings of an area: those whose keys begin with `area` and a dot.
    async fn settings_in(&self, area: &str) -> Result<Vec<(String, String)>>;

    /// Sets `key` to `value`, or removes it if `value` is `None`.
    async fn set_setting(&self, key: &str, value: Option<&str>, now: Timestamp) -> Result<()>;
}
