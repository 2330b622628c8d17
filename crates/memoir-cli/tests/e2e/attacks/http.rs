//! Attacks on `memoir serve` from the network and from other pages in the user's browser.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    time::Instant,
};

use memoir_testkit::{HttpServer, Reply, ScriptedProvider, wait_until};
use serde_json::json;

use crate::home;

/// Every page that needs a token, with a method that it supports.
const PRIVATE: [(&str, &str); 25] = [
    ("GET", "/api/v1/events"),
    ("GET", "/api/v1/core-memory"),
    ("PUT", "/api/v1/core-memory/user"),
    ("GET", "/api/v1/costs"),
    ("GET", "/api/v1/tasks"),
    ("GET", "/api/v1/inbox"),
    ("GET", "/api/v1/health"),
    ("POST", "/api/v1/recall"),
    ("POST", "/api/v1/search"),
    ("GET", "/api/v1/conversations"),
    ("GET", "/api/v1/conversations/1"),
    ("GET", "/api/v1/conversations/1/exchanges"),
    ("GET", "/api/v1/exchanges/1"),
    ("GET", "/api/v1/documents"),
    ("GET", "/api/v1/documents/x"),
    ("POST", "/api/v1/statements"),
    ("POST", "/api/v1/exchanges"),
    ("POST", "/api/v1/forget/preview"),
    ("POST", "/api/v1/forget"),
    ("PUT", "/api/v1/documents?name=x.md"),
    ("GET", "/api/v1/workers"),
    ("GET", "/api/v1/export"),
    ("PUT", "/api/v1/tasks/x"),
    ("POST", "/api/v1/inbox/read"),
    ("POST", "/mcp"),
];

#[test]
fn nothing_is_answered_without_a_valid_token() {
    let home = home();
    let server = HttpServer::start(&home, &[]);
    server.post("/api/v1/statements", &json!({"statement": "The walrus is in the pool."})).json();
    let revoked = home.memoir(["serve", "token", "add", "old"]).succeed();
    home.memoir(["serve", "token", "revoke", "old"]).succeed();
    let local = server.token.clone();
    let wrong = [
        None,
        Some(String::new()),
        Some("Bearer".to_owned()),
        Some("Bearer ".to_owned()),
        Some(format!("Bearer {}", revoked.trim())),
        Some(format!("Bearer {}", &local[..local.len() - 1])),
        Some(format!("Bearer {local}x")),
        Some(format!("Bearer {}", local.to_uppercase())),
        Some(format!("Basic {local}")),
        Some(format!("Bearer {local} {local}")),
        Some("Bearer ' OR 1=1 --".to_owned()),
    ];
    let pages =
        PRIVATE.iter().chain(&[("GET", "/metrics"), ("GET", "/mcp"), ("DELETE", "/mcp"), ("POST", "/mcp/p")]);
    for (method, path) in pages {
        for token in &wrong {
            let request = server.client().request(method.parse().unwrap(), server.url(path)).body("{}");
            let request = match token {
                Some(token) => request.header("authorization", token),
                None => request,
            };
            let reply = server.send(request);
            assert_eq!(
                reply.problem(),
                (401, "a valid token is needed".to_owned()),
                "{method} {path} {token:?}"
            );
            assert_eq!(reply.header("www-authenticate"), "Bearer realm=\"memoir\"");
        }
    }
    // A token in the address would end up in logs and histories.
    assert_eq!(server.get_as("", &format!("/api/v1/health?token={local}")).status, 401);
}

#[test]
fn a_token_does_only_what_it_allows() {
    let home = home();
    let server = HttpServer::start(&home, &[]);
    let id = server.post("/api/v1/statements", &json!({"statement": "The walrus is in the pool."})).json();
    let issue = |name: &str, rights: &str| {
        home.memoir(["serve", "token", "add", name, "--rights", rights]).succeed().trim().to_owned()
    };
    let (reader, writer) = (issue("reader", "read"), issue("writer", "write"));
    let selection = json!({"exchanges": [id["exchange"]]});
    let refused = |reply: memoir_testkit::HttpReply, right: &str| {
        assert_eq!(reply.problem(), (403, format!("the token lacks the right to {right}")));
    };
    refused(server.post_as(&reader, "/api/v1/statements", &json!({"statement": "x"})), "write");
    refused(server.post_as(&reader, "/api/v1/forget/preview", &selection), "forget");
    refused(
        server.post_as(&reader, "/api/v1/forget", &json!({"selection": selection, "plan": ""})),
        "forget",
    );
    refused(server.get_as(&reader, "/metrics"), "admin");
    refused(server.post_as(&writer, "/api/v1/recall", &json!({"question": "walrus"})), "read");
    refused(server.get_as(&writer, "/api/v1/conversations"), "read");
    assert_eq!(home.exchanges().len(), 1);
}

