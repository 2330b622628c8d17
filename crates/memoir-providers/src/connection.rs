//! Calls of a server.

use std::time::Duration;

use ::http::HeaderMap;
use futures::StreamExt as _;
use memoir_models::ModelError;
use serde_json::Value;
use tokio::time::timeout;

use crate::{Endpoint, http, secret::Secret, status::error_from_status};

/// Maximum size of an error message.
const MAX_ERROR_BYTES: usize = 1 << 20;

/// Maximum size of a list of models.
const MAX_LIST_BYTES: usize = 16 << 20;

/// A server, and how to call it.
#[derive(Clone)]
pub(crate) struct Connection {
    client: reqwest::Client,
    url: String,
    display_url: String,
    pub(crate) secret: Secret,
}

impl Connection {
    /// Prepares calls of `endpoint`. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// Fails if no HTTP client can be created.
    pub(crate) fn new(endpoint: &Endpoint) -> Result<Self, ModelError> {
        Ok(Self {
            client: http::client(endpoint.is_loopback())?,
            url: endpoint.url.clone(),
            display_url: endpoint.display_url.clone(),
            secret: endpoint.secret.clone(),
        })
    }

    /// Posts JSON and returns the response, whose body is not read yet.
    ///
    /// # Errors
    ///
    /// Fails if the server cannot be reached, does not respond within `time_limit`, or returns an error.
    pub(crate) async fn post(
        &self,
        path: &str,
        headers: &[(&'static str, String)],
        body: &Value,
        time_limit: Duration,
    ) -> Result<reqwest::Response, ModelError> {
        let request = self.client.post(format!("{}{path}", self.url)).json(body);
        self.send(request, headers, time_limit).await
    }

    /// Posts JSON that a program wrote, and returns the response, whatever its status.
    ///
    /// # Errors
    ///
    /// Fails if the server cannot be reached.
    pub(crate) async fn send_bytes(
        &self,
        path: &str,
        headers: HeaderMap,
        body: Vec<u8>,
    ) -> Result<reqwest::Response, ModelError> {
        let request = self.client.post(format!("{}{path}", self.url)).headers(headers).body(body);
        request.send().await.map_err(|error| self.transport_error(&error))
    }

    /// Sends a request and returns the response, whose body is not read yet.
    async fn send(
        &self,
        mut request: reqwest::RequestBuilder,
        headers: &[(&'static str, String)],
        time_limit: Duration,
    ) -> Result<reqwest::Response, ModelError> {
        for (name, value) in headers {
            request = request.header(*name, http::sensitive(value)?);
        }
        let timed_out = |_| ModelError::IdleTimeout { after: time_limit };
        let response = timeout(time_limit, request.send()).await.map_err(timed_out)?;
        let response = response.map_err(|error| self.transport_error(&error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let (status, wait) = (response.status().as_u16(), http::retry_after(response.headers()));
        let body = match timeout(time_limit, self.read_start(response, MAX_ERROR_BYTES)).await {
            Ok(Ok(body)) => body,
            // The status alone is enough to classify the failure.
            Ok(Err(_)) | Err(_) => Vec::new(),
        };
        let body = self.secret.redact(&String::from_utf8_lossy(&body));
        Err(error_from_status(status, &body, wait))
    }

    /// Posts JSON and returns the JSON of the response.
    ///
    /// # Errors
    ///
    /// Fails like [`Connection::post`], and if the response is not JSON or larger than `max_bytes`.
    pub(crate) async fn post_for_json(
        &self,
        path: &str,
        headers: &[(&'static str, String)],
        body: &Value,
        time_limit: Duration,
        max_bytes: usize,
    ) -> Result<Value, ModelError> {
        let response = self.post(path, headers, body, time_limit).await?;
        let timed_out = |_| ModelError::IdleTimeout { after: time_limit };
        let body = timeout(time_limit, self.read_start(response, max_bytes)).await.map_err(timed_out)??;
        serde_json::from_slice(&body).map_err(|_| {
            let reason = if body.len() >= max_bytes { "it is too large" } else { "it is not JSON" };
            ModelError::InvalidResponse(reason.into())
        })
    }

    /// Returns the JSON at an address relative to the base URL.
    ///
    /// # Errors
    ///
    /// Fails if the server does not return JSON within `time_limit`.
    pub(crate) async fn get_json(
        &self,
        path: &str,
        headers: &[(&'static str, String)],
        time_limit: Duration,
    ) -> Result<Value, ModelError> {
        let invalid = |reason: &str| ModelError::InvalidResponse(reason.into());
        let url = reqwest::Url::parse(&self.url).and_then(|url| url.join(path));
        let request = self.client.get(url.map_err(|error| invalid(&error.to_string()))?);
        let response = self.send(request, headers, time_limit).await?;
        let timed_out = |_| ModelError::IdleTimeout { after: time_limit };
        let body =
            timeout(time_limit, self.read_start(response, MAX_LIST_BYTES)).await.map_err(timed_out)??;
        serde_json::from_slice(&body).map_err(|_| invalid("it is not JSON"))
    }

    /// Reads a body, up to `max_bytes`.
    async fn read_start(&self, response: reqwest::Response, max_bytes: usize) -> Result<Vec<u8>, ModelError> {
        let mut chunks = response.bytes_stream();
        let mut body = Vec::new();
        while let Some(chunk) = chunks.next().await {
            body.extend_from_slice(&chunk.map_err(|error| self.transport_error(&error))?);
            if body.len() >= max_bytes {
                body.truncate(max_bytes);
                break;
            }
        }
        Ok(body)
    }

    pub(crate) fn transport_error(&self, error: &reqwest::Error) -> ModelError {
        http::transport_error(error, &self.display_url)
    }
}
