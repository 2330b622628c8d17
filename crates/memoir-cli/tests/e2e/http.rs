//! `memoir serve`: memory over HTTP.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpStream,
    path::Path,
};

use memoir_testkit::{HttpServer, TestHome, wait_until};
use serde_json::{Value, json};

use crate::{
    helpers::{import_conversations, import_exchanges},
    home,
};

const STATEMENT: &str = "The staging server of the shop listens on port 8443.";
const QUESTION: &str = "Which port does the staging server of the shop listen on?";

/// Creates a token and returns it.
fn issue(home: &TestHome, arguments: &[&str]) -> String {
    let arguments = ["serve", "token", "add"].iter().chain(arguments);
    home.memoir(arguments).succeed().trim().to_owned()
}

fn recall(server: &HttpServer, token: &str, project: &str) -> Value {
    let path = format!("/api/v1/recall?project={project}");
    server.post_as(token, &path, &json!({"question": QUESTION})).json()
}

#[test]
fn a_statement_is_remembered_recalled_corrected_and_forgotten() {
    let home = home();
    let server = HttpServer::start(&home, &[]);
    let stored = server.post("/api/v1/statements", &json!({"statement": STATEMENT, "program": "phone"}));
    assert_eq!(stored.status, 201);
    let id = stored.json()["exchange"].clone();
    let recalled = server.post("/api/v1/recall", &json!({"question": QUESTION})).json();
    assert_eq!((&recalled["answer"]["text"], &recalled["answer"]["exchange"]), (&json!(STATEMENT), &id));
    let passage = &recalled["passages"][0];
    assert_eq!((&passage["program"], &passage["by_program"]), (&json!("phone"), &json!(true)));
    assert_eq!(server.get(&format!("/api/v1/exchanges/{id}")).json()["prompt"], STATEMENT);

    let newer = "The staging server of the shop listens on port 9443 now.";
    let corrected = server.post("/api/v1/statements", &json!({"statement": newer})).json();
    assert_eq!(corrected["supersedes"][0]["exchange"], id, "{corrected}");
    let recalled = server.post("/api/v1/recall", &json!({"question": QUESTION})).json();
    assert_eq!(recalled["answer"]["text"], newer);

    let selection = json!({"exchanges": [id, corrected["exchange"]]});
    let preview = server.post("/api/v1/forget/preview", &selection).json();
    assert!(preview["items"][0].as_str().unwrap().contains("8443"), "{preview}");
    let other = json!({"selection": {"exchanges": [id]}, "plan": preview["plan"]});
    let (status, detail) = server.post("/api/v1/forget", &other).problem();
    assert_eq!((status, detail.as_str()), (409, "this is not what the preview listed"));
    let forgotten = json!({"selection": selection, "plan": preview["plan"]});
    assert_eq!(server.post("/api/v1/forget", &forgotten).json()["messages"], 4);
    let recalled = server.post("/api/v1/recall", &json!({"question": QUESTION})).json();
    assert_eq!((&recalled["answer"], &recalled["passages"]), (&Value::Null, &json!([])), "{recalled}");
    assert_eq!(server.stop(), Some(0));
    assert_eq!(home.files_containing("8443"), [""; 0], "nothing is left of it");
}

#[test]
fn a_statement_that_is_sent_again_is_stored_once() {
    let home = home();
    let server = HttpServer::start(&home, &[]);
    let send = |key: &str, statement: &str| {
        let request = server.client().post(server.url("/api/v1/statements")).bearer_auth(&server.token);
        server.send(request.header("idempotency-key", key).json(&json!({"statement": statement})))
    };
    let first = send("a-1", STATEMENT).json();
    assert_eq!(send("a-1", STATEMENT).json()["exchange"], first["exchange"]);
    assert_eq!(home.count("exchanges"), 1);
    // Without a key, a user who says something twice has said it twice.
    assert_ne!(send("a-2", STATEMENT).json()["exchange"], first["exchange"]);
    let (status, detail) = send("a-1", "Another statement.").problem();
    assert_eq!((status, detail.as_str()), (400, "another statement was sent with this key"));
    for key in ["", "with space", &"k".repeat(201)] {
        assert_eq!(send(key, STATEMENT).status, 400, "{key}");
    }

    let selection = json!({"exchanges": [first["exchange"]]});
    let plan = server.post("/api/v1/forget/preview", &selection).json()["plan"].clone();
    server.post("/api/v1/forget", &json!({"selection": selection, "plan": plan})).json();
    assert_eq!(send("a-1", STATEMENT).status, 410, "what was forgotten does not come back");
    assert_eq!(home.count("exchanges"), 1);
}