#[test]
fn nothing_that_is_sent_makes_the_server_fetch_an_address() {
    let home = home();
    // What the attacker wants to reach from inside.
    let inside = TcpListener::bind("127.0.0.1:0").unwrap();
    inside.set_nonblocking(true).unwrap();
    let url = format!("http://{}", inside.local_addr().unwrap());
    let provider = ScriptedProvider::always(Reply::text("Fine."));
    let run = home.memoir(["serve", "--listen", "127.0.0.1:0"]).provider(&provider);
    let server = HttpServer::run(&home, run);
    let upload = |name: &str, text: String| {
        let request = server.client().put(server.url(&format!("/api/v1/documents?name={name}")));
        server.send(request.bearer_auth(&server.token).body(text))
    };
    let page = format!(
        "<!DOCTYPE html [<!ENTITY inside SYSTEM '{url}/entity'>]><html><head><base href='{url}'>
         <link rel=stylesheet href='{url}/style'><meta http-equiv=refresh content='0; url={url}'>
         <script src='{url}/script'></script></head><body>Harbour plan &inside;
         <img src='{url}/image'><iframe src='{url}/frame'></iframe><object data='{url}/object'></object></body></html>"
    );
    assert_eq!(upload("plan.html", page).status, 200);
    assert_eq!(upload("plan.md", format!("# Plan\n\n![x]({url}/image) <{url}> [a]: {url}/a")).status, 200);
    let pdf = format!("%PDF-1.4\n1 0 obj<</Type/Action/S/URI/URI({url})>>endobj\ntrailer<</Root 1 0 R>>");
    upload("plan.pdf", pdf);
    assert_eq!(upload(&url, "text".into()).status, 400, "a name is not an address");

    // Requests to the proxy say what a model may read, but not where anything is.
    let chat = |model: &str, content: serde_json::Value| {
        let body = json!({
            "model": model, "messages": [{"role": "user", "content": content}],
            "base_url": url, "api_base": url, "endpoint": url,
            "metadata": {"upstream": url},
        });
        let request = server.client().post(server.url("/v1/chat/completions")).bearer_auth(&server.token);
        let request = request.header("x-forwarded-host", &url).header("forwarded", format!("host={url}"));
        server.send(request.header("memoir-project", &url).json(&body))
    };
    let image =
        json!([{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": url}}]);
    assert_eq!(chat("openai-compatible/m", image.clone()).status, 200);
    assert_eq!(provider.requests().len(), 1, "the provider that the user chose gets it");
    for model in ["memoir/recall", &url, &format!("openai-compatible/{url}"), &format!("ollama/{url}/x")] {
        chat(model, image.clone());
    }
    let recall = json!({"question": format!("What is at {url}/image?")});
    assert_eq!(server.post("/api/v1/recall", &recall).status, 200);
    server.get(&format!("/v1/models/{url}"));
    server.get(&format!("/mcp/{url}"));
    let error = inside.accept().unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock, "nothing was fetched");
}

#[test]
fn pages_of_other_sites_are_refused() {
    let home = home();
    let server =
        HttpServer::start(&home, &["--allow-origin", "https://notes.example", "--host", "hub.example"]);
    let port = server.address.rsplit(':').next().unwrap();
    let send = |host: &str, origin: Option<&str>| {
        let request = server.client().get(server.url("/api/v1/health")).bearer_auth(&server.token);
        let request = request.header("host", host);
        server.send(match origin {
            Some(origin) => request.header("origin", origin),
            None => request,
        })
    };
    // DNS rebinding: the name of the attacker's page points to this machine.
    for host in
        ["evil.example", "evil.example:80", "localhost.evil.example", "192.168.1.2", "127.0.0.1.nip.example"]
    {
        let (status, detail) = send(host, None).problem();
        assert_eq!((status, detail.as_str()), (403, "the server does not answer under this host"), "{host}");
    }
    for host in ["localhost", &format!("127.0.0.1:{port}"), "hub.example", "[::1]:80"] {
        assert_eq!(send(host, None).status, 200, "{host}");
    }
    // Requests that another page sends through the user's browser.
    let own = format!("http://localhost:{port}");
    for origin in
        ["https://evil.example", "null", "http://localhost", "https://notes.example.evil.example", "file://"]
    {
        let reply = send(&format!("localhost:{port}"), Some(origin));
        assert_eq!(
            reply.problem(),
            (403, "pages of other origins may not call this server".into()),
            "{origin}"
        );
        assert_eq!(reply.header("access-control-allow-origin"), "");
    }
    for (origin, allowed) in [(own.as_str(), ""), ("https://notes.example", "https://notes.example")] {
        let reply = send(&format!("localhost:{port}"), Some(origin));
        assert_eq!((reply.status, reply.header("access-control-allow-origin")), (200, allowed), "{origin}");
    }
    let preflight = |origin: &str| {
        let request = server.client().request(reqwest::Method::OPTIONS, server.url("/api/v1/recall"));
        let request = request.header("origin", origin).header("access-control-request-method", "POST");
        server.send(request).header("access-control-allow-origin").to_owned()
    };
    assert_eq!(preflight("https://notes.example"), "https://notes.example");
    assert_eq!(preflight("https://evil.example"), "");
    // Two hosts, of which a proxy may check the other one.
    let token = &server.token;
    let twice = format!(
        "GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nAuthorization: Bearer {token}\r\n\
         Connection: close\r\n\r\n"
    );
    assert!(server.send_bytes(twice.as_bytes()).starts_with("HTTP/1.1 403"));
    let none = format!("GET /api/v1/health HTTP/1.0\r\nAuthorization: Bearer {token}\r\n\r\n");
    assert!(server.send_bytes(none.as_bytes()).starts_with("HTTP/1.0 403"));
}

#[test]
fn paths_and_headers_lead_nowhere_else() {
    let home = home();
    let server = HttpServer::start(&home, &[]);
    let token = &server.token;
    let paths = [
        "/api/v1/../../etc/passwd",
        "/api/v1/documents/..%2f..%2fserve.token",
        "/api/v1/documents/%2e%2e/serve.token",
        "/api/v1/documents/%00",
        "/api/v1/documents/%ff",
        "//api/v1/health",
        "/api/v1/health/",
        "/API/v1/health",
        "/mcp/../api/v1/health",
        "/serve.token",
        "/api/v1/exchanges/99999999999999999999",
        "/api/v1/exchanges/-1",
        "/api/v1/exchanges/1;drop",
        "/api/v1/conversations?limit=%0d%0aSet-Cookie:x=1",
        "/api/v1/conversations?project=%0d%0aSet-Cookie:%20x=1",
    ];
    for path in paths {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"
        );
        let answer = server.send_bytes(request.as_bytes());
        let status: u16 =
            answer.split(' ').nth(1).unwrap_or_else(|| panic!("{path}: {answer}")).parse().unwrap();
        assert!(
            (400..500).contains(&status) || answer.ends_with("{\"conversations\":[]}"),
            "{path}: {answer}"
        );
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(
            !head.contains("et-Cookie") && !answer.contains(token) && !body.contains("root:"),
            "{path}: {answer}"
        );
    }
    // Two lengths: a proxy before the server may believe the other one.
    let smuggled = format!(
        "POST /api/v1/recall HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\nContent-Length: 5\r\n\
         Content-Length: 40\r\n\r\n{{}}GET /api/v1/health HTTP/1.1\r\n\r\n"
    );
    assert!(server.send_bytes(smuggled.as_bytes()).starts_with("HTTP/1.1 400"));
    assert_eq!(server.get("/healthz").status, 200);
}

#[test]
fn large_and_slow_requests_are_refused() {
    let home = home();
    let server = HttpServer::start(&home, &["--max-size", "1", "--max-time", "1"]);
    let (token, address) = (&server.token, &server.address);
    let large = json!({"question": "x".repeat(2 << 20)});
    assert_eq!(server.post("/api/v1/recall", &large).problem().0, 413);
    let head = |length: &str| {
        format!(
            "POST /api/v1/recall HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: application/json\r\n{length}\r\nConnection: close\r\n\r\n"
        )
    };
    let mut endless = head("Transfer-Encoding: chunked").into_bytes();
    (0..40).for_each(|_| {
        endless.extend(b"10000\r\n");
        endless.extend([b'x'; 0x10000]);
        endless.extend(b"\r\n");
    });
    let refused = server.send_bytes(&endless);
    assert!(refused.starts_with("HTTP/1.1 4") || refused.is_empty(), "{refused}");

    // Headers and bodies that never end.
    let begun = Instant::now();
    server.send_bytes(b"GET /api/v1/health HTTP/1.1\r\nHost: loc");
    let slow = server.send_bytes(head("Content-Length: 50").as_bytes());
    assert!(slow.starts_with("HTTP/1.1 408"), "{slow}");
    assert!(begun.elapsed().as_secs() < 30, "neither holds a connection for long");
}

#[test]
fn a_client_that_reads_nothing_is_cut_off() {
    let home = home();
    let server = HttpServer::start(&home, &[]);
    let message =
        |role: &str, text: String| json!({"role": role, "text": text, "created": "2026-05-01T12:00:00Z"});
    let exchange = json!({
        "thread": "t", "number": 1, "model": "m",
        "started": "2026-05-01T12:00:00Z", "completed": "2026-05-01T12:00:00Z",
        "messages": [message("user", "A long story, please.".into()), message("assistant", "ok ".repeat(5 << 20))],
    });
    assert_eq!(server.post("/api/v1/exchanges", &exchange).status, 201);
    server.stop();
    let server = HttpServer::start(&home, &["--max-time", "1"]);
    let connections = || {
        let metrics = server.get("/metrics").body;
        let line = metrics.lines().find_map(|line| line.strip_prefix("memoir_http_connections ")).unwrap();
        line.trim().parse::<u32>().unwrap()
    };
    let mut idle = server.connect();
    let (address, token) = (&server.address, &server.token);
    let request =
        format!("GET /api/v1/export HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\r\n");
    idle.write_all(request.as_bytes()).unwrap();
    wait_until("the client asks for more than it reads", || connections() == 2);
    wait_until("it is cut off", || connections() == 1);
}

#[test]
fn requests_beyond_the_limit_are_refused_until_others_end() {
    let home = home();
    let server = HttpServer::start(&home, &["--max-requests", "2"]);
    let head = format!(
        "POST /api/v1/recall HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/json\r\nContent-Length: 50\r\n\r\n",
        server.address, server.token
    );
    let hold = || {
        let mut stream = server.connect();
        stream.write_all(head.as_bytes()).unwrap();
        stream.set_nonblocking(true).unwrap();
        stream
    };
    let mut held = [hold(), hold()];
    wait_until("both places are taken", || {
        // The last look took a place itself, so one of them may have been refused.
        let is_answered = |stream: &mut TcpStream| stream.read(&mut [0]).is_ok();
        held.iter_mut()
            .filter_map(|stream| is_answered(stream).then_some(stream))
            .for_each(|stream| *stream = hold());
        server.get("/healthz").status == 503
    });
    let refused = server.get("/healthz");
    assert_eq!(refused.problem(), (503, "the server is answering too many requests".to_owned()));
    assert_eq!(refused.header("retry-after"), "1");
    drop(held);
    wait_until("they are free again", || server.get("/healthz").status == 200);
}

#[test]
fn other_machines_need_tls_or_a_decision() {
    let home = home();
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let refused = home.memoir(["serve", "--listen", address]).fail(2);
        assert!(refused.contains("would cross the network unencrypted"), "{refused}");
        assert!(refused.contains("--tls-cert"), "{refused}");
    }
    let malformed = home.memoir(["serve", "--allow-origin", "https://x.example/page"]).fail(2);
    assert!(malformed.contains("is not an origin"), "{malformed}");
    let server = HttpServer::start(&home, &[]);
    let taken = home.memoir(["serve", "--listen", &server.address]).fail(1);
    assert!(taken.contains("could not listen on") && taken.contains("--listen"), "{taken}");
    let mode = std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(home.memoir_home().join("serve.token")).unwrap().permissions(),
    );
    assert_eq!(mode & 0o777, 0o600);
}
