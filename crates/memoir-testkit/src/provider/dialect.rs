//! Turns a reply into an HTTP response, in the format of any provider.

use std::io;

use axum::{
    body::{Body, Bytes},
    http::{StatusCode, header},
    response::Response,
};
use futures::{Stream, StreamExt as _, stream};
use serde_json::Value;

use super::reply::{Ending, Reply, ReplyFailure};

/// The API format of a provider.
pub(super) trait Dialect: Sync {
    /// Returns the body of an error response.
    fn error_body(&self, status: u16, message: &str) -> Value;

    /// Returns the events of a reply, up to its ending.
    fn events(&self, reply: &Reply) -> Vec<String>;

    /// Returns a reply that was not requested as a stream, if the provider has such replies.
    fn whole(&self, _reply: &Reply) -> Option<Value> {
        None
    }

    fn content_type(&self) -> &'static str {
        "text/event-stream"
    }
}

/// Formats a server-sent event.
pub(super) fn sse(name: Option<&str>, data: &Value) -> String {
    match name {
        Some(name) => format!("event: {name}\ndata: {data}\n\n"),
        None => format!("data: {data}\n\n"),
    }
}

/// Creates the HTTP response for a reply.
pub(super) fn respond(dialect: &dyn Dialect, reply: &Reply, is_stream: bool) -> Response {
    let mut response = Response::builder().status(StatusCode::from_u16(reply.status).unwrap());
    for (name, value) in &reply.headers {
        response = response.header(name, value);
    }
    let failure = reply.failure.as_ref().map(|failure| match failure {
        ReplyFailure::Message(message) => dialect.error_body(reply.status, message).to_string(),
        ReplyFailure::Body(body) => body.clone(),
    });
    let whole = || (!is_stream).then(|| dialect.whole(reply)).flatten().map(|whole| whole.to_string());
    match failure.or_else(whole) {
        Some(body) => {
            response.header(header::CONTENT_TYPE, "application/json").body(Body::from(body)).unwrap()
        }
        None => {
            let events = Body::from_stream(stream_events(dialect.events(reply), reply));
            response.header(header::CONTENT_TYPE, dialect.content_type()).body(events).unwrap()
        }
    }
}

fn stream_events(events: Vec<String>, reply: &Reply) -> impl Stream<Item = io::Result<Bytes>> + Send + use<> {
    let chunks: Vec<Bytes> = match reply.chunk_size {
        Some(size) => events.concat().into_bytes().chunks(size).map(Bytes::copy_from_slice).collect(),
        None => events.into_iter().map(Bytes::from).collect(),
    };
    // Yielding between chunks makes the server flush each one separately.
    let chunks = stream::iter(chunks).then(|chunk| async {
        tokio::task::yield_now().await;
        Ok(chunk)
    });
    let ending = match reply.ending {
        Ending::Proper | Ending::Filtered | Ending::OutOfLength | Ending::Closed => stream::empty().boxed(),
        Ending::Cut => stream::once(async {
            tokio::task::yield_now().await;
            Err(io::Error::other("cut on purpose"))
        })
        .boxed(),
        Ending::Silence => stream::pending().boxed(),
    };
    chunks.chain(ending)
}
