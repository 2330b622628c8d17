//! Passes a reply on as it arrives. The exchange is stored before its last byte, so that a program that has received an
//! answer finds it in memory.

use std::io;

use bytes::Bytes;
use futures::StreamExt as _;
use http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use memoir_providers::{ClientApi, RelayedReply, ReplyObserver};
use memoir_runtime::Failure;

use super::{
    CONVERSATION_HEADER, ReplyBody, exchange::Passing, reply::error_reply, upstream::returned_headers,
};

/// Maximum size of a reply that is not streamed.
const MAX_REPLY_BYTES: usize = 64 << 20;

/// Passes a reply on, and stores the exchange if it succeeds.
pub(super) async fn pass_on(
    api: ClientApi,
    reply: RelayedReply,
    headers: HeaderMap,
    passing: Option<Passing>,
) -> Response<ReplyBody> {
    let status = StatusCode::from_u16(reply.status()).ok();
    // Redirects are not followed, and a program has no use for them either.
    let Some(status) = status.filter(|status| matches!(status.as_u16(), 200..300 | 400..600)) else {
        let reason = format!("the provider answered with status {}", reply.status());
        return error_reply(api, StatusCode::BAD_GATEWAY, &reason);
    };
    let mut all_headers = returned_headers(reply.headers());
    all_headers.extend(headers);
    let is_stream = all_headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
    let passing = passing.filter(|_| status.is_success());
    let observed = passing.map(|passing| (reply.observe(api), passing));
    let (body, conversation) = match is_stream {
        true => (stream(reply, observed), None),
        false => match read_whole(reply, observed).await {
            Ok(read) => read,
            Err(error) => return error_reply(api, StatusCode::BAD_GATEWAY, &error.to_string()),
        },
    };
    if let Some(conversation) = conversation {
        all_headers.insert(CONVERSATION_HEADER, conversation);
    }
    let mut response = Response::new(body);
    *response.status_mut() = status;
    *response.headers_mut() = all_headers;
    response
}

type Observed = Option<(ReplyObserver, Passing)>;

/// Passes on the parts of a stream. The part that completes the answer waits until the exchange is stored.
fn stream(mut reply: RelayedReply, mut observed: Observed) -> ReplyBody {
    async_stream::stream! {
        loop {
            match reply.chunk().await {
                Ok(Some(chunk)) => {
                    if let Some((observer, _)) = &mut observed {
                        observer.push(&chunk);
                    }
                    if observed.as_ref().is_some_and(|(observer, _)| observer.answer().is_some()) {
                        store(observed.take()).await;
                    }
                    yield Ok(chunk);
                }
                Ok(None) => {
                    if let Some((observer, _)) = &mut observed {
                        observer.close();
                    }
                    store(observed.take()).await;
                    return;
                }
                Err(error) => {
                    // The program sees that the stream breaks off, as it would without the proxy.
                    yield Err(io::Error::other(error.to_string()));
                    return;
                }
            }
        }
    }
    .boxed()
}

/// Reads a reply that is not streamed, and stores the exchange. Returns the id of its conversation.
async fn read_whole(
    mut reply: RelayedReply,
    mut observed: Observed,
) -> io::Result<(ReplyBody, Option<HeaderValue>)> {
    let mut body = Vec::new();
    while let Some(chunk) = reply.chunk().await.map_err(|error| io::Error::other(error.to_string()))? {
        if body.len() + chunk.len() > MAX_REPLY_BYTES {
            return Err(io::Error::other("the reply is too large"));
        }
        body.extend_from_slice(&chunk);
    }
    if let Some((observer, _)) = &mut observed {
        observer.push(&body);
        observer.close();
    }
    let conversation = store(observed).await;
    Ok((futures::stream::iter([Ok(Bytes::from(body))]).boxed(), conversation))
}

/// Stores the exchange, if its answer is complete. The program gets the answer in any case.
async fn store(observed: Observed) -> Option<HeaderValue> {
    let (observer, passing) = observed?;
    let answer = observer.answer()?.clone();
    // The program may close the connection now that it has the answer.
    let stored = tokio::spawn(passing.store(answer)).await;
    match stored.unwrap_or_else(|error| Err(Failure::failed(error.to_string()))) {
        Ok(committed) => Some(HeaderValue::from(committed?.conversation_id.get())),
        Err(failure) => {
            tracing::warn!(reason = failure.message, "could not store an exchange");
            None
        }
    }
}