#[test]
fn lists_are_read_in_pages() {
    let home = home();
    let exchange = |number: usize| (format!("Question number {number}"), "An answer.".to_owned());
    let conversations: Vec<_> = (0..7).map(|number| vec![exchange(number)]).collect();
    import_conversations(&home, "/p", "2026-05-01T10:00:00Z", &conversations);
    let long: Vec<_> = (100..107).map(exchange).collect();
    import_exchanges(&home, "/q", "2026-06-01T10:00:00Z", &long);
    let server = HttpServer::start(&home, &[]);
    let read_all = |path: &str, list: &str| {
        let (mut items, mut cursor): (Vec<Value>, _) = (Vec::new(), String::new());
        loop {
            let page = server.get(&format!("{path}?limit=3{cursor}")).json();
            assert!(page[list].as_array().unwrap().len() <= 3);
            items.extend(page[list].as_array().unwrap().iter().cloned());
            match page["next"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return items,
            }
        }
    };
    let listed = read_all("/api/v1/conversations", "conversations");
    let all = server.get("/api/v1/conversations").json()["conversations"].clone();
    assert_eq!((json!(listed), listed.len()), (all, 8));
    let exchanges = read_all(&format!("/api/v1/conversations/{}/exchanges", listed[0]["id"]), "exchanges");
    let prompts: Vec<&str> = exchanges.iter().map(|exchange| exchange["prompt"].as_str().unwrap()).collect();
    let newest_first: Vec<String> = (100..107).rev().map(|number| exchange(number).0).collect();
    assert_eq!(prompts, newest_first);
    for path in ["?limit=0", "?limit=101", "?limit=x", "?cursor=abc"] {
        assert_eq!(server.get(&format!("/api/v1/conversations{path}")).problem().0, 400, "{path}");
    }
}

#[test]
fn a_token_sees_only_its_projects() {
    let home = home();
    import_exchanges(&home, "/shop", "2026-05-01T10:00:00Z", &[(STATEMENT.into(), "Noted.".into())]);
    import_exchanges(
        &home,
        "/bank",
        "2026-05-02T10:00:00Z",
        &[("A vault has 12 bolts.".into(), "Ok.".into())],
    );
    home.memoir(["worker", "run", "--until-idle"]).succeed();
    let shop = issue(&home, &["shop-agent", "--project", "/shop"]);
    let both = issue(&home, &["both", "--project", "/shop", "--project", "/bank"]);
    let server = HttpServer::start(&home, &[]);
    let answer = recall(&server, &shop, "/shop")["answer"]["text"].clone();
    assert_eq!(answer, STATEMENT);
    assert_eq!(recall(&server, &both, "/bank")["passages"], json!([]));
    let titles = |token: &str| {
        let page = server.get_as(token, "/api/v1/conversations").json();
        page["conversations"].as_array().unwrap().len()
    };
    assert_eq!((titles(&shop), titles(&server.token)), (1, 2));
    let (status, detail) = server.get_as(&both, "/api/v1/conversations").problem();
    assert_eq!((status, detail.as_str()), (400, "the token covers several projects"));
    for path in ["/api/v1/conversations?project=/bank", "/mcp/bank"] {
        let (status, detail) = server.get_as(&shop, path).problem();
        assert_eq!((status, detail.as_str()), (403, "the token does not cover this project"), "{path}");
    }
    // What exists elsewhere looks like what does not exist.
    let ids = server.get("/api/v1/conversations").json();
    let bank =
        ids["conversations"].as_array().unwrap().iter().find(|item| item["project"] == "/bank").unwrap();
    let path = |id: &str| format!("/api/v1/conversations/{id}");
    let hidden = server.get_as(&shop, &path(&bank["id"].to_string())).problem();
    let missing = server.get_as(&shop, &path("987654")).problem();
    assert_eq!((hidden.0, missing.0), (404, 404));
    assert_eq!(hidden.1.replace(&bank["id"].to_string(), "N"), missing.1.replace("987654", "N"));
}

