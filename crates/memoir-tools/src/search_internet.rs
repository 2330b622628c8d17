//! `search_internet`: asks the search service that is set up, if one is.

use std::{str::FromStr, time::Duration};

use async_trait::async_trait;
use memoir_core::ToolSpec;
use memoir_recall::inside_fence;
use reqwest::{Client, Url};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Access, Plan, Tool, ToolContext, ToolError, ToolOutput,
    output::{LONGEST_OUTPUT, cap},
    tool::{object, parse},
};

/// How long a service may take.
const PATIENCE: Duration = Duration::from_secs(15);

/// So many results at most, and so many if nothing is said.
const MOST: usize = 20;
const USUAL: usize = 5;

/// Why a search service cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The address is invalid.
    #[error("{url} is no address: {error}")]
    Address {
        /// The address from the config.
        url: String,
        /// What is wrong with it.
        error: <Url as FromStr>::Err,
    },
    /// The HTTP client could not be created.
    #[error(transparent)]
    Client(#[from] reqwest::Error),
}

/// A search service.
#[derive(Clone)]
pub struct Search {
    backend: SearchBackend,
    client: Client,
}

#[derive(Clone)]
enum SearchBackend {
    /// A SearXNG server, by its JSON interface.
    Searxng(Url),
    /// Brave's search, by a key.
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

    /// Uses Brave's search at `url` with a key.
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

    async fn ask(&self, query: &str, limit: usize) -> Result<Vec<SearchResult>, reqwest::Error> {
        let request = match &self.backend {
            SearchBackend::Searxng(url) => self.client.get(with(url, &[("q", query), ("format", "json")])),
            SearchBackend::Brave(url, key) => self
                .client
                .get(with(url, &[("q", query), ("count", &limit.to_string())]))
                .header("X-Subscription-Token", key.expose_secret()),
        };
        let answer: Value = request.send().await?.error_for_status()?.json().await?;
        let (list, text) = match self.backend {
            SearchBackend::Searxng(_) => (&answer["results"], "content"),
            SearchBackend::Brave(..) => (&answer["web"]["results"], "description"),
        };
        let word = |result: &Value, name: &str| result[name].as_str().unwrap_or_default().to_owned();
        let results = list.as_array().into_iter().flatten().take(limit);
        Ok(results
            .map(|result| SearchResult {
                title: word(result, "title"),
                url: word(result, "url"),
                text: word(result, text),
            })
            .collect())
    }
}

struct SearchResult {
    title: String,
    url: String,
    text: String,
}

fn client() -> Result<Client, reqwest::Error> {
    Client::builder().timeout(PATIENCE).build()
}

/// Returns the address of `path` on the server at `url`.
fn address(url: &str, path: &str) -> Result<Url, SearchError> {
    let base = format!("{}/", url.trim_end_matches('/'));
    Url::parse(&base)
        .and_then(|base| base.join(path))
        .map_err(|error| SearchError::Address { url: url.to_owned(), error })
}

fn with(url: &Url, parameters: &[(&str, &str)]) -> Url {
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
            "Search the internet with the service that the user has set up. Gives titles, addresses and excerpts.",
            object(
                json!({
                    "query": {"type": "string", "description": "What to look for."},
                    "limit": {"type": "integer", "minimum": 1, "maximum": MOST, "description": "How many results; 5 if left out."}
                }),
                &["query"],
            ),
        )
    }

    async fn plan(&self, arguments: &Value, context: &ToolContext) -> Result<Plan, ToolError> {
        let ToolArguments { query, .. } = parse(arguments)?;
        let Some(search) = &context.search else { return Ok(Plan::default()) };
        let service = search.name();
        Ok(Plan::new(Access::Network(service.clone())).with_preview(format!("ask {service} for: {query}")))
    }

    async fn run(&self, arguments: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        let ToolArguments { query, limit } = parse(&arguments)?;
        let Some(search) = &context.search else {
            return Err(ToolError::Failed(
                "no search service is set up; the user can set one under [search] in the config".into(),
            ));
        };
        let found = search.ask(&query, limit.unwrap_or(USUAL).clamp(1, MOST)).await;
        // The address may hold a key.
        let found = found.map_err(|error| {
            ToolError::Failed(format!("{} did not answer: {}", search.name(), error.without_url()))
        })?;
        if found.is_empty() {
            return Ok(format!("Nothing was found for \"{query}\".").into());
        }
        let mut text = String::new();
        for SearchResult { title, url, text: excerpt } in found {
            text.push_str(&format!("{title}\n{url}\n{excerpt}\n\n"));
        }
        // What others wrote asks for nothing.
        Ok(format!("<memory>\n{}\n</memory>", cap(&inside_fence(text.trim_end()), LONGEST_OUTPUT)).into())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;
    use crate::testing::Bench;

    #[tokio::test]
    async fn without_a_service_that_is_said() {
        let bench = Bench::new().await;
        let error = bench.run(&SearchInternet, json!({"query": "x"})).await.unwrap_err().to_string();
        assert!(error.starts_with("no search service is set up"), "{error}");
    }

    #[test]
    fn addresses_are_made_of_what_was_set() {
        let url = with(&address("http://127.0.0.1:8888/searx/", "search").unwrap(), &[("q", "a b&c")]);
        assert_eq!(url.as_str(), "http://127.0.0.1:8888/searx/search?q=a+b%26c");
        assert!(address("nowhere", "search").is_err());
    }
}
