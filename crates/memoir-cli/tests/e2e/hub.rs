//! `memoir mcp serve --url`: the memory of another machine.

use std::{
    io::{Read as _, Write as _},
    net::{Shutdown, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use memoir_testkit::{HttpServer, McpClient, McpRevision, TestHome, wait_until};
use serde_json::{Value, json};

use crate::home;

const REVISIONS: [McpRevision; 2] = [McpRevision::V2025, McpRevision::V2026];

const STATEMENT: &str = "The staging server of the shop listens on port 8443.";
const QUESTION: &str = "Which port does the staging server of the shop listen on?";

/// Connects to the memory at an address from a machine with a home of its own.
fn connect(home: &TestHome, address: &str, token: &str, revision: McpRevision) -> McpClient {
    let url = format!("http://{address}");
    let run = home.memoir(["mcp", "serve", "--url", &url, "--scope", "all"]).env("MEMOIR_TOKEN", token);
    McpClient::start(run, revision, Some(true))
}

fn remember(client: &mut McpClient, statement: &str) -> Value {
    let result = client.call("remember", json!({"statement": statement}));
    assert_eq!(result["isError"], false, "{result}");
    result["structuredContent"].clone()
}

/// Returns the statements that the hub has stored, the oldest first.
fn stored(server: &HttpServer) -> Vec<String> {
    let page = server.get("/api/v1/conversations").json();
    let mut titles: Vec<(i64, String)> = page["conversations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|conversation| {
            (conversation["id"].as_i64().unwrap(), conversation["title"].as_str().unwrap().to_owned())
        })
        .collect();
    titles.sort();
    titles.into_iter().map(|(_, title)| title).collect()
}

#[test]
fn a_statement_is_remembered_recalled_and_forgotten_at_the_hub() {
    for revision in REVISIONS {
        let (hub, laptop) = (home(), home());
        let server = HttpServer::start(&hub, &[]);
        let mut client = connect(&laptop, &server.address, &server.token, revision);
        let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
        assert_eq!(tools.as_array().unwrap().len(), 7);
        let id = remember(&mut client, STATEMENT)["id"].clone();
        let recalled = client.call("recall", json!({"question": QUESTION}))["structuredContent"].clone();
        assert_eq!(recalled["answer"], format!("<memory>\n{STATEMENT}\n</memory>"), "{recalled}");
        let newer = remember(&mut client, "The staging server of the shop listens on port 9443 now.");
        assert_eq!(newer["supersedes"][0]["id"], id, "{newer}");
        // The program on the laptop made it.
        let exchange = server.get("/api/v1/exchanges/1").json();
        assert_eq!(exchange["program"], "test-client", "{exchange}");

        let forgotten = client.call("forget", json!({"ids": [id, newer["id"]]}));
        assert_eq!(forgotten["structuredContent"], json!({"forgotten": true, "messages": 4, "documents": 0}));
        assert_eq!(stored(&server), [""; 0]);
        assert_eq!(client.close(), Some(0));
        assert_eq!(laptop.files_containing("8443"), [""; 0], "this machine keeps no copy");
    }
}

#[test]
fn statements_wait_for_a_hub_that_is_not_there() {
    let (hub, laptop) = (home(), home());
    let server = HttpServer::start(&hub, &[]);
    let (address, token) = (server.address.clone(), server.token.clone());
    server.stop();
    let mut client = connect(&laptop, &address, &token, McpRevision::V2026);
    let statements: Vec<String> =
        (1..=4).map(|number| format!("Shelf {number} holds the tools of team {number}.")).collect();
    for statement in &statements[..2] {
        let result = remember(&mut client, statement);
        let waits = result["waits"].as_str().unwrap();
        assert!(waits.contains("the hub cannot be reached"), "{waits}");
    }
    let failed = client.call("recall", json!({"question": QUESTION}));
    let text = failed["content"][0]["text"].as_str().unwrap();
    assert!(failed["isError"] == true && text.contains("the hub cannot be reached"), "{failed}");
    // The process is killed. What it accepted is on disk.
    drop(client);

    let server = HttpServer::run(&hub, hub.memoir(["serve", "--listen", &address]));
    let mut client = connect(&laptop, &address, &token, McpRevision::V2026);
    wait_until("what waited is sent", || stored(&server).len() == 2);
    for statement in &statements[2..] {
        assert_eq!(remember(&mut client, statement)["waits"], Value::Null);
    }
    assert_eq!(stored(&server), statements, "in their order, and once");
}

/// A network that loses the answers to the first requests that store something.
pub(crate) fn lose_answers(address: &str, count: usize) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let lossy = listener.local_addr().unwrap().to_string();
    let lost = Arc::new(AtomicUsize::new(0));
    let (address, counter) = (address.to_owned(), Arc::clone(&lost));
    thread::spawn(move || {
        for client in listener.incoming() {
            let (mut client, mut hub) = (client.unwrap(), TcpStream::connect(&address).unwrap());
            let counter = Arc::clone(&counter);
            thread::spawn(move || {
                let mut buffer = [0; 64 * 1024];
                while let Ok(length @ 1..) = client.read(&mut buffer) {
                    hub.write_all(&buffer[..length]).unwrap();
                    let is_stored = [&b"POST /api/v1/statements"[..], b"POST /api/v1/exchanges"]
                        .iter()
                        .any(|route| buffer.starts_with(route));
                    // Headers and body may arrive apart.
                    if is_stored && !buffer[..length].ends_with(b"}") {
                        let length = client.read(&mut buffer).unwrap();
                        hub.write_all(&buffer[..length]).unwrap();
                    }
                    let Ok(length @ 1..) = hub.read(&mut buffer) else { break };
                    if is_stored && counter.fetch_add(1, Ordering::SeqCst) < count {
                        break;
                    }
                    if client.write_all(&buffer[..length]).is_err() {
                        break;
                    }
                }
                let _ = (client.shutdown(Shutdown::Both), hub.shutdown(Shutdown::Both));
            });
        }
    });
    (lossy, lost)
}