/// Calls a method of MCP, and returns the reply and the session.
fn call_mcp(
    server: &HttpServer,
    token: &str,
    path: &str,
    session: Option<&str>,
    message: &Value,
) -> (u16, Value, String) {
    let request = server.client().post(server.url(path)).bearer_auth(token).json(message);
    let request = request.header("accept", "application/json, text/event-stream");
    let request = match session {
        Some(session) => request.header("mcp-session-id", session),
        None => request,
    };
    let reply = server.send(request);
    let events = reply.body.lines().filter_map(|line| line.strip_prefix("data: "));
    let message =
        events.filter_map(|data| serde_json::from_str(data).ok()).next_back().unwrap_or(Value::Null);
    (reply.status, message, reply.header("mcp-session-id").to_owned())
}

/// Begins a session of MCP and returns its id.
fn open_session(server: &HttpServer, token: &str, path: &str) -> String {
    let client = json!({"name": "test-client", "version": "1"});
    let parameters = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let hello = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": parameters});
    let (status, reply, session) = call_mcp(server, token, path, None, &hello);
    assert_eq!((status, &reply["result"]["serverInfo"]["name"]), (200, &json!("memoir")), "{reply}");
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(call_mcp(server, token, path, Some(&session), &ready).0, 202);
    session
}

