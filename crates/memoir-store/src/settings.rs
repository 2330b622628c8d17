//! Settings that the program itself changes, as plain text by key.

use async_trait::async_trait;
use memoir_core::Timestamp;

use crate::Result;

/// Reading and writing settings.
#[async_trait]
pub trait Settings: Send + Sync {
    /// The value under `key`.
    async fn setting(&self, key: &str) -> Result<Option<String>>;

    /// Puts `value` under `key`, or removes the key.
    async fn set_setting(&self, key: &str, value: Option<&str>, now: Timestamp) -> Result<()>;
}
