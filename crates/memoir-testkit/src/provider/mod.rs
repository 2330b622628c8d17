//! A scripted provider: a real HTTP server on loopback that records every request and misbehaves on demand.
//! It supports the API formats of all providers and selects one by the path of the request.

mod anthropic;
mod dialect;
mod gemini;
mod lists;
mod ollama;
mod openai;
mod reply;
mod responses;
mod rules;

use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, StatusCode, Uri},
    response::{IntoResponse as _, Response},
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::WAIT_TIMEOUT;
use dialect::Dialect;
pub use lists::EMBEDDING_DIMENSIONS;
pub use reply::{Reply, ReportedUsage};
use rules::find_violation;

/// A request that the provider received.
#[derive(Debug, Clone)]
pub struct RecordedRequest {
    /// Path of the URL, such as `/v1/chat/completions`.
    pub path: String,
    /// HTTP headers as received, including the one with the API key.
    pub headers: HeaderMap,
    /// JSON body, or null if the body was not JSON. `messages` is added to a request of the Responses API.
    pub body: Value,
}

impl RecordedRequest {
    /// Returns the messages as pairs of role and text.
    pub fn messages(&self) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let messages = self.body["messages"].as_array().cloned().unwrap_or_default();
        messages.iter().map(|message| (text(&message["role"]), text(&message["content"]))).collect()
    }
}

#[derive(Default)]
struct ProviderState {
    script: Mutex<VecDeque<Reply>>,
    /// Reply to every request after the end of the script.
    default_reply: Mutex<Option<Reply>>,
    requests: Mutex<Vec<RecordedRequest>>,
    other_requests: Mutex<Vec<RecordedRequest>>,
    arrived: Condvar,
    other_arrived: Condvar,
    gate: Gate,
    /// Number of requests that are still answered as by a server that is loading its model.
    loading: AtomicUsize,
    /// Names of the models, instead of the usual ones.
    models: Mutex<Option<Vec<String>>>,
}

/// Holds back answers until the test releases them.
struct Gate {
    is_closed: AtomicBool,
    permits: Semaphore,
}

impl Default for Gate {
    fn default() -> Self {
        Self { is_closed: AtomicBool::new(false), permits: Semaphore::new(0) }
    }
}

impl Gate {
    async fn pass(&self) {
        if self.is_closed.load(Ordering::SeqCst) {
            self.permits.acquire().await.unwrap().forget();
        }
    }
}

/// A running provider, which stops when it is dropped.
pub struct ScriptedProvider {
    address: SocketAddr,
    state: Arc<ProviderState>,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
}

impl ScriptedProvider {
    /// Starts a provider that plays `script`, one reply per request, in order.
    pub fn start(script: impl IntoIterator<Item = Reply>) -> Self {
        let state = Arc::new(ProviderState {
            script: Mutex::new(script.into_iter().collect()),
            ..ProviderState::default()
        });
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stop_signal) = tokio::sync::oneshot::channel();
        let router = Router::new().fallback(serve).with_state(Arc::clone(&state));
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                tokio::select! {
                    _ = stop_signal => {}
                    result = axum::serve(listener, router) => result.unwrap(),
                }
            });
        });
        Self { address, state, stop: Some(stop) }
    }

    /// Starts a provider that gives the same reply to every request.
    pub fn always(reply: Reply) -> Self {
        let provider = Self::start([]);
        *provider.state.default_reply.lock().unwrap() = Some(reply);
        provider
    }

    /// Answers the next `count` requests as a server that is loading its model.
    #[must_use]
    pub fn loading(self, count: usize) -> Self {
        self.state.loading.store(count, Ordering::SeqCst);
        self
    }

    /// Lists these models.
    #[must_use]
    pub fn with_models(self, names: &[&str]) -> Self {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        *self.state.models.lock().unwrap() = Some(names);
        self
    }

    /// Returns the URL for `OPENAI_BASE_URL`.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Returns the URL without a path.
    pub fn root_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Adds a reply to the end of the script.
    pub fn push(&self, reply: Reply) {
        self.state.script.lock().unwrap().push_back(reply);
    }

    /// Removes the rest of the script and the recorded chat requests.
    pub fn clear(&self) {
        self.state.script.lock().unwrap().clear();
        self.state.requests.lock().unwrap().clear();
    }

    /// Holds back every answer to a chat or embedding request from now on. Requests are still recorded.
    pub fn hold(&self) {
        let gate = &self.state.gate;
        gate.permits.forget_permits(Semaphore::MAX_PERMITS);
        gate.is_closed.store(true, Ordering::SeqCst);
    }

    /// Releases `count` answers that are held back now or later.
    pub fn allow(&self, count: usize) {
        self.state.gate.permits.add_permits(count);
    }

    /// Releases all answers and stops holding them back.
    pub fn release(&self) {
        let gate = &self.state.gate;
        gate.is_closed.store(false, Ordering::SeqCst);
        // More than enough for all waiting answers; `hold` removes the rest.
        gate.permits.add_permits(10_000);
    }

    /// Returns all requests other than chat requests: model lists and embeddings.
    pub fn other_requests(&self) -> Vec<RecordedRequest> {
        self.state.other_requests.lock().unwrap().clone()
    }

    /// Returns all chat requests so far.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.state.requests.lock().unwrap().clone()
    }

    /// Waits until `count` chat requests have arrived.
    pub fn wait_for_requests(&self, count: usize) {
        wait_for_count(&self.state.requests, &self.state.arrived, count);
    }

    /// Waits until `count` other requests have arrived.
    pub fn wait_for_other_requests(&self, count: usize) {
        wait_for_count(&self.state.other_requests, &self.state.other_arrived, count);
    }
}

