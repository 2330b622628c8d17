//! Replies of the script, independent of the provider.

use serde_json::Value;

/// A piece of a streamed reply.
#[derive(Debug, Clone)]
pub(super) enum Piece {
    Text(String),
    Thinking {
        text: String,
        signature: String,
    },
    ToolCall {
        id: String,
        name: String,
        arguments: String,
    },
    /// Bytes that are not a valid event.
    Raw(String),
}

/// The ending of a streamed reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// A regular end event.
    Proper,
    /// An end event that reports a content filter.
    Filtered,
    /// An end event that reports the length limit.
    OutOfLength,
    /// An orderly close of the connection before the end event.
    Closed,
    /// A broken connection before the end event.
    Cut,
    /// No more data on an open connection.
    Silence,
}

/// The token usage that a reply reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportedUsage {
    /// Input tokens, including cached ones.
    pub input: u64,
    /// Output tokens, including reasoning.
    pub output: u64,
    /// Input tokens read from the cache.
    pub cached: u64,
    /// Input tokens written to the cache.
    pub cache_write: u64,
    /// Output tokens used for reasoning.
    pub reasoning: u64,
}

/// One reply of a [`ScriptedProvider`](crate::ScriptedProvider).
#[derive(Debug, Clone)]
pub struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    /// Body of a reply that is not a stream.
    pub(super) failure: Option<ReplyFailure>,
    pub(super) pieces: Vec<Piece>,
    pub(super) ending: Ending,
    pub(super) usage: ReportedUsage,
    /// Size of the chunks of the stream in bytes.
    pub(super) chunk_size: Option<usize>,
    /// Whether the request is never answered.
    pub(super) is_missing: bool,
    /// Number of requests that must have arrived before the answer is sent.
    pub(super) awaited_requests: usize,
}

#[derive(Debug, Clone)]
pub(super) enum ReplyFailure {
    Message(String),
    Body(String),
}

impl Reply {
    fn stream(pieces: Vec<Piece>) -> Self {
        Self {
            status: 200,
            headers: Vec::new(),
            failure: None,
            pieces,
            ending: Ending::Proper,
            usage: ReportedUsage { input: 10, output: 5, cached: 0, cache_write: 0, reasoning: 0 },
            chunk_size: None,
            is_missing: false,
            awaited_requests: 0,
        }
    }

    /// Creates an answer that is streamed word by word.
    pub fn text(text: &str) -> Self {
        Self::stream(Vec::new()).and_text(text)
    }

    /// Returns the whole text.
    pub(super) fn all_text(&self) -> String {
        let texts = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Adds text, streamed word by word.
    pub fn and_text(mut self, text: &str) -> Self {
        self.pieces.extend(text.split_inclusive(' ').map(|word| Piece::Text(word.to_owned())));
        self
    }

    /// Creates a reply that begins with reasoning. The signature is used in formats that have one.
    pub fn thinking(text: &str, signature: &str) -> Self {
        Self::stream(vec![Piece::Thinking { text: text.to_owned(), signature: signature.to_owned() }])
    }

    /// Creates a reply that requests a tool call.
    pub fn tool_call(id: &str, name: &str, arguments: &Value) -> Self {
        Self::stream(Vec::new()).and_tool_call(id, name, arguments)
    }

    /// Adds a tool call.
    pub fn and_tool_call(self, id: &str, name: &str, arguments: &Value) -> Self {
        self.and_raw_tool_call(id, name, &arguments.to_string())
    }

    /// Adds a tool call whose arguments need not be valid JSON.
    pub fn and_raw_tool_call(mut self, id: &str, name: &str, arguments: &str) -> Self {
        let (id, name, arguments) = (id.to_owned(), name.to_owned(), arguments.to_owned());
        self.pieces.push(Piece::ToolCall { id, name, arguments });
        self
    }

    /// Creates an HTTP error with a message in the provider's format.
    pub fn status(status: u16, message: &str) -> Self {
        Self { status, failure: Some(ReplyFailure::Message(message.to_owned())), ..Self::stream(Vec::new()) }
    }

    /// Creates a response with any HTTP status and body.
    pub fn status_with_body(status: u16, body: &str) -> Self {
        Self { status, failure: Some(ReplyFailure::Body(body.to_owned())), ..Self::stream(Vec::new()) }
    }

    /// Adds bytes that are not a valid event.
    pub fn and_garbage(mut self, garbage: &str) -> Self {
        self.pieces.push(Piece::Raw(garbage.to_owned()));
        self
    }

    fn ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }

    /// Breaks the connection before the end event.
    pub fn disconnected(self) -> Self {
        self.ending(Ending::Cut)
    }

    /// Closes the connection in an orderly way before the end event.
    pub fn closed(self) -> Self {
        self.ending(Ending::Closed)
    }

    /// Stops sending before the end event but keeps the connection open.
    pub fn stalled(self) -> Self {
        self.ending(Ending::Silence)
    }

    /// Ends the answer because of the provider's content filter.
    pub fn filtered(self) -> Self {
        self.ending(Ending::Filtered)
    }

    /// Ends the answer because it reached its length limit.
    pub fn length_limited(self) -> Self {
        self.ending(Ending::OutOfLength)
    }

    /// Adds an HTTP header to the response.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets the reported token usage, without cache writes and reasoning.
    pub fn usage(mut self, input: u64, output: u64, cached: u64) -> Self {
        self.usage = ReportedUsage { input, output, cached, cache_write: 0, reasoning: 0 };
        self
    }

    /// Sets all counts of the reported token usage.
    pub fn full_usage(mut self, usage: ReportedUsage) -> Self {
        self.usage = usage;
        self
    }

    /// Sends the stream in chunks of `bytes` bytes, which may split characters and events.
    pub fn in_chunks_of(mut self, bytes: usize) -> Self {
        self.chunk_size = Some(bytes);
        self
    }

    /// Creates a reply that never comes, on a connection that stays open. To answer later, use
    /// [`ScriptedProvider::hold`](crate::ScriptedProvider::hold).
    pub fn never() -> Self {
        Self { is_missing: true, ..Self::stream(Vec::new()) }
    }

    /// Delays the answer until `count` requests have arrived, which proves that they are concurrent.
    pub fn after_requests(mut self, count: usize) -> Self {
        self.awaited_requests = count;
        self
    }

    pub(super) fn is_failure(&self) -> bool {
        self.failure.is_some()
    }
}
