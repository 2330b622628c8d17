//! The transport of the oldest revision of the protocol: messages of the server arrive as events on one connection, which
//! first names the address to which the client posts its own.

use std::{pin::Pin, time::Duration};

use futures::{Sink, Stream, StreamExt as _, sink, stream::BoxStream};
use reqwest::{Client, Url, header::HeaderMap};
use rmcp::{
    RoleClient,
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
};
use sse_stream::SseStream;

use crate::{connection::Reason, failure::describe_cause};

/// Time limit for sending a message.
const POST_TIMEOUT: Duration = Duration::from_secs(60);

/// Maximum size of an event.
const MAX_EVENT_BYTES: usize = 16 << 20;

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
    let base = Url::parse(url).map_err(|_| "its URL is not an address".to_owned())?;
    let builder = Client::builder().default_headers(headers).redirect(reqwest::redirect::Policy::none());
    let client = builder.build().map_err(|error| describe_cause(&error))?;
    let request = client.get(base.clone()).header("accept", "text/event-stream");
    let response = request.send().await.map_err(|error| describe_cause(&error))?;
    if !response.status().is_success() {
        return Err(format!("it answered with status {}", response.status().as_u16()));
    }
    let mut events = Box::pin(SseStream::from_bytes_stream(limit_events(response.bytes_stream())));
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

/// Ends a stream whose events are too large, so that a server cannot fill the memory. A blank line ends an event.
fn limit_events<B: AsRef<[u8]> + Send, E: Send>(
    chunks: impl Stream<Item = Result<B, E>> + Send,
) -> impl Stream<Item = Result<B, E>> + Send {
    let (mut length, mut last) = (0, None);
    chunks.take_while(move |chunk| {
        if let Ok(chunk) = chunk {
            // A blank line may be split between two chunks.
            let bytes: Vec<u8> = last.into_iter().chain(chunk.as_ref().iter().copied()).collect();
            last = bytes.last().copied();
            let is_blank_line = |lines: &[u8]| lines == b"\n\n" || lines == b"\n\r";
            length = match bytes.windows(2).rposition(is_blank_line) {
                Some(end) => bytes.len() - end,
                None => length + bytes.len(),
            };
        }
        std::future::ready(length <= MAX_EVENT_BYTES)
    })
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

/// Sends each message on its own, because a server may answer one only after it has received another.
fn sender(client: Client, target: Url) -> Outgoing {
    let post = move |(), message: TxJsonRpcMessage<RoleClient>| {
        let request = client.post(target.clone()).timeout(POST_TIMEOUT).json(&message);
        tokio::spawn(async move {
            let response = request.send().await.and_then(reqwest::Response::error_for_status);
            if let Err(error) = response {
                // The answer never arrives, and the call reports that.
                tracing::warn!(error = %error.without_url(), "could not send a message to an MCP server");
            }
        });
        std::future::ready(Ok(()))
    };
    Box::pin(sink::unfold((), post))
}
