//! Splits the bytes of a reply into messages, within limits: a server must not be able to fill the memory.

use memoir_models::ModelError;

use crate::dialect::Framing;

/// Maximum size of one message. Only a reply that is not streamed comes near it.
const MAX_MESSAGE_BYTES: usize = 16 << 20;

/// Maximum size of a reply. An answer of the maximum length takes up less, although each word is a message.
const MAX_REPLY_BYTES: usize = 512 << 20;

/// Collects the bytes of a reply. They are buffered as bytes, because a chunk may end within a character.
pub(crate) struct Frames {
    framing: Framing,
    buffer: Vec<u8>,
    /// Where the current line starts in the buffer.
    start: usize,
    /// Up to where it is known to contain no end.
    scanned: usize,
    /// The data lines of the current event.
    data: Vec<u8>,
    total: usize,
    /// Whether the body is one JSON value, although a stream was requested.
    is_whole: Option<bool>,
}

impl Frames {
    pub(crate) fn new(framing: Framing) -> Self {
        Self { framing, buffer: Vec::new(), start: 0, scanned: 0, data: Vec::new(), total: 0, is_whole: None }
    }

    /// Adds bytes.
    ///
    /// # Errors
    ///
    /// Fails if the reply is too large.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<(), ModelError> {
        self.total += bytes.len();
        self.buffer.drain(..self.start);
        self.scanned -= self.start;
        self.start = 0;
        self.buffer.extend_from_slice(bytes);
        let is_too_large =
            self.buffer.len() + self.data.len() > MAX_MESSAGE_BYTES || self.total > MAX_REPLY_BYTES;
        match is_too_large {
            true => Err(ModelError::InvalidResponse("it is too large".into())),
            false => Ok(()),
        }
    }

    /// Returns whether the body is one JSON value instead of a stream.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole == Some(true)
    }

    /// Returns the next complete message.
    pub(crate) fn next(&mut self) -> Option<Vec<u8>> {
        if self.framing == Framing::Events && self.is_whole.is_none() {
            let first = self.buffer.iter().find(|byte| !byte.is_ascii_whitespace())?;
            self.is_whole = Some(matches!(first, b'{' | b'['));
        }
        if self.is_whole() {
            return None;
        }
        loop {
            let line = self.next_line()?;
            if let Some(message) = self.read_line(line) {
                return Some(message);
            }
        }
    }

    /// Returns the last message if it was not terminated.
    pub(crate) fn rest(&mut self) -> Option<Vec<u8>> {
        let line = self.buffer.split_off(self.start);
        if self.is_whole() {
            return Some(line);
        }
        self.read_line(line).or_else(|| self.take_data())
    }

    /// Returns the next line without its end, which may be a line feed, a carriage return or both.
    fn next_line(&mut self) -> Option<Vec<u8>> {
        let is_end = |byte: &u8| *byte == b'\n' || (*byte == b'\r' && self.framing == Framing::Events);
        let unscanned = self.buffer.get(self.scanned..)?;
        let Some(position) = unscanned.iter().position(is_end) else {
            self.scanned = self.buffer.len();
            return None;
        };
        let end = self.scanned + position;
        let rest = &self.buffer[end..];
        if rest == b"\r" {
            // A line feed may follow.
            self.scanned = end;
            return None;
        }
        let line = self.buffer[self.start..end].to_vec();
        self.start = end + if rest.starts_with(b"\r\n") { 2 } else { 1 };
        self.scanned = self.start;
        Some(line)
    }

    /// Reads a line, and returns the message that it completes.
    fn read_line(&mut self, line: Vec<u8>) -> Option<Vec<u8>> {
        if self.framing == Framing::Lines {
            return (!line.trim_ascii().is_empty()).then_some(line);
        }
        if line.is_empty() {
            return self.take_data();
        }
        // Other fields and comments are not needed: the data says what it is.
        if let Some(value) = line.strip_prefix(b"data:") {
            if !self.data.is_empty() {
                self.data.push(b'\n');
            }
            self.data.extend_from_slice(value.strip_prefix(b" ").unwrap_or(value));
        }
        None
    }

    fn take_data(&mut self) -> Option<Vec<u8>> {
        Some(std::mem::take(&mut self.data)).filter(|data| !data.trim_ascii().is_empty())
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failing test is meant to panic")]

    use super::*;

    /// Splits a body that arrives in chunks of `size` bytes.
    fn split(framing: Framing, body: &str, size: usize) -> Vec<String> {
        let mut frames = Frames::new(framing);
        let mut messages = Vec::new();
        for chunk in body.as_bytes().chunks(size) {
            frames.push(chunk).unwrap();
            messages.extend(std::iter::from_fn(|| frames.next()));
        }
        messages.extend(frames.rest());
        messages.into_iter().map(|message| String::from_utf8(message).unwrap()).collect()
    }

    #[test]
    fn events_are_split_whatever_their_line_ends_and_fields() {
        let expected = ["{\"a\":\n1}", "ü", "last"];
        for end in ["\n", "\r\n", "\r"] {
            let body = [
                ": a comment",
                "",
                "event: x",
                "id: 7",
                "data: {\"a\":",
                "data:1}",
                "",
                "retry: 5",
                "",
                "data: ü",
                "",
                ": ping",
                "",
                "data: last",
            ]
            .join(end);
            for size in [1, 2, 3, 1000] {
                assert_eq!(split(Framing::Events, &body, size), expected, "{end:?} in chunks of {size}");
            }
        }
    }

    #[test]
    fn lines_and_whole_replies_are_recognized() {
        assert_eq!(split(Framing::Lines, "{\"a\":\"\\r\"}\r\n\n{}", 2), ["{\"a\":\"\\r\"}\r", "{}"]);
        assert_eq!(split(Framing::Events, "\n {\n\n\"a\": 1}", 3), ["\n {\n\n\"a\": 1}"]);
    }

    #[test]
    fn an_endless_line_and_an_endless_reply_are_errors() {
        for (framing, chunk) in [
            (Framing::Events, vec![b'x'; 1 << 20]),
            (Framing::Lines, vec![b'x'; 1 << 20]),
            (Framing::Events, b": ping\n".repeat(1 << 17)),
            (Framing::Events, b"data: x\n".repeat(1 << 17)),
        ] {
            let mut frames = Frames::new(framing);
            // Not from the beginning, to save time.
            frames.total = MAX_REPLY_BYTES - (32 << 20);
            while frames.push(&chunk).is_ok() {
                while frames.next().is_some() {}
                assert!(frames.total <= MAX_REPLY_BYTES);
            }
        }
    }
}
