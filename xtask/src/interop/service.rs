//! A server that runs during a trial.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    os::unix::process::CommandExt as _,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use memoir_tools::{RegisteredGroup, spawn_registered};

/// Time limit for the start of a server.
const START_TIMEOUT: Duration = Duration::from_secs(120);

/// A running server. Its processes end when it is dropped.
pub(super) struct Service {
    pub(super) port: u16,
    process: Child,
    _group: RegisteredGroup,
}

impl Drop for Service {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill().and_then(|()| self.process.wait());
    }
}

impl Service {
    /// Starts a server on a free port, which `command` gets.
    pub(super) fn start(command: impl FnOnce(u16) -> Command) -> Result<Self, String> {
        let port = free_port()?;
        let mut command = command(port);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        let process = spawn_registered(|| command.spawn(), |child| Some(child.id()));
        let process = process.map_err(|error| error.to_string())?;
        let group = RegisteredGroup::new(Some(process.id()));
        Ok(Self { port, process, _group: group })
    }

    /// Waits until a path is answered with status 200.
    pub(super) fn ready(mut self, path: &str) -> Result<Self, String> {
        let deadline = Instant::now() + START_TIMEOUT;
        while Instant::now() < deadline {
            if status(self.port, path).is_some_and(|status| status == 200) {
                return Ok(self);
            }
            if let Ok(Some(status)) = self.process.try_wait() {
                return Err(format!("the server ended: {status}"));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Err("the server is not ready".into())
    }

    /// Waits until the server accepts connections.
    pub(super) fn listening(self) -> Result<Self, String> {
        let deadline = Instant::now() + START_TIMEOUT;
        while Instant::now() < deadline {
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return Ok(self);
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Err("the server does not listen".into())
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    listener.map(|address| address.port()).map_err(|error| error.to_string())
}

/// Returns the status with which a server answers.
fn status(port: u16, path: &str) -> Option<u16> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(2))).ok()?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n").ok()?;
    let mut start = [0; 12];
    stream.read_exact(&mut start).ok()?;
    String::from_utf8_lossy(&start).split(' ').nth(1)?.parse().ok()
}
