//! Tokens that let programs reach the memory over the network.

use std::{fs, io};

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use memoir_core::{AccessToken, Clock as _, Right, SystemClock, TokenScope};
use memoir_store::Tokens;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::{failure::Failure, files::replace_private, home::Home};

/// Start of every secret, so that it can be recognized and redacted.
const PREFIX: &str = "mmr1_";

/// Number of random bytes in a secret.
const SECRET_BYTES: usize = 32;

/// Name of the token in [`Home::token_file`], for programs of the same user on this machine.
const LOCAL_TOKEN: &str = "local";

/// Maximum length of a name or a project, in bytes.
const MAX_NAME_BYTES: usize = 1024;

/// Request to add a token.
#[derive(Debug, Clone)]
pub struct AddToken {
    /// Unique name.
    pub name: String,
    /// What it is limited to.
    pub scope: TokenScope,
    /// What it allows.
    pub rights: Vec<Right>,
}

/// A new token. This is the only time that its secret is known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IssuedToken {
    /// The token.
    #[serde(flatten)]
    pub token: AccessToken,
    /// What a program sends as its bearer token.
    pub secret: String,
}

/// The tokens of a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TokenList {
    /// All tokens, sorted by name.
    pub tokens: Vec<AccessToken>,
}

/// Adds a token.
///
/// # Errors
///
/// Fails if the name is taken or invalid, or if the token would allow nothing.
pub async fn add(request: &AddToken, store: &(impl Tokens + ?Sized)) -> Result<IssuedToken, Failure> {
    check_text("name", &request.name)?;
    if let TokenScope::Projects(projects) = &request.scope {
        projects.iter().try_for_each(|project| check_text("project", project))?;
    }
    if request.rights.is_empty() {
        return Err(Failure::usage("a token must allow something").hint("Give it a right, such as `read`."));
    }
    if request.rights.contains(&Right::Admin) && request.scope != TokenScope::All {
        return Err(Failure::usage("the right to admin is not limited to projects")
            .hint("Leave out the projects, or give the token other rights."));
    }
    let mut rights = request.rights.clone();
    rights.sort_unstable();
    rights.dedup();
    let token = AccessToken {
        name: request.name.clone(),
        scope: request.scope.clone(),
        rights,
        created: SystemClock.now(),
    };
    let secret = random_secret()?;
    if !store.add_token(&token, &hash(&secret)).await? {
        return Err(Failure::usage(format!("there is a token {} already", token.name)).hint(format!(
            "Choose another name, or revoke it with `memoir serve token revoke {}`.",
            token.name
        )));
    }
    Ok(IssuedToken { token, secret })
}

/// Returns all tokens, without their secrets.
///
/// # Errors
///
/// Fails if the store cannot be read.
pub async fn list(store: &(impl Tokens + ?Sized)) -> Result<TokenList, Failure> {
    Ok(TokenList { tokens: store.tokens().await? })
}

/// Revokes a token. Servers refuse it from now on.
///
/// # Errors
///
/// Fails if there is no token of this name.
pub async fn revoke(name: &str, store: &(impl Tokens + ?Sized), home: &Home) -> Result<(), Failure> {
    if !store.revoke_token(name).await? {
        return Err(Failure::usage(format!("there is no token {name}"))
            .hint("List them with `memoir serve token list`."));
    }
    if name == LOCAL_TOKEN
        && let Err(error) = fs::remove_file(home.token_file())
    {
        // Without its entry in the memory, the secret opens nothing.
        tracing::debug!(%error, "could not remove the file of a revoked token");
    }
    Ok(())
}

/// Returns the secret of the local token, which allows everything. Creates the token and its file if they do not exist.
///
/// # Errors
///
/// Fails if the file cannot be written.
pub async fn local_secret(store: &(impl Tokens + ?Sized), home: &Home) -> Result<String, Failure> {
    let path = home.token_file();
    match fs::read_to_string(&path) {
        Ok(secret) if store.token_with_hash(&hash(secret.trim())).await?.is_some() => {
            return Ok(secret.trim().to_owned());
        }
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => {
            return Err(Failure::failed(format!("could not read {}: {error}", path.display()))
                .hint("Check its permissions, or delete it to create a new token."));
        }
    }
    store.revoke_token(LOCAL_TOKEN).await?;
    let request =
        AddToken { name: LOCAL_TOKEN.to_owned(), scope: TokenScope::All, rights: Right::ALL.to_vec() };
    let secret = add(&request, store).await?.secret;
    replace_private(&path, format!("{secret}\n").as_bytes()).map_err(|error| {
        Failure::failed(format!("could not write {}: {error}", path.display()))
            .hint("Check that its directory is writable and the disk is not full.")
    })?;
    Ok(secret)
}

/// Returns the token with this secret, unless there is none or it has been revoked.
///
/// The secret is looked up by its hash. How long that takes says nothing about a secret, because nobody can choose the
/// beginning of a hash.
///
/// # Errors
///
/// Fails if the store cannot be read.
pub async fn authenticate(
    secret: &str,
    store: &(impl Tokens + ?Sized),
) -> Result<Option<AccessToken>, Failure> {
    Ok(store.token_with_hash(&hash(secret)).await?)
}

/// Returns whether a text contains the secret of a token, valid or not.
pub fn has_secret(text: &str) -> bool {
    text.contains(PREFIX)
}

fn random_secret() -> Result<String, Failure> {
    Ok(format!("{PREFIX}{}", random_text()?))
}

/// Returns a text that nobody can guess.
///
/// # Errors
///
/// Fails if the system has no random numbers.
pub fn random_text() -> Result<String, Failure> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes)
        .map_err(|error| Failure::failed(format!("the system has no random numbers: {error}")))?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

pub(super) fn hash(secret: &str) -> String {
    Sha256::digest(secret).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn check_text(what: &str, text: &str) -> Result<(), Failure> {
    if text.is_empty() || text.len() > MAX_NAME_BYTES || text.chars().any(char::is_control) {
        return Err(Failure::usage(format!(
            "the {what} of a token must be a line of up to {MAX_NAME_BYTES} bytes"
        )));
    }
    Ok(())
}
