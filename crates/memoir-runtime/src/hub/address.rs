//! Where a hub is.

use reqwest::Url;
use sha2::{Digest as _, Sha256};

use crate::{environment::Environment, failure::Failure};

/// Where a hub is, and what lets this machine in.
#[derive(Clone)]
pub struct HubAddress {
    pub(super) url: Url,
    token: String,
    /// Project whose memory is used. `None` for all that the token covers.
    project: Option<String>,
}

impl HubAddress {
    /// Checks an address.
    ///
    /// # Errors
    ///
    /// Fails if it is not that of a server, or if the token would cross a network unencrypted.
    pub fn new(url: &str, token: String, project: Option<String>) -> Result<Self, Failure> {
        let wrong = |reason: &str| {
            Failure::usage(format!("\"{url}\" {reason}"))
                .hint("Give the address of `memoir serve`, such as https://hub.example:7373.")
        };
        let parsed = Url::parse(url).map_err(|_| wrong("is not an address"))?;
        let is_local = match parsed.host_str() {
            Some(host) => host == "localhost" || host.trim_matches(['[', ']']).parse().is_ok_and(is_loopback),
            None => false,
        };
        match parsed.scheme() {
            "https" => {}
            "http" if is_local => {}
            "http" => return Err(wrong("would send your token over the network unencrypted")),
            _ => return Err(wrong("is not an address of a server")),
        }
        if parsed.path() != "/" || parsed.query().is_some() {
            return Err(wrong("has a path"));
        }
        // Projects are named by their paths. That of another system may begin differently.
        let project = project.map(|project| format!("/{}", project.trim_matches('/')));
        Ok(Self { url: parsed, token, project })
    }

    /// Checks an address whose token is in `MEMOIR_TOKEN`.
    ///
    /// # Errors
    ///
    /// Fails if there is no token, and like [`Self::new`].
    pub fn with_token_of(
        environment: &Environment,
        url: &str,
        project: Option<String>,
    ) -> Result<Self, Failure> {
        let token = environment.hub_token().ok_or_else(|| {
            Failure::usage("the server at this address needs a token")
                .hint("Set `MEMOIR_TOKEN` to one that `memoir serve token add` creates there.")
        })?;
        Self::new(url, token.to_owned(), project)
    }

    /// Returns the address, as the user gave it.
    pub fn url(&self) -> &str {
        self.url.as_str().trim_end_matches('/')
    }

    /// Returns what lets this machine in.
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Returns whether the hub is reached over this machine's own network.
    pub(super) fn is_local(&self) -> bool {
        self.url.scheme() == "http"
    }

    /// Returns a text that tells tokens apart and says nothing about them.
    pub fn fingerprint(&self) -> String {
        Sha256::digest(format!("fingerprint {}", self.token))
            .iter()
            .take(8)
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }

    /// Returns the project whose memory is used. `None` for all that the token covers.
    pub fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }

    /// Returns the address of the MCP server for the project.
    pub fn mcp_url(&self) -> Url {
        let mut url = self.url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            let project = self.project.iter().flat_map(|project| project.split('/').skip(1));
            segments.pop_if_empty().push("mcp").extend(project);
        }
        url
    }
}

fn is_loopback(address: std::net::IpAddr) -> bool {
    address.is_loopback()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_only_sent_to_this_machine_or_encrypted() {
        let address = |url: &str| HubAddress::new(url, "token".into(), None);
        for url in [
            "https://hub.example",
            "https://hub.example:7373/",
            "http://127.0.0.1:7373",
            "http://[::1]:1",
            "http://localhost",
        ] {
            assert!(address(url).is_ok(), "{url}");
        }
        for url in [
            "http://hub.example",
            "http://192.168.1.2:7373",
            "hub.example",
            "ftp://hub",
            "https://hub.example/mcp",
            "",
        ] {
            assert!(address(url).is_err(), "{url}");
        }
    }
}
