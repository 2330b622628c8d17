//! One reply of the script, in no dialect.

use serde_json::Value;

/// A piece of a streamed reply.
#[derive(Debug, Clone)]
pub(super) enum Piece {
    Text(String),
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
    /// The connection closes before the end event.
    Cut,
    /// Nothing more comes, and the connection stays open.
    Silence,
}

/// One reply of the script.
#[derive(Debug, Clone)]
pub struct Reply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    /// For a reply that is not a stream.
    pub(super) plain_body: Option<String>,
    pub(super) pieces: Vec<Piece>,
    pub(super) ending: Ending,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
    pub(super) cached_tokens: u64,
}

impl Reply {
    fn stream(pieces: Vec<Piece>) -> Self {
        Self {
            status: 200,
            headers: Vec::new(),
            plain_body: None,
            pieces,
            ending: Ending::Proper,
            input_tokens: 10,
            output_tokens: 5,
            cached_tokens: 0,
        }
    }

    /// An answer, streamed word by word.
    pub fn text(text: &str) -> Self {
        Self::stream(
            text.split_inclusive(' ')
                .map(|word| Piece::Text(word.to_owned()))
                .collect(),
        )
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

    /// An HTTP error with the message that providers send along.
    pub fn status(status: u16, message: &str) -> Self {
        let body = serde_json::json!({"error": {"message": message}}).to_string();
        Self {
            status,
            plain_body: Some(body),
            ..Self::stream(Vec::new())
        }
    }

    /// Adds bytes that belong to no protocol.
    pub fn and_garbage(mut self, garbage: &str) -> Self {
        self.pieces.push(Piece::Raw(garbage.to_owned()));
        self
    }

    /// Closes the connection before the end event.
    pub fn cut(mut self) -> Self {
        self.ending = Ending::Cut;
        self
    }

    /// Falls silent before the end event, and keeps the connection.
    pub fn then_silence(mut self) -> Self {
        self.ending = Ending::Silence;
        self
    }

    /// Adds a header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Reports this usage.
    pub fn usage(mut self, input: u64, output: u64, cached: u64) -> Self {
        (self.input_tokens, self.output_tokens, self.cached_tokens) = (input, output, cached);
        self
    }
}
