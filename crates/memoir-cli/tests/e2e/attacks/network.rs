//! Servers that send keys elsewhere or never stop answering.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener},
    thread::JoinHandle,
};

use memoir_testkit::{Reply, ScriptedProvider};
use serde_json::json;

use crate::{confinement::calls, home, providers::PROVIDERS};

#[test]
fn keys_and_prompts_do_not_follow_redirects() {
    for (model, url, key, _) in PROVIDERS {
        for status in [301, 302, 303, 307, 308] {
            let thief = ScriptedProvider::always(Reply::text("stolen"));
            let address = format!("{}/v1/chat/completions", thief.root_url());
            let redirect = Reply::status_with_body(status, "").header("location", &address);
            let provider = ScriptedProvider::always(redirect);
            let home = home();
            let run = home.memoir(["--model", model, "-p", "my secret plan"]);
            let stderr = run.env(url, provider.root_url()).env(key, "secret").fail(1);
            assert!(
                stderr.contains(&format!("redirects to another address (status {status})"))
                    && stderr.contains("Set the base URL to the final address."),
                "{model}: {stderr}"
            );
            assert!(!provider.requests().is_empty(), "{model}");
            assert!(thief.requests().is_empty() && thief.other_requests().is_empty(), "{model} {status}");
        }
    }
}

/// Starts a server that sends `reply` to the first request, and then `more` as long as the client reads.
fn serve(reply: String, more: &'static [u8]) -> (SocketAddr, JoinHandle<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 4096];
        assert!(stream.read(&mut request).unwrap() > 0);
        stream.write_all(reply.as_bytes()).unwrap();
        let mut sent = 0;
        while !more.is_empty() && stream.write_all(more).is_ok() {
            sent += more.len();
        }
        sent
    });
    (address, server)
}

#[test]
fn searches_do_not_follow_redirects() {
    let thief = ScriptedProvider::always(Reply::text("stolen"));
    let location = format!("{}/search", thief.root_url());
    let reply = format!(
        "HTTP/1.1 307 Elsewhere\r\nlocation: {location}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
    );
    let (address, server) = serve(reply, b"");
    let home = home();
    home.write_config(&format!("[search]\nservice = \"searxng\"\nurl = \"http://{address}\"\n"));
    let results = calls(&home, "full", &[("search_internet", json!({"query": "my secret plan"}))]);
    server.join().unwrap();
    assert!(results[0].contains("redirects to another address"), "{results:?}");
    assert!(thief.requests().is_empty() && thief.other_requests().is_empty());
}

#[test]
fn an_endless_search_reply_is_cut_off() {
    const SPACES: &[u8] = &[b' '; 65536];
    let reply = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";
    let (address, server) = serve(reply.to_owned(), SPACES);
    let home = home();
    home.write_config(&format!("[search]\nservice = \"searxng\"\nurl = \"http://{address}\"\n"));
    let results = calls(&home, "full", &[("search_internet", json!({"query": "old lighthouses"}))]);
    assert!(results[0].contains("the reply is longer than 4 MB"), "{results:?}");
    // The rest is what the operating system had buffered.
    let sent = server.join().unwrap();
    assert!(sent < 40_000_000, "{sent} bytes were sent");
}

#[test]
fn an_endless_line_of_a_model_is_cut_off() {
    const LETTERS: &[u8] = &[b'x'; 65536];
    let reply = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\ndata: ";
    let (address, server) = serve(reply.to_owned(), LETTERS);
    let home = home();
    let run = home.memoir(["-p", "hello", "--model", "openai/gpt-5-mini"]).env("OPENAI_API_KEY", "any");
    let stderr = run.env("OPENAI_BASE_URL", format!("http://{address}/v1")).fail(1);
    assert!(stderr.contains("invalid response: it is too large"), "{stderr}");
    let sent = server.join().unwrap();
    assert!(sent < 60_000_000, "{sent} bytes were sent");
}

#[test]
fn endless_arguments_of_a_call_are_cut_off() {
    let home = home();
    let part =
        json!({"index": 0, "id": "c1", "function": {"name": "file_read", "arguments": "x".repeat(100_000)}});
    let frame = format!("data: {}\n\n", json!({"choices": [{"delta": {"tool_calls": [part]}}]}));
    let call = Reply::text("").and_garbage(&frame.repeat(50));
    let provider = ScriptedProvider::start([call, Reply::text("Done.")]);
    let run = home.memoir(["-p", "hello", "--model", "openai/gpt-5-mini"]);
    let stderr = run.provider(&provider).fail(1);
    assert!(stderr.contains("the arguments of a tool call are too long"), "{stderr}");
}

#[test]
fn an_endless_answer_is_cut_off() {
    let home = home();
    let provider = ScriptedProvider::start([Reply::text(&"word ".repeat(2_000_000)).in_chunks_of(50_000)]);
    let output = home.memoir(["-p", "hello"]).provider(&provider).output();
    let (stdout, stderr) = (output.stdout.len(), String::from_utf8(output.stderr).unwrap());
    assert!(output.status.success() && (3_000_000..=4_100_000).contains(&stdout), "{stdout}: {stderr}");
    assert!(stderr.contains("The answer was cut off after 4 MB."), "{stderr}");
}
