//! A provider that follows a script: a real HTTP server on loopback that records every request and
//! misbehaves on demand. It speaks all dialects, and tells by the path which one is wanted.

mod anthropic;
mod dialect;
mod gemini;
mod lists;
mod ollama;
mod openai;
mod reply;
mod rules;

use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, Ordering},
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
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::PATIENCE;
use dialect::Dialect;
pub use lists::EMBEDDING_DIMENSIONS;
pub use reply::{Reply, ReportedUsage};
pub use rules::broken_rule;

/// A request as the provider saw it.
#[derive(Debug, Clone)]
pub struct RecordedRequest {
    /// The path, as in `/v1/chat/completions`.
    pub path: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The body; null when it was not JSON.
    pub body: Value,
}

impl RecordedRequest {
    /// Its messages as `(role, text)`.
    pub fn messages(&self) -> Vec<(String, String)> {
        let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let messages = self.body["messages"].as_array().cloned().unwrap_or_default();
        messages.iter().map(|message| (text(&message["role"]), text(&message["content"]))).collect()
    }
}

#[derive(Default)]
struct ProviderState {
    script: Mutex<VecDeque<Reply>>,
    /// Played when the script is at its end.
    encore: Mutex<Option<Reply>>,
    requests: Mutex<Vec<RecordedRequest>>,
    other_requests: Mutex<Vec<RecordedRequest>>,
    arrived: Condvar,
    other_arrived: Condvar,
    gate: Gate,
}

/// Holds back answers until the test lets them go.
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

/// A running provider. It stops when it is dropped.
pub struct ScriptedProvider {
    address: SocketAddr,
    stage: Arc<ProviderState>,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
}

impl ScriptedProvider {
    /// Starts a provider that plays `script`, one reply per request, in order.
    pub fn start(script: impl IntoIterator<Item = Reply>) -> Self {
        let stage = Arc::new(ProviderState {
            script: Mutex::new(script.into_iter().collect()),
            ..ProviderState::default()
        });
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = tokio::sync::oneshot::channel();
        let router = Router::new().fallback(serve).with_state(Arc::clone(&stage));
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                tokio::select! {
                    _ = stopped => {}
                    served = axum::serve(listener, router) => served.unwrap(),
                }
            });
        });
        Self { address, stage, stop: Some(stop) }
    }

    /// A provider that gives the same reply to every request.
    pub fn always(reply: Reply) -> Self {
        let provider = Self::start([]);
        *provider.stage.encore.lock().unwrap() = Some(reply);
        provider
    }

    /// The address, as `OPENAI_BASE_URL` takes it.
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// The address without a path.
    pub fn root_url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Adds a reply to the end of the script.
    pub fn push(&self, reply: Reply) {
        self.stage.script.lock().unwrap().push_back(reply);
    }

    /// Takes back what of the script was not played yet.
    pub fn clear(&self) {
        self.stage.script.lock().unwrap().clear();
        self.stage.requests.lock().unwrap().clear();
    }

    /// Holds back every answer to a chat or embedding request from now on. Requests are still recorded.
    pub fn hold(&self) {
        let gate = &self.stage.gate;
        gate.permits.forget_permits(Semaphore::MAX_PERMITS);
        gate.is_closed.store(true, Ordering::SeqCst);
    }

    /// Lets `count` answers go that are held back, or will be.
    pub fn allow(&self, count: usize) {
        self.stage.gate.permits.add_permits(count);
    }

    /// Lets all answers go, and holds back none from now on.
    pub fn release(&self) {
        let gate = &self.stage.gate;
        gate.is_closed.store(false, Ordering::SeqCst);
        // Enough for whoever waits; `hold` takes back what is left.
        gate.permits.add_permits(10_000);
    }

    /// Every request that was not for a reply of the script: lists of models, embeddings.
    pub fn other_requests(&self) -> Vec<RecordedRequest> {
        self.stage.other_requests.lock().unwrap().clone()
    }

    /// Every request for a reply of the script so far.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.stage.requests.lock().unwrap().clone()
    }

    /// Waits until `count` requests for a reply of the script have arrived.
    pub fn wait_for_requests(&self, count: usize) {
        wait_for_count(&self.stage.requests, &self.stage.arrived, count);
    }

    /// Waits until `count` other requests have arrived.
    pub fn wait_for_other_requests(&self, count: usize) {
        wait_for_count(&self.stage.other_requests, &self.stage.other_arrived, count);
    }
}

fn wait_for_count(requests: &Mutex<Vec<RecordedRequest>>, arrived: &Condvar, count: usize) {
    let lacks = |requests: &mut Vec<RecordedRequest>| requests.len() < count;
    let (requests, waited) = arrived.wait_timeout_while(requests.lock().unwrap(), PATIENCE, lacks).unwrap();
    assert!(!waited.timed_out(), "only {} of {count} requests arrived", requests.len());
}

impl Drop for ScriptedProvider {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // A server that has ended already needs no signal.
            let _ = stop.send(());
        }
    }
}

async fn serve(
    State(stage): State<Arc<ProviderState>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let path = uri.path().to_owned();
    let request = RecordedRequest { path: path.clone(), headers, body };
    let Some(dialect) = dialect_of(&path) else {
        stage.other_requests.lock().unwrap().push(request.clone());
        stage.other_arrived.notify_all();
        // Embeddings are part of the script as far as they fail.
        let embeds = path.contains("mbed");
        if embeds {
            stage.gate.pass().await;
        }
        let failing = stage.script.lock().unwrap().pop_front_if(|reply| embeds && reply.is_failure());
        return match failing {
            Some(failing) => dialect::respond(&openai::OpenAi, &failing),
            None => lists::answer(&request),
        };
    };
    let broken = broken_rule(&path, &request.body);
    stage.requests.lock().unwrap().push(request);
    stage.arrived.notify_all();
    if let Some(rule) = broken {
        let refused = dialect.error_body(400, &format!("the request breaks a rule: {rule}"));
        return (StatusCode::BAD_REQUEST, refused.to_string()).into_response();
    }
    // The reply is taken before the gate, so that replies go to requests in the order of their arrival.
    let scripted = stage.script.lock().unwrap().pop_front();
    stage.gate.pass().await;
    match scripted.or_else(|| stage.encore.lock().unwrap().clone()) {
        Some(reply) if reply.is_missing => std::future::pending().await,
        Some(reply) => {
            let (waiting, count) = (Arc::clone(&stage), reply.awaited_requests);
            let arrived = move || wait_for_count(&waiting.requests, &waiting.arrived, count);
            tokio::task::spawn_blocking(arrived).await.unwrap();
            dialect::respond(dialect, &reply)
        }
        None => (StatusCode::IM_A_TEAPOT, "the script is at its end").into_response(),
    }
}

fn dialect_of(path: &str) -> Option<&'static dyn Dialect> {
    match path {
        path if path.ends_with("/chat/completions") => Some(&openai::OpenAi),
        path if path.ends_with("/messages") => Some(&anthropic::Anthropic),
        path if path.ends_with(":streamGenerateContent") => Some(&gemini::Gemini),
        path if path.ends_with("/api/chat") => Some(&ollama::Ollama),
        _ => None,
    }
}
