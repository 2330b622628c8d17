//! The provider that a request is for, and the headers that are passed on.

use http::{HeaderMap, header};
use memoir_models::{ModelName, Provider};
use memoir_providers::Relay;
use memoir_runtime::{
    Failure,
    models::{ModelChoice, Models, parse_model_name},
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

/// Headers that carry the provider's key.
const KEYS: [&str; 2] = ["authorization", "x-api-key"];

/// Beginnings of the names of a provider's headers that matter to a program.
const RETURNED: [&str; 8] = [
    "content-type",
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

/// Returns the headers of a request to forward.
pub(super) fn forwarded_headers(headers: &HeaderMap, has_key: bool) -> HeaderMap {
    let keys = KEYS.into_iter().filter(|_| has_key);
    let names = FORWARDED.into_iter().chain(keys);
    let mut forwarded: HeaderMap = names
        .filter_map(|name| Some((http::HeaderName::from_static(name), headers.get(name)?.clone())))
        .collect();
    forwarded.entry(header::CONTENT_TYPE).or_insert(http::HeaderValue::from_static("application/json"));
    forwarded
}

/// Returns the headers of a reply to pass on.
pub(super) fn returned_headers(headers: &HeaderMap) -> HeaderMap {
    let matters = |name: &str| RETURNED.iter().any(|start| name.starts_with(start));
    let returned = headers.iter().filter(|(name, _)| matters(name.as_str()));
    returned.map(|(name, value)| (name.clone(), value.clone())).collect()
}
