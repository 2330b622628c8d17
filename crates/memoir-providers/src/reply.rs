//! Reads a streamed reply and converts it to events.

use std::time::Duration;

use futures::StreamExt as _;
use memoir_models::{ChatEvent, ChatStream, ModelError};
use serde_json::Value;
use tokio::time::timeout;

use crate::{
    connection::Connection,
    dialect::{Dialect, EndOfReply, Framing, ReplyReader},
    failure::from_error_event,
    frames::Frames,
    status::shorten,
};

/// What OpenAI's API sends after the last message.
const END_MARKER: &[u8] = b"[DONE]";

/// Returns the events of a reply. The stream ends with the first error; a reply without an end is an error too.
pub(crate) fn read_reply(
    response: reqwest::Response,
    dialect: &dyn Dialect,
    connection: Connection,
    idle_timeout: Duration,
) -> ChatStream {
    let (framing, reader) = (dialect.framing(), dialect.reader());
    async_stream::stream! {
        let mut bytes = response.bytes_stream();
        let mut reply = Reply::new(framing, reader, connection);
        loop {
            let chunk = match timeout(idle_timeout, bytes.next()).await {
                Err(_) => Err(ModelError::IdleTimeout { after: idle_timeout }),
                Ok(Some(Err(error))) => Err(reply.connection.transport_error(&error)),
                Ok(Some(Ok(chunk))) => reply.frames.push(&chunk).map(|()| true),
                Ok(None) => Ok(false),
            };
            let (events, is_done) = match chunk {
                Err(error) => (vec![Err(error)], true),
                Ok(true) => reply.read(),
                Ok(false) => (reply.close(), true),
            };
            for event in events {
                let is_last = matches!(event, Err(_) | Ok(ChatEvent::End(_)));
                yield event;
                if is_last {
                    return;
                }
            }
            if is_done {
                return;
            }
        }
    }
    .boxed()
}

/// Returns the error that a message reports, in whatever form.
fn find_error(message: &Value) -> Option<&Value> {
    let has_error = |value: &&Value| value.get("error").is_some_and(|error| !error.is_null());
    let parts = [Some(message), message.get(0), message.get("response")];
    parts.into_iter().flatten().find(has_error).or_else(|| (message["type"] == "error").then_some(message))
}

/// Items of the Responses API that the program has to answer, besides calls of functions.
const OPEN_ITEMS: [&str; 5] =
    ["custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "computer_call"];

/// Returns whether a message asks the program to do something and continue.
fn waits_for_program(message: &Value) -> bool {
    let is_open = |item: &Value| item["type"].as_str().is_some_and(|kind| OPEN_ITEMS.contains(&kind));
    let is_paused = |part: &Value| part["stop_reason"] == "pause_turn";
    let items = message["output"].as_array().into_iter().flatten();
    is_open(&message["item"])
        || items.into_iter().any(is_open)
        || is_paused(message)
        || is_paused(&message["delta"])
}

/// A reply that is being read.
pub(crate) struct Reply {
    frames: Frames,
    reader: Box<dyn ReplyReader>,
    has_started: bool,
    connection: Connection,
    /// Id of the reply at the provider.
    pub(crate) id: Option<String>,
    /// Whether the model waits for the program, for another reason than a call of a function.
    pub(crate) is_open: bool,
}

pub(crate) type Events = Vec<Result<ChatEvent, ModelError>>;

impl Reply {
    pub(crate) fn new(framing: Framing, reader: Box<dyn ReplyReader>, connection: Connection) -> Self {
        Self {
            frames: Frames::new(framing),
            reader,
            has_started: false,
            connection,
            id: None,
            is_open: false,
        }
    }

    /// Adds bytes, and returns the events of the messages that they complete.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Events {
        match self.frames.push(bytes) {
            Ok(()) => self.read().0,
            Err(error) => vec![Err(error)],
        }
    }

    /// Reads the complete messages. Returns their events, and whether the reply is complete.
    fn read(&mut self) -> (Events, bool) {
        let mut events = Vec::new();
        while let Some(message) = self.frames.next() {
            if self.read_message(&message, &mut events) {
                return (events, true);
            }
        }
        (events, false)
    }

    /// Returns the last events, once the connection is closed.
    pub(crate) fn close(&mut self) -> Events {
        let mut events = Vec::new();
        if let Some(message) = self.frames.rest()
            && self.read_message(&message, &mut events)
        {
            return events;
        }
        match self.reader.finish(EndOfReply::Closed) {
            // A retry would not help.
            last if matches!(last[..], [.., Err(ModelError::Truncated)])
                && (!self.has_started || self.frames.is_whole()) =>
            {
                events.push(Err(ModelError::InvalidResponse("it contains no events".into())));
            }
            last => events.extend(last),
        }
        events
    }

    /// Reads one message. Returns whether it was the last.
    fn read_message(&mut self, message: &[u8], events: &mut Events) -> bool {
        if message.trim_ascii() == END_MARKER {
            events.extend(self.reader.finish(EndOfReply::Marked));
            return true;
        }
        self.has_started = true;
        let secret = &self.connection.secret;
        let Ok(message) = serde_json::from_slice::<Value>(message) else {
            let text = shorten(&secret.redact(&String::from_utf8_lossy(message)));
            events.push(Err(ModelError::InvalidResponse(text)));
            return true;
        };
        if self.id.is_none() {
            let id = message["response"]["id"].as_str().or(message["id"].as_str());
            self.id = id.map(str::to_owned);
        }
        self.is_open |= waits_for_program(&message);
        if let Some(error) = find_error(&message) {
            events.push(Err(from_error_event(&secret.redact(&error.to_string()))));
            return true;
        }
        match self.reader.read(&message) {
            Ok(read) => {
                events.extend(read.events.into_iter().map(Ok));
                if read.is_last {
                    events.extend(self.reader.finish(EndOfReply::Marked));
                }
                read.is_last
            }
            Err(error) => {
                events.push(Err(error));
                true
            }
        }
    }
}
