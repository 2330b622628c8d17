//! One reply of the script, in no dialect.

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
    /// Bytes that are no event of any dialect.
    Raw(String),
}

/// How a streamed reply ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// As the protocol says.
    Proper,
    /// As the protocol says when the provider's filter steps in.
    Filtered,
    /// As the protocol says when the answer reached its limit.
    OutOfLength,
    /// The connection closes before the end event, tidily.
    Closed,
    /// The connection breaks before the end event.
    Cut,
    /// Nothing more comes, and the connection stays open.
    Silence,
}

/// What a reply says it used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportedUsage {
    /// All input, cached or not.
    pub input: u64,
    /// All output, reasoning included.
    pub output: u64,
    /// Input that was read from a cache.
    pub cached: u64,
    /// Input that was written to a cache.
    pub cache_write: u64,
    /// Output that was reasoning.
    pub reasoning: u64,
}

/// One reply of the script.
#[derive(Debug, Clone)]
pub struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    /// For a reply that is not a stream: what went wrong, or a body of one's own.
    pub(super) failure: Option<ReplyFailure>,
    pub(super) pieces: Vec<Piece>,
    pub(super) ending: Ending,
    pub(super) usage: ReportedUsage,
    /// Sends the stream in chunks of so many bytes, whatever they cut through.
    pub(super) chunk_size: Option<usize>,
    /// Whether the request is never answered.
    pub(super) is_missing: bool,
    /// Answers only when this many requests have arrived.
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

    /// An answer, streamed word by word.
    pub fn text(text: &str) -> Self {
        Self::stream(Vec::new()).and_text(text)
    }

    /// Goes on with text.
    pub fn and_text(mut self, text: &str) -> Self {
        self.pieces.extend(text.split_inclusive(' ').map(|word| Piece::Text(word.to_owned())));
        self
    }

    /// A reply that begins with reasoning, signed where the dialect signs.
    pub fn thinking(text: &str, signature: &str) -> Self {
        Self::stream(vec![Piece::Thinking { text: text.to_owned(), signature: signature.to_owned() }])
    }

    /// A reply that asks for a tool.
    pub fn tool_call(id: &str, name: &str, arguments: &Value) -> Self {
        Self::stream(Vec::new()).and_tool_call(id, name, arguments)
    }

    /// Asks for one more tool.
    pub fn and_tool_call(self, id: &str, name: &str, arguments: &Value) -> Self {
        self.and_raw_tool_call(id, name, &arguments.to_string())
    }

    /// Asks for one more tool with arguments that need not be JSON.
    pub fn and_raw_tool_call(mut self, id: &str, name: &str, arguments: &str) -> Self {
        let (id, name, arguments) = (id.to_owned(), name.to_owned(), arguments.to_owned());
        self.pieces.push(Piece::ToolCall { id, name, arguments });
        self
    }

    /// An HTTP error with a message, in the dialect's own envelope.
    pub fn status(status: u16, message: &str) -> Self {
        Self { status, failure: Some(ReplyFailure::Message(message.to_owned())), ..Self::stream(Vec::new()) }
    }

    /// An HTTP status with any body.
    pub fn status_with_body(status: u16, body: &str) -> Self {
        Self { status, failure: Some(ReplyFailure::Body(body.to_owned())), ..Self::stream(Vec::new()) }
    }

    /// Adds bytes that belong to no protocol.
    pub fn and_garbage(mut self, garbage: &str) -> Self {
        self.pieces.push(Piece::Raw(garbage.to_owned()));
        self
    }

    fn ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }

    /// Breaks the connection before the end event.
    pub fn cut(self) -> Self {
        self.ending(Ending::Cut)
    }

    /// Closes the connection tidily before the end event.
    pub fn closed(self) -> Self {
        self.ending(Ending::Closed)
    }

    /// Falls silent before the end event, and keeps the connection.
    pub fn then_silence(self) -> Self {
        self.ending(Ending::Silence)
    }

    /// Ends because the provider's filter stepped in.
    pub fn filtered(self) -> Self {
        self.ending(Ending::Filtered)
    }

    /// Ends because the answer reached its limit.
    pub fn out_of_length(self) -> Self {
        self.ending(Ending::OutOfLength)
    }

    /// Adds a header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Reports this usage.
    pub fn usage(mut self, input: u64, output: u64, cached: u64) -> Self {
        self.usage = ReportedUsage { input, output, cached, cache_write: 0, reasoning: 0 };
        self
    }

    /// Reports this usage, with everything a provider can tell.
    pub fn full_usage(mut self, usage: ReportedUsage) -> Self {
        self.usage = usage;
        self
    }

    /// Sends the stream in chunks of so many bytes, whatever they cut through.
    pub fn in_chunks_of(mut self, bytes: usize) -> Self {
        self.chunk_size = Some(bytes);
        self
    }

    /// Never answers, and keeps the connection. To answer later, use [`ScriptedProvider::hold`](crate::ScriptedProvider::hold).
    pub fn never() -> Self {
        Self { is_missing: true, ..Self::stream(Vec::new()) }
    }

    /// Answers only when `count` requests have arrived, which shows that they are made at the same time.
    pub fn once_requested(mut self, count: usize) -> Self {
        self.awaited_requests = count;
        self
    }

    pub(super) fn is_failure(&self) -> bool {
        self.failure.is_some()
    }
}