#[test]
fn mcp_is_served_with_the_rights_of_the_token() {
    let home = home();
    import_exchanges(&home, "/shop", "2026-05-01T10:00:00Z", &[(STATEMENT.into(), "Noted.".into())]);
    home.memoir(["worker", "run", "--until-idle"]).succeed();
    let reader = issue(&home, &["reader"]);
    let server = HttpServer::start(&home, &[]);
    let session = open_session(&server, &server.token, "/mcp");
    let question = json!({"name": "recall", "arguments": {"question": QUESTION}});
    let ask = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": question});
    let call = |token: &str, path: &str, session: &str| call_mcp(&server, token, path, Some(session), &ask);
    let answer = |reply: &Value| reply["result"]["structuredContent"]["answer"].clone();
    let quoted = json!(format!("<memory>\n{STATEMENT}\n</memory>"));
    assert_eq!(answer(&call(&server.token, "/mcp", &session).1), quoted);

    let elsewhere = open_session(&server, &server.token, "/mcp/bank");
    assert_eq!(answer(&call(&server.token, "/mcp/bank", &elsewhere).1), Value::Null, "another project");
    let inside = open_session(&server, &server.token, "/mcp/shop");
    assert_eq!(answer(&call(&server.token, "/mcp/shop", &inside).1), quoted);

    let own = open_session(&server, &reader, "/mcp");
    assert_eq!(answer(&call(&reader, "/mcp", &own).1), quoted);
    assert_eq!(call(&reader, "/mcp", &session).0, 404, "the session of another token");
    assert_eq!(call(&server.token, "/mcp", &inside).0, 404, "the session of another project");
    let list = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"});
    let (_, tools, _) = call_mcp(&server, &reader, "/mcp", Some(&own), &list);
    let names: Vec<&Value> =
        tools["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["recall", "search", "fetch", "conversations", "why"]);
    let remember = json!({"name": "remember", "arguments": {"statement": "x"}});
    let remember = json!({"jsonrpc": "2.0", "id": 4, "method": "tools/call", "params": remember});
    let (_, refused, _) = call_mcp(&server, &reader, "/mcp", Some(&own), &remember);
    assert_eq!(refused["error"]["message"], "there is no tool remember");

    home.memoir(["serve", "token", "revoke", "reader"]).succeed();
    assert_eq!(call(&reader, "/mcp", &own).0, 401, "a session ends with its token");
}

#[test]
fn tokens_are_listed_and_revoked_and_the_local_one_is_created_once() {
    let home = home();
    let local = home.memoir(["serve", "token"]).succeed();
    assert_eq!(home.memoir(["serve", "token"]).succeed(), local);
    let secret = issue(&home, &["phone", "--rights", "write,read", "--project", "/p"]);
    let list: Value = home.memoir(["serve", "token", "list", "--json"]).json();
    let phone = &list["tokens"][1];
    assert_eq!((&phone["name"], &phone["rights"]), (&json!("phone"), &json!(["read", "write"])));
    let shown = home.memoir(["serve", "token", "list"]).succeed();
    assert!(shown.contains("phone: /p (read, write), created 20"), "{shown}");
    assert!(!shown.contains(&secret) && home.files_containing(secret.trim()).is_empty());
    assert_eq!(home.files_containing(local.trim()), ["serve.token"]);
    let taken = home.memoir(["serve", "token", "add", "phone"]).fail(2);
    assert!(taken.contains("there is a token phone already"), "{taken}");
    home.memoir(["serve", "token", "revoke", "phone"]).succeed();
    home.memoir(["serve", "token", "revoke", "phone"]).fail(2);
    home.memoir(["serve", "token", "revoke", "local"]).succeed();
    assert_ne!(home.memoir(["serve", "token"]).succeed(), local, "a new one is created");
}

#[test]
fn requests_are_logged_and_counted_without_what_was_asked() {
    let home = home();
    let server = HttpServer::start(&home, &[]);
    server.post("/api/v1/recall", &json!({"question": "Where is the walrus statue?"})).json();
    server.get("/api/v1/documents/walrus-notes");
    let metrics = server.get("/metrics").body;
    let counted = "memoir_http_requests_total{method=\"POST\",route=\"/api/v1/recall\",status=\"200\"} 1";
    assert!(metrics.contains(counted), "{metrics}");
    assert!(!metrics.contains("walrus") && metrics.ends_with("# EOF\n"));
    let log = home.memoir_home().join("memoir.log");
    wait_until("the log", || std::fs::read_to_string(&log).is_ok_and(|log| log.contains("/metrics")));
    let log = std::fs::read_to_string(log).unwrap();
    let line = "request token=\"local\" method=\"GET\" route=\"/api/v1/documents/{name}\" status=404";
    assert!(log.contains(line), "{log}");
    assert!(!log.contains("walrus") && !log.contains(&server.token), "{log}");
}

#[test]
fn a_server_that_stops_finishes_what_has_begun() {
    ["TERM", "INT"].into_iter().for_each(stop_during_a_request);
}

fn stop_during_a_request(signal: &str) {
    let home = home();
    let server = HttpServer::start(&home, &[]);
    let body = json!({"statement": STATEMENT}).to_string();
    let mut stream = server.connect();
    let head = format!(
        "POST /api/v1/statements HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n",
        server.address,
        server.token,
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    let in_flight = || server.get("/metrics").body.contains("memoir_http_requests_in_flight 2");
    wait_until("the request has begun", in_flight);
    let finish = std::thread::spawn(move || {
        // The server has been asked to stop by then or not; either way, it waits for the body.
        stream.write_all(body.as_bytes()).unwrap();
        let mut answer = String::new();
        std::io::Read::read_to_string(&mut stream, &mut answer).unwrap();
        answer
    });
    assert_eq!(server.stop_with(signal), Some(0), "{signal}");
    let answer = finish.join().unwrap();
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    assert_eq!(home.exchanges()[0].user_message, STATEMENT);
}

#[test]
fn a_server_with_a_certificate_speaks_tls() {
    let home = home();
    let certificate = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let (cert, key) = (home.workspace().join("cert.pem"), home.workspace().join("key.pem"));
    std::fs::write(&cert, certificate.cert.pem()).unwrap();
    std::fs::write(&key, certificate.signing_key.serialize_pem()).unwrap();
    let path = |path: &Path| path.to_str().unwrap().to_owned();
    let run = home.memoir([
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--tls-cert",
        &path(&cert),
        "--tls-key",
        &path(&key),
    ]);
    let trusted = reqwest::Certificate::from_pem(certificate.cert.pem().as_bytes()).unwrap();
    let client = HttpServer::client_builder().tls_certs_only([trusted]).build().unwrap();
    let server = HttpServer::run_for(&home, run, client);
    let url = format!("https://localhost:{}/healthz", server.address.rsplit(':').next().unwrap());
    let reply = server.send(server.client().get(url));
    assert_eq!((reply.status, reply.body.as_str()), (200, "ok\n"));
    let plain = server.send_bytes(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(!plain.contains("ok"), "{plain}");

    let exchanged = ["serve", "--tls-cert", &path(&key), "--tls-key", &path(&cert)];
    let refused = home.memoir(exchanged).fail(2);
    assert!(refused.contains("key.pem") || refused.contains("cert.pem"), "{refused}");
    home.memoir(["serve", "--tls-cert", "/nowhere.pem", "--tls-key", "/nowhere.pem"]).fail(2);
}

#[test]
fn core_memory_costs_and_tasks_are_for_administrators() {
    let home = home();
    home.memoir(["schedule", "add", "news", "--cron", "0 8 * * *", "What is new?"]).succeed();
    let reader = issue(&home, &["reader", "--rights", "read,write,forget"]);
    let refused = home.memoir(["serve", "token", "add", "x", "--project", "/p", "--rights", "admin"]).fail(2);
    assert!(refused.contains("not limited to projects"), "{refused}");
    let server = HttpServer::start(&home, &[]);
    let block = |path: &str, text: &str, version: u64| {
        let url = server.url(&format!("/api/v1/core-memory/{path}"));
        let body = json!({"text": text, "version": version});
        server.send(server.client().put(url).bearer_auth(&server.token).json(&body))
    };
    assert_eq!(block("user", "Sails a lot.", 0).json()["version"], 1);
    assert_eq!(block("user", "Never sails.", 0).problem().0, 409);
    assert_eq!(block("user", &"x".repeat(2001), 1).problem().0, 400);
    assert_eq!(block("other", "x", 0).problem().0, 404);
    let blocks = server.get("/api/v1/core-memory").json();
    assert_eq!(
        (&blocks["blocks"][0]["block"], &blocks["blocks"][0]["text"]),
        (&json!("user"), &json!("Sails a lot."))
    );
    assert_eq!(server.get("/api/v1/costs").json()["all"]["cost"], "$0.00");
    assert_eq!(server.get("/api/v1/tasks").json()["tasks"][0]["name"], "news");
    assert_eq!(server.get("/api/v1/inbox").json()["runs"], json!([]));
    for path in ["core-memory", "costs", "tasks", "inbox"] {
        assert_eq!(server.get_as(&reader, &format!("/api/v1/{path}")).problem().0, 403, "{path}");
    }
}

/// Watches for changes.
fn watch(server: &HttpServer, token: &str) -> BufReader<TcpStream> {
    let mut stream = server.connect();
    let head = format!(
        "GET /api/v1/events HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\r\n",
        server.address
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut events = BufReader::new(stream);
    read_until(&mut events, "text/event-stream");
    events
}

/// Reads up to a line that contains a text, and returns all lines.
fn read_until(events: &mut BufReader<TcpStream>, part: &str) -> String {
    let mut lines = String::new();
    while !lines.contains(part) {
        assert!(events.read_line(&mut lines).unwrap() > 0, "the stream ended: {lines}");
    }
    lines
}

#[test]
fn changes_are_published_as_they_happen() {
    let home = home();
    let shop = issue(&home, &["shop", "--project", "/shop"]);
    let server = HttpServer::start(&home, &[]);
    let (mut all, mut own) = (watch(&server, &server.token), watch(&server, &shop));
    // The first look at the memory sets the beginning.
    let mut number = 0;
    wait_until("changes are noticed", || {
        number += 1;
        let statement = json!({"statement": format!("Statement number {number}.")});
        server.post("/api/v1/statements?project=/bank", &statement).json();
        all.get_ref().set_read_timeout(Some(std::time::Duration::from_secs(2))).unwrap();
        let mut line = String::new();
        (0..4).any(|_| all.read_line(&mut line).is_ok() && line.contains("event: exchange"))
    });
    all.get_ref().set_read_timeout(Some(memoir_testkit::WAIT_TIMEOUT)).unwrap();
    // Another process stores something, too.
    import_exchanges(&home, "/shop", "2026-05-01T10:00:00Z", &[(STATEMENT.into(), "Noted.".into())]);
    let shown = read_until(&mut own, "event: exchange");
    assert_eq!(shown.matches("event: exchange").count(), 1, "another project: {shown}");
    let ids = read_until(&mut own, "data:");
    let ids: Value = serde_json::from_str(ids.trim().trim_start_matches("data: ")).unwrap();
    let exchange = server.get_as(&shop, &format!("/api/v1/exchanges/{}", ids["exchange"])).json();
    assert_eq!(exchange["prompt"], STATEMENT);
    home.memoir(["memory", "forget", "--conversation", &ids["conversation"].to_string(), "--yes"]).succeed();
    read_until(&mut own, "event: forgotten");
    read_until(&mut all, "event: forgotten");
    assert_eq!(server.stop(), Some(0), "a stream that would never end does not keep the server");
}

#[test]
fn a_unit_for_systemd_starts_the_server_with_its_options() {
    let home = home();
    let unit = home.memoir([
        "serve",
        "--tls-cert=cert.pem",
        "--tls-key",
        "key.pem",
        "--host",
        "hub",
        "--print-unit",
    ]);
    let unit = unit.succeed();
    let cert = home.workspace().canonicalize().unwrap().join("cert.pem");
    let options = format!(
        " serve \"--listen\" \"127.0.0.1:7373\" \"--host\" \"hub\" \"--tls-cert\" \"{}\"",
        cert.display()
    );
    assert!(unit.contains(&options), "{unit}");
    assert!(unit.contains("memoir-serve.service") && unit.contains("MEMOIR_HOME="), "{unit}");
}

#[test]
fn what_was_acknowledged_survives_a_killed_server() {
    let home = home();
    let server = HttpServer::start(&home, &[]);
    let mut streams: Vec<TcpStream> = (0..12).map(|_| server.connect()).collect();
    for (number, stream) in streams.iter_mut().enumerate() {
        let body = json!({"statement": format!("Locker {number} is painted green.")}).to_string();
        let request = format!(
            "POST /api/v1/statements HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            server.address,
            server.token,
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
    }
    // The first answer may be followed by others at any time.
    let mut status = String::new();
    BufReader::new(&streams[0]).read_line(&mut status).unwrap();
    drop(server);
    let is_acknowledged = |mut stream: TcpStream| {
        let mut answer = Vec::new();
        // The connection was reset.
        let _ = std::io::Read::read_to_end(&mut stream, &mut answer);
        String::from_utf8_lossy(&answer).starts_with("HTTP/1.1 201")
    };
    let mut acknowledged = vec![status.starts_with("HTTP/1.1 201")];
    acknowledged.extend(streams.drain(1..).map(is_acknowledged));
    assert!(acknowledged[0], "{status}");
    let stored: Vec<String> = home.exchanges().into_iter().map(|exchange| exchange.user_message).collect();
    for (number, _) in acknowledged.iter().enumerate().filter(|(_, is_acknowledged)| **is_acknowledged) {
        assert!(stored.contains(&format!("Locker {number} is painted green.")), "{number}: {stored:?}");
    }
    assert_eq!(HttpServer::start(&home, &[]).get("/healthz").status, 200);
}

#[test]
fn a_token_that_may_only_write_reads_nothing() {
    let home = home();
    let writer = issue(&home, &["writer", "--rights", "write,forget"]);
    let server = HttpServer::start(&home, &[]);
    server.post("/api/v1/statements", &json!({"statement": STATEMENT})).json();
    let newer = json!({"statement": "The staging server of the shop listens on port 9443 now."});
    let stored = server.post_as(&writer, "/api/v1/statements", &newer).json();
    assert_eq!(stored["supersedes"], json!([]), "{stored}");
    let session = open_session(&server, &writer, "/mcp");
    let call = |method: &str, parameters: Value| {
        let message = json!({"jsonrpc": "2.0", "id": 2, "method": method, "params": parameters});
        call_mcp(&server, &writer, "/mcp", Some(&session), &message).1
    };
    let remember = json!({"name": "remember", "arguments": {"statement": "The staging server of the shop listens on port 7443."}});
    let remembered = call("tools/call", remember);
    assert_eq!(remembered["result"]["structuredContent"]["supersedes"], json!([]), "{remembered}");
    let attempts = [
        ("resources/list", json!({})),
        ("resources/read", json!({"uri": "memoir://conversation/1"})),
        ("prompts/get", json!({"name": "recall", "arguments": {"question": QUESTION}})),
        ("tools/call", json!({"name": "recall", "arguments": {"question": QUESTION}})),
    ];
    for (method, parameters) in attempts {
        let reply = call(method, parameters);
        assert!(reply["error"].is_object() && !reply.to_string().contains("8443"), "{method}: {reply}");
    }
    let reply = server.post_as(
        &writer,
        "/v1/chat/completions",
        &json!({"model": "memoir/recall", "messages": [{"role": "user", "content": QUESTION}]}),
    );
    assert!(reply.status == 403 && !reply.body.contains("8443"), "{}", reply.body);
}
