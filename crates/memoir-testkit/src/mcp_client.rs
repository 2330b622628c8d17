//! A client of `memoir mcp serve` that sees every byte of the replies.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    process::{Child, ChildStdin, ChildStdout, Stdio},
};

use serde_json::{Value, json};

use crate::ProgramRun;

/// The revision of the protocol that a client uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum McpRevision {
    /// With a handshake, and questions as requests of the server.
    V2025,
    /// Without state: every request describes the client.
    V2026,
}

impl McpRevision {
    const fn as_str(self) -> &'static str {
        match self {
            Self::V2025 => "2025-11-25",
            Self::V2026 => "2026-07-28",
        }
    }
}

/// A running server and the client's end of its pipes.
pub struct McpClient {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    revision: McpRevision,
    capabilities: Value,
    last_id: u64,
    /// Answer to the questions of the server, if the client can ask.
    consent: Option<bool>,
    /// What happens while the user thinks about a question.
    meanwhile: Option<Box<dyn FnMut()>>,
}

impl McpClient {
    /// Starts a server and connects to it. `consent` is how the user answers questions; without it, the client cannot ask.
    pub fn start(run: ProgramRun, revision: McpRevision, consent: Option<bool>) -> Self {
        let mut child = run.spawn_with_pipes(Stdio::inherit());
        let capabilities = match consent {
            Some(_) => json!({"elicitation": {"form": {}}}),
            None => json!({}),
        };
        let (stdin, stdout) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut client =
            Self { child, stdin, stdout, revision, capabilities, last_id: 0, consent, meanwhile: None };
        if revision == McpRevision::V2025 {
            let capabilities = client.capabilities.clone();
            client.request(
                "initialize",
                json!({"protocolVersion": revision.as_str(), "capabilities": capabilities, "clientInfo": client_info()}),
            );
            client.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        }
        client
    }

    /// Sets what happens between each question of the server and the answer.
    pub fn while_asked(&mut self, action: impl FnMut() + 'static) {
        self.meanwhile = Some(Box::new(action));
    }

    /// Sends a request and returns its whole reply.
    pub fn request(&mut self, method: &str, mut parameters: Value) -> Value {
        if self.revision == McpRevision::V2026 {
            parameters["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": self.revision.as_str(),
                "io.modelcontextprotocol/clientInfo": client_info(),
                "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            });
        }
        self.last_id += 1;
        self.write(&json!({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": parameters}));
        loop {
            let message = self.read();
            match (message["method"].as_str(), message["id"].as_u64()) {
                (Some("elicitation/create"), _) => {
                    let answer = self.answer();
                    self.write(&json!({"jsonrpc": "2.0", "id": message["id"], "result": answer}));
                }
                (None, Some(id)) if id == self.last_id => return message,
                _ => {}
            }
        }
    }

    /// Calls a tool and returns its result. Answers the questions of the server.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let reply = self.request("tools/call", json!({"name": tool, "arguments": arguments}));
        let result = &reply["result"];
        if result["resultType"] != "input_required" {
            return reply["result"].clone();
        }
        let names: Vec<String> = result["inputRequests"].as_object().unwrap().keys().cloned().collect();
        let answers: serde_json::Map<String, Value> =
            names.into_iter().map(|name| (name, self.answer())).collect();
        let retry = json!({
            "name": tool, "arguments": arguments, "inputResponses": answers, "requestState": result["requestState"],
        });
        self.request("tools/call", retry)["result"].clone()
    }

    fn answer(&mut self) -> Value {
        if let Some(meanwhile) = &mut self.meanwhile {
            meanwhile();
        }
        match self.consent {
            Some(consent) => json!({"action": "accept", "content": {"forget": consent}}),
            None => json!({"action": "cancel"}),
        }
    }

    fn write(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Sends a line as it is.
    pub fn write_line(&mut self, line: &str) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        assert!(self.stdout.read_line(&mut line).unwrap() > 0, "the server closed its output");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error} in {line}"))
    }

    /// Returns the process id of the server.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Closes the client's end, and returns the exit code of the server.
    pub fn close(mut self) -> Option<i32> {
        drop(self.stdin.take());
        self.child.wait().unwrap().code()
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        // It has ended already, unless a test failed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn client_info() -> Value {
    json!({"name": "test-client", "version": "1"})
}
