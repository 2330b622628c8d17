//! Describes failures of servers in one sentence, without the names of types or pages of HTML.

use std::{error::Error, io};

use rmcp::{
    ServiceError,
    model::ErrorData,
    service::ClientInitializeError,
    transport::{
        DynamicTransportError,
        streamable_http_client::{HttpStatusError, StreamableHttpError},
    },
};

/// Maximum length of a server's own words, in characters.
const MAX_MESSAGE_CHARS: usize = 300;

/// Describes why a connection was not established.
pub(crate) fn describe_start(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::JsonRpcError(error) => describe_answer(error),
        ClientInitializeError::TransportError { error, .. } => describe_transport(error),
        ClientInitializeError::ConnectionClosed(_) => "it closed the connection".into(),
        ClientInitializeError::NoCompatibleProtocolVersion { .. } => {
            "it supports no revision of the protocol that Memoir supports".into()
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => describe_start(fallback),
        _ => "it sent an unexpected answer".into(),
    }
}

/// Describes why a request failed.
pub(crate) fn describe_request(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => describe_answer(error),
        ServiceError::TransportSend(error) => describe_transport(error),
        ServiceError::TransportClosed => "it has ended".into(),
        ServiceError::Timeout { .. } => "it did not answer in time".into(),
        ServiceError::InputRequiredRoundsExceeded { .. } => "it asked for input too often".into(),
        _ => "it sent an unexpected answer".into(),
    }
}

/// Returns whether a failure means that the server has gone. A status of HTTP does not.
pub(crate) fn is_gone(error: &ServiceError) -> bool {
    let ServiceError::TransportSend(error) = error else {
        return matches!(error, ServiceError::TransportClosed);
    };
    let mut cause: Option<&(dyn Error + 'static)> = Some(error.error.as_ref());
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
            return match error {
                StreamableHttpError::Client(error) => error.is_connect(),
                StreamableHttpError::SessionExpired | StreamableHttpError::TransportChannelClosed => true,
                _ => false,
            };
        }
        cause = error.source();
    }
    true
}

fn describe_answer(error: &ErrorData) -> String {
    shorten(&error.message)
}

fn describe_transport(error: &DynamicTransportError) -> String {
    let mut cause: &(dyn Error + 'static) = error.error.as_ref();
    loop {
        if let Some(error) = cause.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
            match error {
                StreamableHttpError::AuthRequired(_) => {
                    return "it requires authorization (status 401); set `headers` in the config".into();
                }
                StreamableHttpError::Client(error) => return describe_cause(error),
                StreamableHttpError::UnexpectedServerResponse(text) => return describe_response(text),
                StreamableHttpError::UnexpectedContentType(_) => {
                    return "it is not an MCP server: it answered with another type of content".into();
                }
                _ => {}
            }
        }
        if let Some(error) = cause.downcast_ref::<io::Error>()
            && error.kind() == io::ErrorKind::BrokenPipe
        {
            return "it closed the connection".into();
        }
        if let Some(error) = cause.downcast_ref::<HttpStatusError>() {
            return format!("it answered with status {}", error.status);
        }
        match cause.source() {
            Some(source) => cause = source,
            None => return shorten(&cause.to_string()),
        }
    }
}

/// Describes the innermost cause: "connection refused" says more than "error sending request".
pub(crate) fn describe_cause(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    format!("it cannot be reached: {}", shorten(&cause.to_string()))
}

/// Describes a response in the words of the library: `HTTP 404 Not Found: <html>...`.
fn describe_response(text: &str) -> String {
    let status = text.split_whitespace().find(|word| word.len() == 3 && word.parse::<u16>().is_ok());
    match status {
        Some(status @ ("404" | "405")) => {
            format!("there is no MCP server at this address (status {status})")
        }
        Some(status) => format!("it answered with status {status}"),
        None => "it sent an unexpected answer".into(),
    }
}

/// Collapses a text into one line of limited length.
pub(crate) fn shorten(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.trim_end_matches('.');
    match line.char_indices().nth(MAX_MESSAGE_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_are_described_without_their_html() {
        assert_eq!(
            describe_response("HTTP 404 Not Found: <!DOCTYPE html>\n<pre>Cannot POST /sse</pre>"),
            "there is no MCP server at this address (status 404)"
        );
        assert_eq!(describe_response("HTTP 418 I'm a teapot"), "it answered with status 418");
        assert_eq!(shorten("Two\n  lines."), "Two lines");
    }
}
