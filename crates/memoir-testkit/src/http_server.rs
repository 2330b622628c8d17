//! A running `memoir serve`, and a client for it.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    process::{Child, Stdio},
};

use serde_json::Value;
use tokio::runtime::Runtime;

use crate::{ProgramRun, TestHome, WAIT_TIMEOUT};

/// An answer of the server.
#[derive(Debug)]
pub struct HttpReply {
    /// HTTP status.
    pub status: u16,
    /// Names and values of the headers.
    pub headers: reqwest::header::HeaderMap,
    /// The body.
    pub body: String,
}

impl HttpReply {
    /// Returns the body as JSON.
    ///
    /// # Panics
    ///
    /// Panics if the status or the body is not that of a successful request.
    pub fn json(&self) -> Value {
        assert!((200..300).contains(&self.status), "{}: {}", self.status, self.body);
        serde_json::from_str(&self.body).unwrap()
    }

    /// Returns a header, or an empty text.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Returns the status and the detail of a problem.
    ///
    /// # Panics
    ///
    /// Panics if the answer is not a problem in the format of RFC 9457.
    pub fn problem(&self) -> (u16, String) {
        assert_eq!(self.header("content-type"), "application/problem+json", "{}", self.body);
        let problem: Value = serde_json::from_str(&self.body).unwrap();
        assert_eq!(problem["status"], self.status);
        (self.status, problem["detail"].as_str().unwrap().to_owned())
    }
}

/// A running server. It is killed when it is dropped.
pub struct HttpServer {
    process: Child,
    /// Address and port.
    pub address: String,
    /// The token for programs on this machine.
    pub token: String,
    runtime: Runtime,
    client: reqwest::Client,
}

impl HttpServer {
    /// Starts `memoir serve` on a free port with further arguments.
    pub fn start(home: &TestHome, arguments: &[&str]) -> Self {
        let arguments = ["serve", "--listen", "127.0.0.1:0"].iter().chain(arguments);
        Self::run(home, home.memoir(arguments))
    }

    /// Returns a builder of clients, with a library for TLS.
    pub fn client_builder() -> reqwest::ClientBuilder {
        // Another test may have installed it.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // The server closes a connection whose request it refuses halfway.
        reqwest::Client::builder().pool_max_idle_per_host(0)
    }

    /// Starts a prepared run of `memoir serve`.
    pub fn run(home: &TestHome, run: ProgramRun) -> Self {
        Self::run_for(home, run, Self::client_builder().build().unwrap())
    }

    /// Starts a prepared run of `memoir serve`, and connects to it with a client of the caller.
    pub fn run_for(home: &TestHome, run: ProgramRun, client: reqwest::Client) -> Self {
        let mut process = run.spawn_with_pipes(Stdio::inherit());
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.split("://").nth(1).and_then(|rest| rest.split(". ").next());
        let address = address.unwrap_or_else(|| panic!("the server did not start: {line}")).to_owned();
        let token = std::fs::read_to_string(home.memoir_home().join("serve.token")).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        Self { process, address, token: token.trim().to_owned(), runtime, client }
    }

    /// Returns the address of a page.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Gets a page with the local token.
    pub fn get(&self, path: &str) -> HttpReply {
        self.send(self.client.get(self.url(path)).bearer_auth(&self.token))
    }

    /// Posts JSON with the local token.
    pub fn post(&self, path: &str, body: &Value) -> HttpReply {
        self.post_as(&self.token, path, body)
    }

    /// Posts JSON with another token.
    pub fn post_as(&self, token: &str, path: &str, body: &Value) -> HttpReply {
        self.send(self.client.post(self.url(path)).bearer_auth(token).json(body))
    }

    /// Gets a page with another token.
    pub fn get_as(&self, token: &str, path: &str) -> HttpReply {
        self.send(self.client.get(self.url(path)).bearer_auth(token))
    }

    /// Returns the client, to build any request.
    pub fn client(&self) -> &reqwest::Client {
        &self.client
    }

    /// Sends a request and returns the whole answer.
    pub fn send(&self, request: reqwest::RequestBuilder) -> HttpReply {
        self.runtime.block_on(async {
            let response = request.timeout(WAIT_TIMEOUT).send().await.unwrap();
            let (status, headers) = (response.status().as_u16(), response.headers().clone());
            HttpReply { status, headers, body: response.text().await.unwrap() }
        })
    }

    /// Opens a connection that a test writes to as it likes.
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(WAIT_TIMEOUT)).unwrap();
        stream
    }

    /// Sends bytes as they are, and returns everything that the server sends until it closes the connection.
    pub fn send_bytes(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        // The server may have refused the request before it has read all of it.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// Returns the process id.
    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Asks the server to stop, and returns its exit code.
    pub fn stop(self) -> Option<i32> {
        self.stop_with("TERM")
    }

    /// Asks the server to stop with a signal, and returns its exit code.
    pub fn stop_with(mut self, signal: &str) -> Option<i32> {
        let pid = self.process.id().to_string();
        let status = std::process::Command::new("kill").args(["-s", signal, &pid]).status().unwrap();
        assert!(status.success());
        self.process.wait().unwrap().code()
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        // It has ended already if a test stopped it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
