//! The provider that a request is for, and the headers that are passed on.

use http::{HeaderMap, HeaderName, HeaderValue, header};
use memoir_models::{ModelName, Provider};
use memoir_providers::Relay;
use memoir_runtime::{
    Failure,
    models::{ModelChoice, Models, parse_model_name},
    operations::tokens::has_secret,
};

/// Headers of a program that matter to a provider.
const FORWARDED: [&str; 10] = [
    "accept",
    "content-type",
    "user-agent",
    "anthropic-version",
    "anthropic-beta",
    "anthropic-dangerous-direct-browser-access",
    "idempotency-key",
    "openai-beta",
    "openai-organization",
    "openai-project",
];

/// Marks requests that were forwarded, which a server whose provider is itself would forward without end.
pub(super) const FORWARDED_HEADER: &str = "memoir-forwarded";

/// Headers that carry the provider's key.
const KEYS: [&str; 2] = ["authorization", "x-api-key"];

/// Beginnings of the names of a provider's headers that matter to a program.
const RETURNED: [&str; 9] = [
    "content-type",
    "content-encoding",
    "retry-after",
    "request-id",
    "x-request-id",
    "x-ratelimit-",
    "x-should-retry",
    "anthropic-",
    "openai-",
];

/// Returns the model with a name. A name of no known provider is one of the user's own server, if there is one.
///
/// # Errors
///
/// Fails if the name is unknown.
pub(super) fn resolve(models: &Models, name: &str) -> Result<ModelName, Failure> {
    match parse_model_name(name, "") {
        Ok(model) => Ok(model),
        Err(_) if models.has_server(Provider::OpenAiCompatible) && !name.is_empty() => {
            Ok(ModelName::new(Provider::OpenAiCompatible, name))
        }
        Err(failure) => Err(failure),
    }
}

/// Prepares to forward requests to a model.
///
/// # Errors
///
/// Fails if the provider's key or address is missing.
pub(super) async fn connect(models: &Models, model: &ModelName, has_key: bool) -> Result<Relay, Failure> {
    let mut choice = ModelChoice::new(model.clone(), "requested");
    let endpoint = match has_key {
        true => models.locate_without_key(&mut choice).await?,
        false => models.locate_endpoint(&mut choice).await?,
    };
    Ok(Relay::new(model.provider, &endpoint)?)
}

/// Returns the provider's key that a program sends, if it does. It has sent its token in a header of its own then; a token
/// is never forwarded.
pub(super) fn own_key(headers: &HeaderMap) -> Option<(HeaderName, HeaderValue)> {
    let is_key = |value: &HeaderValue| value.to_str().is_ok_and(|text| !text.is_empty() && !has_secret(text));
    let key = |name: &'static str| Some((HeaderName::from_static(name), headers.get(name)?.clone()));
    let mut key = KEYS.into_iter().filter_map(key).find(|(_, value)| is_key(value))?;
    key.1.set_sensitive(true);
    Some(key)
}

/// Returns the headers of a request to forward, without the key.
pub(super) fn forwarded_headers(headers: &HeaderMap) -> HeaderMap {
    let mut forwarded = HeaderMap::new();
    for name in FORWARDED.map(HeaderName::from_static) {
        for value in headers.get_all(&name) {
            forwarded.append(name.clone(), value.clone());
        }
    }
    forwarded.entry(header::CONTENT_TYPE).or_insert(HeaderValue::from_static("application/json"));
    forwarded.insert(FORWARDED_HEADER, HeaderValue::from_static("1"));
    forwarded
}

/// Returns the headers of a reply to pass on.
pub(super) fn returned_headers(headers: &HeaderMap) -> HeaderMap {
    let matters = |name: &str| RETURNED.iter().any(|start| name.starts_with(start));
    let returned = headers.iter().filter(|(name, _)| matters(name.as_str()));
    returned.map(|(name, value)| (name.clone(), value.clone())).collect()
}
