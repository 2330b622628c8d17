//! `search_internet`: queries the configured search service.

use std::{str::FromStr, time::Duration};

use async_trait::async_trait;
use memoir_core::ToolSpec;
use memoir_recall::escape_angle_brackets;
use reqwest::{Client, Response, Url, redirect::Policy};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Access, Plan, Tool, ToolContext, ToolError, ToolOutput,
    output::{MAX_TOOL_OUTPUT_BYTES, truncate_output},
    tool::{object, parse},
};

const TIMEOUT: Duration = Duration::from_secs(15);

/// Maximum size of a reply. That of twenty results has some ten thousand bytes.
const MAX_REPLY_BYTES: usize = 4_000_000;

const MAX_RESULTS: usize = 20;
const DEFAULT_RESULTS: usize = 5;

/// Why a search service cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The address is invalid.
    #[error("{url} is not a valid address: {error}")]
    Address {
        /// The address from the config.
        url: String,
        /// Why it is invalid.
        error: <Url as FromStr>::Err,
    },
    /// The HTTP client could not be created.
    #[error(transparent)]
    Client(#[from] reqwest::Error),
}

/// An internet search service.
#[derive(Clone)]
pub struct Search {
    backend: SearchBackend,
    client: Client,
}

#[derive(Clone)]
enum SearchBackend {
    /// The JSON API of a SearXNG server.
    Searxng(Url),
    /// Brave's search API, which requires a key.
    Brave(Url, SecretString),
}

impl Search {
    /// Uses the SearXNG server at `url`.
    ///
    /// # Errors
    ///
    /// Fails if `url` is not a valid address.
    pub fn searxng(url: &str) -> Result<Self, SearchError> {
        Ok(Self { backend: SearchBackend::Searxng(address(url, "search")?), client: client()? })
    }

    /// Uses Brave's search API at `url`.
    ///
    /// # Errors
    ///
    /// Fails if `url` is not a valid address.
    pub fn brave(url: &str, key: SecretString) -> Result<Self, SearchError> {
        Ok(Self { backend: SearchBackend::Brave(address(url, "res/v1/web/search")?, key), client: client()? })
    }

    fn name(&self) -> String {
        let (SearchBackend::Searxng(url) | SearchBackend::Brave(url, _)) = &self.backend;
        url.host_str().unwrap_or_default().to_owned()
    }

    async fn search(&self, query: &str, limit: usize) -> Result<Vec<SearchResult>, CallError> {
        let request = match &self.backend {
            SearchBackend::Searxng(url) => {
                self.client.get(with_parameters(url, &[("q", query), ("format", "json")]))
            }
            SearchBackend::Brave(url, key) => self
                .client
                .get(with_parameters(url, &[("q", query), ("count", &limit.to_string())]))
                .header("X-Subscription-Token", key.expose_secret()),
        };
        let response = request.send().await?.error_for_status()?;
        if response.status().is_redirection() {
            return Err(CallError::Redirected);
        }
        let response: Value = serde_json::from_slice(&read_body(response).await?)?;
        let (list, excerpt) = match self.backend {
            SearchBackend::Searxng(_) => (&response["results"], "content"),
            SearchBackend::Brave(..) => (&response["web"]["results"], "description"),
        };
        let field = |result: &Value, name: &str| result[name].as_str().unwrap_or_default().to_owned();
        let results = list.as_array().into_iter().flatten().take(limit);
        Ok(results
            .map(|result| SearchResult {
                title: field(result, "title"),
                url: field(result, "url"),
                excerpt: field(result, excerpt),
            })
            .collect())
    }
}

