//! Stdin and stdout of a server, which another process can take over.
//!
//! A server that has been idle for a while starts over as a new process image, because only that returns all memory:
//! allocators keep what is freed, and pages of the program stay resident. Stdin, stdout and the process id remain, so the
//! client notices nothing. The new process is given the client's handshake, answers it, and does not send the answer.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, ready},
    thread,
};

use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::mpsc,
};

/// Maximum length of a handshake that is kept. Longer ones do not fit into the arguments of a process.
const MAX_HANDSHAKE_BYTES: usize = 64 * 1024;

/// Number of bytes to read at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// Opens the connection. `handshake` is that of the process before this one, if there was one.
pub(super) fn open<O>(stdout: O, handshake: Option<&str>) -> (Input, Output<O>, Line) {
    let line = Line::default();
    let (sender, chunks) = mpsc::channel(1);
    if let Some(handshake) = handshake {
        line.state().handshake = Handshake::Known(handshake.to_owned());
    }
    let reader = line.clone();
    // The last read may block until the process ends, which a task of the runtime may not.
    thread::spawn(move || reader.read_stdin(&sender));
    let handshake = handshake.unwrap_or_default();
    let input = Input { chunks, chunk: handshake.as_bytes().to_vec() };
    // The first line is the answer to the handshake, which the client has already.
    let output = Output { stdout, is_muted: !handshake.is_empty() };
    (input, output, line)
}

/// The connection to the client, and what is known about it.
#[derive(Clone, Default)]
pub(super) struct Line(Arc<(Mutex<LineState>, Condvar)>);

#[derive(Default)]
struct LineState {
    handshake: Handshake,
    /// Whether the client has sent something since the last look.
    is_fresh: bool,
    /// Whether a part of a message has been read.
    is_inside_message: bool,
    is_paused: bool,
}

impl Line {
    fn state(&self) -> MutexGuard<'_, LineState> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns whether the client has sent something since the last call.
    pub(super) fn take_fresh(&self) -> bool {
        std::mem::take(&mut self.state().is_fresh)
    }

    /// Stops reading, so that another process can take the next message.
    pub(super) fn pause(&self) {
        self.state().is_paused = true;
    }

    pub(super) fn resume(&self) {
        self.state().is_paused = false;
        self.0.1.notify_all();
    }

    /// Returns the client's handshake, or `None` if another process could not continue.
    pub(super) fn handshake(&self) -> Option<String> {
        let state = self.state();
        match &state.handshake {
            Handshake::Known(text) if !state.is_inside_message => Some(text.clone()),
            _ => None,
        }
    }

    /// Reads stdin until the client closes it.
    fn read_stdin(&self, chunks: &mpsc::Sender<Vec<u8>>) {
        loop {
            let mut chunk = vec![0; CHUNK_BYTES];
            let length = wait_for_stdin().and_then(|()| {
                let state = self.0.1.wait_while(self.state(), |state| state.is_paused);
                let mut state = state.unwrap_or_else(PoisonError::into_inner);
                let length = read_stdin(&mut chunk)?;
                if let Some(last) = chunk[..length].last() {
                    state.is_fresh = true;
                    state.is_inside_message = *last != b'\n';
                    state.handshake.read(&chunk[..length]);
                }
                Ok(length)
            });
            match length {
                Ok(0) => return,
                Ok(length) => chunk.truncate(length),
                Err(error) => {
                    tracing::warn!(%error, "could not read stdin");
                    return;
                }
            }
            if chunks.blocking_send(chunk).is_err() {
                return;
            }
        }
    }
}

/// Whether another process can take over. The system must be able to wait for input without reading it: otherwise, what is
/// read last could be lost, and the state is locked while the server waits.
pub(super) const CAN_BE_TAKEN_OVER: bool = cfg!(unix);

/// Waits until there is something to read.
#[cfg(unix)]
fn wait_for_stdin() -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, poll};

    let stdin = io::stdin();
    rustix::io::retry_on_intr(|| poll(&mut [PollFd::new(&stdin, PollFlags::IN)], None))?;
    Ok(())
}

#[cfg(not(unix))]
fn wait_for_stdin() -> io::Result<()> {
    Ok(())
}

/// Reads what is there.
#[cfg(unix)]
fn read_stdin(chunk: &mut [u8]) -> io::Result<usize> {
    Ok(rustix::io::retry_on_intr(|| rustix::io::read(io::stdin(), &mut *chunk))?)
}

#[cfg(not(unix))]
fn read_stdin(chunk: &mut [u8]) -> io::Result<usize> {
    io::Read::read(&mut io::stdin(), chunk)
}

/// The messages at the start of a session that the server must have seen.
enum Handshake {
    /// The complete messages so far, and the beginning of the next one.
    Reading {
        messages: String,
        rest: Vec<u8>,
    },
    Known(String),
    TooLong,
}

impl Default for Handshake {
    fn default() -> Self {
        Self::Reading { messages: String::new(), rest: Vec::new() }
    }
}

impl Handshake {
    fn read(&mut self, bytes: &[u8]) {
        let Self::Reading { messages, rest } = self else { return };
        rest.extend_from_slice(bytes);
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let message = String::from_utf8_lossy(&rest[..=end]).into_owned();
            rest.drain(..=end);
            let method = serde_json::from_str::<Value>(&message).ok();
            match method.as_ref().and_then(|message| message["method"].as_str()) {
                Some("initialize") => messages.push_str(&message),
                Some("notifications/initialized") => {
                    *self = Self::Known(format!("{messages}{message}"));
                    return;
                }
                // Later revisions of the protocol have no handshake.
                _ if messages.is_empty() => {
                    *self = Self::Known(String::new());
                    return;
                }
                _ => {}
            }
        }
        if messages.len() + rest.len() > MAX_HANDSHAKE_BYTES {
            *self = Self::TooLong;
        }
    }
}

/// The messages of the client.
pub(super) struct Input {
    chunks: mpsc::Receiver<Vec<u8>>,
    /// The rest of the last chunk.
    chunk: Vec<u8>,
}

impl AsyncRead for Input {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { chunks, chunk } = self.get_mut();
        if chunk.is_empty() {
            match ready!(chunks.poll_recv(context)) {
                Some(next) => *chunk = next,
                None => return Poll::Ready(Ok(())),
            }
        }
        let length = chunk.len().min(buffer.remaining());
        buffer.put_slice(&chunk[..length]);
        chunk.drain(..length);
        Poll::Ready(Ok(()))
    }
}

/// The messages of the server.
pub(super) struct Output<O> {
    stdout: O,
    /// Whether the rest of the line is not sent.
    is_muted: bool,
}

impl<O: AsyncWrite + Unpin> AsyncWrite for Output<O> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let Self { stdout, is_muted } = self.get_mut();
        if *is_muted {
            let end = bytes.iter().position(|byte| *byte == b'\n');
            *is_muted = end.is_none();
            return Poll::Ready(Ok(end.map_or(bytes.len(), |end| end + 1)));
        }
        Pin::new(stdout).poll_write(context, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stdout).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stdout).poll_shutdown(context)
    }
}