#[test]
fn a_statement_whose_answer_was_lost_is_stored_once() {
    let (hub, laptop) = (home(), home());
    let server = HttpServer::start(&hub, &[]);
    let (address, lost) = lose_answers(&server.address, 2);
    let mut client = connect(&laptop, &address, &server.token, McpRevision::V2025);
    assert!(remember(&mut client, "The key of the shed hangs behind the door.")["waits"].is_string());
    assert!(remember(&mut client, "The ladder is in the cellar.")["waits"].is_string());
    assert_eq!(remember(&mut client, "The saw is in the garage.")["waits"], Value::Null);
    assert!(lost.load(Ordering::SeqCst) >= 5, "two answers were lost, and three arrived");
    let expected = [
        "The key of the shed hangs behind the door.",
        "The ladder is in the cellar.",
        "The saw is in the garage.",
    ];
    assert_eq!(stored(&server), expected);
}

#[test]
fn a_statement_that_the_hub_refuses_does_not_hold_up_the_others() {
    let (hub, laptop) = (home(), home());
    let server = HttpServer::start(&hub, &[]);
    let mut client = connect(&laptop, &server.address, &server.token, McpRevision::V2026);
    let refused = client.call("remember", json!({"statement": "word ".repeat(4000)}));
    assert_eq!(refused["isError"], true, "{refused}");
    assert_eq!(remember(&mut client, STATEMENT)["waits"], Value::Null);
    assert_eq!(stored(&server), [STATEMENT]);
}

#[test]
fn secrets_do_not_leave_this_machine() {
    let (hub, laptop) = (home(), home());
    let server = HttpServer::start(&hub, &[]);
    let key = format!("AKIA{}", "Q3EGRZ7XKNW5T2LM");
    let mut client = connect(&laptop, &server.address, &server.token, McpRevision::V2026);
    remember(&mut client, &format!("The key of the bucket is {key}."));
    assert_eq!(laptop.files_containing(&key), [""; 0]);
    assert!(!stored(&server)[0].contains(&key));
}

#[test]
fn what_is_missing_or_unsafe_is_said_in_one_sentence() {
    let laptop = home();
    let serve = |url: &str| laptop.memoir(["mcp", "serve", "--url", url]);
    let error = serve("http://127.0.0.1:7373").fail(2);
    assert!(error.contains("needs a token") && error.contains("MEMOIR_TOKEN"), "{error}");
    for (url, reason) in [
        ("http://hub.example:7373", "would send your token over the network unencrypted"),
        ("hub.example", "is not an address"),
        ("https://hub.example/mcp", "has a path"),
    ] {
        let error = serve(url).env("MEMOIR_TOKEN", "memoir_1_x").fail(2);
        assert!(error.contains(reason), "{error}");
    }

    let hub = home();
    let server = HttpServer::start(&hub, &[]);
    let mut client = connect(&laptop, &server.address, "memoir_1_wrong", McpRevision::V2026);
    let result = remember(&mut client, STATEMENT);
    assert!(result["waits"].as_str().unwrap().contains("does not let this machine in"), "{result}");
    let failed = client.call("recall", json!({"question": QUESTION}));
    assert!(failed["content"][0]["text"].as_str().unwrap().contains("MEMOIR_TOKEN"), "{failed}");
    drop(client);
    // With the right token, it is sent after all.
    let client = connect(&laptop, &server.address, &server.token, McpRevision::V2026);
    wait_until("what waited is sent", || stored(&server) == [STATEMENT]);
    drop(client);
}

#[test]
fn a_machine_sees_the_project_that_its_token_covers() {
    let (hub, laptop) = (home(), home());
    let server = HttpServer::start(&hub, &[]);
    let token = hub
        .memoir(["serve", "token", "add", "laptop", "--project", "/shop", "--rights", "read,write"])
        .succeed()
        .trim()
        .to_owned();
    server
        .post("/api/v1/statements?project=/office", &json!({"statement": "The office closes at six."}))
        .json();
    let url = format!("http://{}", server.address);
    let open = |arguments: &[&str]| {
        let arguments = ["mcp", "serve", "--url", &url].into_iter().chain(arguments.iter().copied());
        McpClient::start(laptop.memoir(arguments).env("MEMOIR_TOKEN", &token), McpRevision::V2026, None)
    };
    let mut shop = open(&["--project", "/shop"]);
    assert_eq!(remember(&mut shop, STATEMENT)["waits"], Value::Null);
    let recalled = shop.call("recall", json!({"question": QUESTION}))["structuredContent"].clone();
    assert_eq!(recalled["passages"][0]["project"], "/shop", "{recalled}");
    let recalled = shop.call("recall", json!({"question": "When does the office close?"}));
    assert!(!recalled.to_string().contains("at six"), "{recalled}");
    let refused = open(&[]).call("recall", json!({"question": QUESTION}));
    assert_eq!(refused["isError"], true, "{refused}");
}