/// Reads the body of a response.
async fn read_body(mut response: Response) -> Result<Vec<u8>, CallError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > MAX_REPLY_BYTES {
            return Err(CallError::TooLong);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Why a search failed.
#[derive(Debug, thiserror::Error)]
enum CallError {
    #[error(transparent)]
    Transport(reqwest::Error),
    #[error("the service redirects to another address, which Memoir does not follow; set `search.url` to it")]
    Redirected,
    #[error("the reply is longer than {} MB", MAX_REPLY_BYTES / 1_000_000)]
    TooLong,
    #[error("the reply is not JSON: {0}")]
    Malformed(#[from] serde_json::Error),
}

impl From<reqwest::Error> for CallError {
    fn from(error: reqwest::Error) -> Self {
        // The address may contain a key.
        Self::Transport(error.without_url())
    }
}

struct SearchResult {
    title: String,
    url: String,
    excerpt: String,
}

fn client() -> Result<Client, reqwest::Error> {
    // The key and the query are for the configured service only.
    Client::builder().timeout(TIMEOUT).redirect(Policy::none()).build()
}

/// Returns the address of `path` on the server at `url`.
fn address(url: &str, path: &str) -> Result<Url, SearchError> {
    let base = format!("{}/", url.trim_end_matches('/'));
    Url::parse(&base)
        .and_then(|base| base.join(path))
        .map_err(|error| SearchError::Address { url: url.to_owned(), error })
}

fn with_parameters(url: &Url, parameters: &[(&str, &str)]) -> Url {
    let mut url = url.clone();
    url.query_pairs_mut().extend_pairs(parameters);
    url
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolArguments {
    query: String,
    limit: Option<usize>,
}

pub(crate) struct SearchInternet;

#[async_trait]
impl Tool for SearchInternet {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(
            "search_internet",
            "Search the internet with the service that the user has configured. Returns titles, addresses and excerpts.",
            object(
                json!({
                    "query": {"type": "string", "description": "Search query."},
                    "limit": {"type": "integer", "minimum": 1, "maximum": MAX_RESULTS, "description": "Maximum number of results; 5 by default."}
                }),
                &["query"],
            ),
        )
    }

    async fn plan(&self, arguments: &Value, context: &ToolContext) -> Result<Plan, ToolError> {
        let ToolArguments { query, .. } = parse(arguments)?;
        let Some(search) = &context.search else { return Ok(Plan::default()) };
        let service = search.name();
        Ok(Plan::new(Access::Network(service.clone())).with_preview(format!("search {service} for: {query}")))
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let ToolArguments { query, limit } = parse(&arguments)?;
        let Some(search) = &context.search else {
            return Err(ToolError::Failed(
                "no search service is configured; the user can add one under [search] in the config".into(),
            ));
        };
        let results = search.search(&query, limit.unwrap_or(DEFAULT_RESULTS).clamp(1, MAX_RESULTS)).await;
        let results = results
            .map_err(|error| ToolError::Failed(format!("the search at {} failed: {error}", search.name())))?;
        if results.is_empty() {
            return Ok(format!("No results for \"{query}\".").into());
        }
        let mut text = String::new();
        for SearchResult { title, url, excerpt } in results {
            text.push_str(&format!("{title}\n{url}\n{excerpt}\n\n"));
        }
        // The fence marks the results as quoted, so that the model does not follow instructions in them.
        Ok(format!(
            "<memory>\n{}\n</memory>",
            truncate_output(&escape_angle_brackets(text.trim_end()), MAX_TOOL_OUTPUT_BYTES)
        )
        .into())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;
    use crate::testing::Bench;

    #[tokio::test]
    async fn a_missing_service_is_reported() {
        let bench = Bench::new().await;
        let error = bench.run(&SearchInternet, json!({"query": "x"})).await.unwrap_err().to_string();
        assert!(error.starts_with("no search service is configured"), "{error}");
    }

    #[test]
    fn addresses_are_built_from_the_configured_url() {
        let base = address("http://127.0.0.1:8888/searx/", "search").unwrap();
        let url = with_parameters(&base, &[("q", "a b&c")]);
        assert_eq!(url.as_str(), "http://127.0.0.1:8888/searx/search?q=a+b%26c");
        assert!(address("nowhere", "search").is_err());
    }
}
