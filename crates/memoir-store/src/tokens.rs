//! Tokens that let programs reach the memory over the network.

use async_trait::async_trait;
use memoir_core::AccessToken;

use crate::Result;

/// Stores tokens. Only hashes of their secrets are stored, so that a copy of the memory opens no server.
#[async_trait]
pub trait Tokens: Send + Sync {
    /// Stores a token with the hash of its secret. Returns `false` if there is another of the same name.
    async fn add_token(&self, token: &AccessToken, hash: &str) -> Result<bool>;

    /// Returns the token whose secret has this hash.
    async fn token_with_hash(&self, hash: &str) -> Result<Option<AccessToken>>;

    /// Returns all tokens, sorted by name.
    async fn tokens(&self) -> Result<Vec<AccessToken>>;

    /// Deletes a token. Returns `false` if there is none of this name.
    async fn revoke_token(&self, name: &str) -> Result<bool>;
}
