//! The transport of the oldest revision of the protocol: messages of the server arrive as events on one connection, which
//! first names the address to which the client posts its own.

use std::pin::Pin;

use futures::{Sink, SinkExt as _, Stream, StreamExt as _, sink, stream::BoxStream};
use reqwest::{Client, Url, header::HeaderMap};
use rmcp::{
    RoleClient,
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
};
use sse_stream::SseStream;

use crate::{connection::Reason, failure::describe_cause};

/// Messages to the server.
type Outgoing = Pin<Box<dyn Sink<TxJsonRpcMessage<RoleClient>, Error = std::io::Error> + Send>>;

/// Messages of the server.
type Incoming = BoxStream<'static, RxJsonRpcMessage<RoleClient>>;

/// Connects to a server, and returns where to send messages and where they arrive.
///
/// # Errors
///
/// Fails if the server cannot be reached, or does not name the address for messages.
pub(crate) async fn connect(url: &str, headers: HeaderMap) -> Result<(Outgoing, Incoming), Reason> {
    let base = Url::parse(url).map_err(|_| format!("{url} is not an address"))?;
    let builder = Client::builder().default_headers(headers).redirect(reqwest::redirect::Policy::none());
    let client = builder.build().map_err(|error| describe_cause(&error))?;
    let request = client.get(base.clone()).header("accept", "text/event-stream");
    let response = request.send().await.map_err(|error| describe_cause(&error))?;
    if !response.status().is_success() {
        return Err(format!("it answered with status {}", response.status().as_u16()));
    }
    let mut events = Box::pin(SseStream::from_bytes_stream(response.bytes_stream()));
    let endpoint = loop {
        match events.next().await {
            Some(Ok(event)) if event.event.as_deref() == Some("endpoint") => {
                break event.data.unwrap_or_default();
            }
            Some(Ok(_)) => {}
            Some(Err(_)) | None => return Err("it did not name an address for messages".into()),
        }
    };
    let target = base.join(&endpoint).ok().filter(|target| target.origin() == base.origin());
    let target = target.ok_or("it named an address for messages on another server")?;
    Ok((sender(client, target), messages(events)))
}

/// Returns the messages of the server. An event that is not a message is skipped.
fn messages(
    events: impl Stream<Item = Result<sse_stream::Sse, sse_stream::Error>> + Send + 'static,
) -> Incoming {
    let messages = events
        .take_while(|event| std::future::ready(event.is_ok()))
        .filter_map(|event| async { serde_json::from_str(&event.ok()?.data?).ok() });
    messages.boxed()
}

fn sender(client: Client, target: Url) -> Outgoing {
    let post = move |(), message: TxJsonRpcMessage<RoleClient>| {
        let request = client.post(target.clone()).json(&message);
        async move {
            let response = request.send().await.and_then(reqwest::Response::error_for_status);
            response.map(|_| ()).map_err(|error| std::io::Error::other(describe_cause(&error)))
        }
    };
    Box::pin(sink::unfold((), post).sink_map_err(std::io::Error::other))
}