fn wait_for_count(requests: &Mutex<Vec<RecordedRequest>>, arrived: &Condvar, count: usize) {
    let is_short = |requests: &mut Vec<RecordedRequest>| requests.len() < count;
    let (requests, wait) =
        arrived.wait_timeout_while(requests.lock().unwrap(), WAIT_TIMEOUT, is_short).unwrap();
    assert!(!wait.timed_out(), "only {} of {count} requests arrived", requests.len());
}

impl Drop for ScriptedProvider {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // Sending fails only if the server has already stopped.
            let _ = stop.send(());
        }
    }
}

async fn serve(
    State(state): State<Arc<ProviderState>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let path = uri.path().to_owned();
    let mut request = RecordedRequest { path: path.clone(), headers, body };
    let is_loading =
        state.loading.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |count| count.checked_sub(1));
    if is_loading.is_ok() {
        let error = json!({"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}});
        return (StatusCode::SERVICE_UNAVAILABLE, error.to_string()).into_response();
    }
    let Some(dialect) = find_dialect(&path) else {
        state.other_requests.lock().unwrap().push(request.clone());
        state.other_arrived.notify_all();
        // Failures in the script also apply to embedding requests.
        let is_embedding = path.contains("mbed");
        if is_embedding {
            state.gate.pass().await;
        }
        let failure = state.script.lock().unwrap().pop_front_if(|reply| is_embedding && reply.is_failure());
        return match failure {
            Some(failure) => dialect::respond(&openai::OpenAi, &failure, true),
            None => lists::answer(&request, state.models.lock().unwrap().as_deref()),
        };
    };
    let is_stream = request.body["stream"] == true;
    let violation = find_violation(&path, &request.body);
    if path.ends_with("/responses") {
        request.body["messages"] = responses::messages(&request.body);
    }
    state.requests.lock().unwrap().push(request);
    state.arrived.notify_all();
    if let Some(violation) = violation {
        let error = dialect.error_body(400, &format!("the request is invalid: {violation}"));
        return (StatusCode::BAD_REQUEST, error.to_string()).into_response();
    }
    // Take the reply before waiting at the gate, so that requests get replies in the order of their arrival.
    let scripted_reply = state.script.lock().unwrap().pop_front();
    state.gate.pass().await;
    match scripted_reply.or_else(|| state.default_reply.lock().unwrap().clone()) {
        Some(reply) if reply.is_missing => std::future::pending().await,
        Some(reply) => {
            let (shared, count) = (Arc::clone(&state), reply.awaited_requests);
            let wait = move || wait_for_count(&shared.requests, &shared.arrived, count);
            tokio::task::spawn_blocking(wait).await.unwrap();
            dialect::respond(dialect, &reply, is_stream)
        }
        None => (StatusCode::IM_A_TEAPOT, "the script has no more replies").into_response(),
    }
}

fn find_dialect(path: &str) -> Option<&'static dyn Dialect> {
    match path {
        path if path.ends_with("/chat/completions") => Some(&openai::OpenAi),
        path if path.ends_with("/responses") => Some(&responses::Responses),
        path if path.ends_with("/messages") => Some(&anthropic::Anthropic),
        path if path.ends_with(":streamGenerateContent") => Some(&gemini::Gemini),
        path if path.ends_with("/api/chat") => Some(&ollama::Ollama),
        _ => None,
    }
}
