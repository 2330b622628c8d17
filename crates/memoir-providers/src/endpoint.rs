//! The address and API key of a provider.

use memoir_models::Provider;
use secrecy::SecretString;

use crate::secret::Secret;

/// The address and API key of a provider.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// Base URL of all calls, ending in a slash.
    pub(crate) url: String,
    /// The same without credentials, for display.
    pub(crate) display_url: String,
    pub(crate) secret: Secret,
    loopback: bool,
}

/// A base URL that is not an HTTP address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is not an address")]
pub struct InvalidAddress(String);

impl Endpoint {
    /// Creates the endpoint of `provider` at `base_url`, which has the format that the provider's own SDK accepts. A
    /// local server may not need a key.
    ///
    /// # Errors
    ///
    /// Fails if `base_url` is not an HTTP address.
    pub fn new(
        provider: Provider,
        base_url: String,
        key: Option<SecretString>,
    ) -> Result<Self, InvalidAddress> {
        let url = service_url(provider, &base_url);
        let parsed = reqwest::Url::parse(&url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        // The part before an @ may contain a password.
        let invalid = || InvalidAddress(base_url.rsplit('@').next().unwrap_or_default().to_owned());
        let mut shown = parsed.ok_or_else(invalid)?;
        let loopback = shown.host_str().is_some_and(|host| {
            host == "localhost"
                || host
                    .trim_matches(['[', ']'])
                    .parse()
                    .is_ok_and(|host: std::net::IpAddr| host.is_loopback())
        });
        // This fails only for an address without a host, which is unusable and would show its password.
        shown.set_username("").and_then(|()| shown.set_password(None)).map_err(|()| invalid())?;
        shown.set_query(None);
        Ok(Self { url, display_url: shown.to_string(), secret: Secret(key), loopback })
    }

    /// Returns the endpoint at a path below this one, with the same credentials.
    #[must_use]
    pub fn below(&self, path: &str) -> Self {
        let below = |url: &str| format!("{url}{path}/");
        Self { url: below(&self.url), display_url: below(&self.display_url), ..self.clone() }
    }

    /// Returns the address without credentials or a query.
    pub fn display_url(&self) -> &str {
        &self.display_url
    }

    /// Returns whether this is the provider's public address.
    pub fn is_official(&self, provider: Provider) -> bool {
        default_url(provider).is_some_and(|url| service_url(provider, url) == self.url)
    }

    /// Returns whether the address is on this machine.
    pub fn is_loopback(&self) -> bool {
        self.loopback
    }
}

/// Returns the provider's public address, or `None` if it does not have one.
pub const fn default_url(provider: Provider) -> Option<&'static str> {
    match provider {
        Provider::Anthropic => Some("https://api.anthropic.com"),
        Provider::Google => Some("https://generativelanguage.googleapis.com"),
        Provider::OpenAi => Some("https://api.openai.com/v1"),
        Provider::Xai => Some("https://api.x.ai/v1"),
        Provider::Ollama => Some("http://127.0.0.1:11434"),
        Provider::OpenAiCompatible | Provider::Memoir => None,
    }
}

/// Returns the base URL of `provider`'s calls, ending in a slash.
///
/// Each SDK accepts a different format: Anthropic's and Google's without a version, OpenAI's and xAI's with one,
/// Ollama's possibly as a bare host. Missing or extra version segments and slashes are tolerated.
pub(crate) fn service_url(provider: Provider, base_url: &str) -> String {
    let trimmed = base_url.trim().trim_end_matches('/');
    match provider {
        Provider::Anthropic => format!("{}/v1/", strip_version(trimmed)),
        Provider::Google => format!("{}/v1beta/", strip_version(trimmed)),
        Provider::Ollama => ollama_url(trimmed),
        Provider::OpenAi | Provider::Xai | Provider::OpenAiCompatible | Provider::Memoir => {
            let has_path = trimmed.split_once("://").map_or(trimmed, |(_, rest)| rest).contains('/');
            if has_path { format!("{trimmed}/") } else { format!("{trimmed}/v1/") }
        }
    }
}

/// Removes a last segment like `v1` or `v1beta`.
fn strip_version(url: &str) -> &str {
    match url.rsplit_once('/') {
        Some((rest, last)) if is_version(last) => rest.trim_end_matches('/'),
        _ => url,
    }
}

fn is_version(segment: &str) -> bool {
    segment.strip_prefix('v').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// `OLLAMA_HOST` may be a host, a host and port, or a URL. The server itself also accepts `0.0.0.0`, meaning all
/// interfaces.
fn ollama_url(host: &str) -> String {
    let (scheme, rest) = host.split_once("://").unwrap_or(("http", host));
    let rest = rest.strip_suffix("/api").unwrap_or(rest);
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    let path = if is_version(path) { "" } else { path };
    let has_port = authority.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if has_port => (host, port),
        _ => (authority, if scheme == "https" { "443" } else { "11434" }),
    };
    let host = if host.is_empty() || host == "0.0.0.0" { "127.0.0.1" } else { host };
    if path.is_empty() {
        format!("{scheme}://{host}:{port}/")
    } else {
        format!("{scheme}://{host}:{port}/{path}/")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_all(provider: Provider, base_urls: &[&str], expected: &str) {
        for url in base_urls {
            assert_eq!(service_url(provider, url), expected, "{provider} {url}");
        }
    }

    #[test]
    fn slashes_and_versions_are_optional() {
        let base_urls = ["http://h:1", "http://h:1/", "http://h:1/v1", "http://h:1/v1/", " http://h:1/v1// "];
        assert_all(Provider::OpenAi, &base_urls, "http://h:1/v1/");
        assert_all(Provider::Xai, &base_urls, "http://h:1/v1/");
        assert_all(Provider::OpenAiCompatible, &base_urls, "http://h:1/v1/");
        assert_all(Provider::Anthropic, &base_urls, "http://h:1/v1/");
        assert_all(
            Provider::Google,
            &["http://h:1", "http://h:1/v1beta/", "http://h:1/v1/"],
            "http://h:1/v1beta/",
        );
    }

    #[test]
    fn passwords_are_hidden_and_invalid_addresses_rejected() {
        let endpoint = |url: &str| Endpoint::new(Provider::OpenAi, url.into(), None);
        let shown = endpoint("http://user:secret@h:1/v1").map(|endpoint| endpoint.display_url);
        assert_eq!(shown, Ok("http://h:1/v1/".into()));
        for invalid in ["nonsense", "localhost:9/v1", "ftp://h/", ""] {
            assert!(endpoint(invalid).is_err(), "{invalid}");
        }
    }

    #[test]
    fn a_gateways_path_is_preserved() {
        assert_eq!(service_url(Provider::OpenAi, "https://g.example/openai"), "https://g.example/openai/");
        assert_eq!(
            service_url(Provider::Anthropic, "https://g.example/claude"),
            "https://g.example/claude/v1/"
        );
        assert_eq!(
            service_url(Provider::Google, "https://g.example/gem/v1beta"),
            "https://g.example/gem/v1beta/"
        );
    }

    #[test]
    fn ollama_hosts_are_normalized() {
        let forms = [
            "127.0.0.1",
            "127.0.0.1:11434",
            "http://127.0.0.1:11434/",
            "0.0.0.0",
            ":11434",
            "http://127.0.0.1/v1",
        ];
        assert_all(Provider::Ollama, &forms, "http://127.0.0.1:11434/");
        assert_eq!(service_url(Provider::Ollama, "https://box.example"), "https://box.example:443/");
        assert_eq!(service_url(Provider::Ollama, "http://box:80/ollama/api"), "http://box:80/ollama/");
    }
}
