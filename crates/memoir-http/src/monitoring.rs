//! The access log and the metrics. Neither contains anything that was said or asked.

use std::{sync::Arc, time::Instant};

use axum::{
    extract::{MatchedPath, Request, State},
    middleware::Next,
    response::Response,
};
use prometheus_client::{
    encoding::{EncodeLabelSet, text::encode},
    metrics::{
        counter::Counter,
        family::Family,
        gauge::Gauge,
        histogram::{Histogram, exponential_buckets},
    },
    registry::Registry,
};

use crate::{access::Caller, state::AppState};

/// The route of requests that match none.
const NO_ROUTE: &str = "none";

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Labels {
    method: String,
    route: String,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabel {
    route: String,
}

/// Counts and times of requests.
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<Labels, Counter>,
    seconds: Family<RouteLabel, Histogram, fn() -> Histogram>,
    in_flight: Gauge,
    pub(crate) connections: Gauge,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let requests = Family::default();
        let seconds = Family::new_with_constructor(histogram as fn() -> Histogram);
        let (in_flight, connections) = (Gauge::default(), Gauge::default());
        let mut registry = Registry::with_prefix("memoir");
        registry.register("http_requests", "Answered requests", Family::clone(&requests));
        registry.register("http_request_seconds", "Time until the answer begins", Family::clone(&seconds));
        registry.register("http_requests_in_flight", "Requests being answered", in_flight.clone());
        registry.register("http_connections", "Open connections", connections.clone());
        Self { registry, requests, seconds, in_flight, connections }
    }

    /// Returns the metrics in the format of OpenMetrics, which Prometheus reads.
    pub(crate) fn encode(&self) -> Result<String, std::fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.registry)?;
        Ok(text)
    }
}

/// Returns a histogram of seconds: from a millisecond to half a minute.
fn histogram() -> Histogram {
    Histogram::new(exponential_buckets(0.001, 2.0, 15))
}

/// Counts a request and writes a line to the access log.
pub(crate) async fn monitor(State(state): State<Arc<AppState>>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let method = known_method(&request);
    // The template, because a path may contain the name of a document.
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or(NO_ROUTE.to_owned(), |path| path.as_str().to_owned());
    let in_flight = InFlight::begin(&state.metrics.in_flight);
    let response = next.run(request).await;
    drop(in_flight);
    let elapsed = started.elapsed().as_secs_f64();
    let status = response.status().as_u16();
    let token = response.extensions().get::<Caller>().map_or("none", |caller| caller.0.name.as_str());
    tracing::info!(
        target: "memoir::access",
        token,
        method,
        route,
        status,
        milliseconds = (elapsed * 10_000.0).round() / 10.0,
        "request"
    );
    state
        .metrics
        .requests
        .get_or_create(&Labels { method: method.to_owned(), route: route.clone(), status })
        .inc();
    state.metrics.seconds.get_or_create(&RouteLabel { route }).observe(elapsed);
    response
}

/// A request that is being answered. The client may also close the connection.
struct InFlight(Gauge);

impl InFlight {
    fn begin(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// Returns the method, if it is a common one. Clients can invent others, and each would be a new metric.
fn known_method(request: &Request) -> &'static str {
    match request.method().as_str() {
        "GET" => "GET",
        "POST" => "POST",
        "PUT" => "PUT",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        "HEAD" => "HEAD",
        _ => "OTHER",
    }
}
