//! The pages of `memoir serve`, as a browser without scripts sees them. `cargo xtask interop` uses them with Chromium.

use memoir_testkit::{HttpReply, HttpServer, TestHome, wait_until};
use serde_json::json;

use crate::{
    helpers::{import_conversations, import_exchanges},
    home,
};

/// A browser that is logged in.
pub(crate) struct Browser<'a> {
    server: &'a HttpServer,
    pub(crate) cookie: String,
}

impl<'a> Browser<'a> {
    /// Logs in with the link of `memoir open`.
    pub(crate) fn open(home: &TestHome, server: &'a HttpServer) -> Self {
        let link = home.memoir(["open", "--print"]).succeed();
        let path = link.trim().strip_prefix(&server.url("")).unwrap().to_owned();
        let reply = server.send(server.client().get(server.url(&path)));
        assert_eq!((reply.status, reply.header("location")), (303, "/"), "{}", reply.body);
        let again = server.send(server.client().get(server.url(&path)));
        assert!(again.status == 401 && again.body.contains("has been used"), "{}", again.body);
        Self::with_cookie(server, &reply)
    }

    /// Logs in with a token.
    fn with_token(server: &'a HttpServer, token: &str) -> Self {
        let form = server.client().post(server.url("/login"));
        let form = with_fields(form, &[("token", token)]);
        let reply = server.send(form.header("origin", server.url("")));
        assert_eq!(reply.status, 303, "{}", reply.body);
        Self::with_cookie(server, &reply)
    }

    fn with_cookie(server: &'a HttpServer, reply: &HttpReply) -> Self {
        let cookie = reply.header("set-cookie");
        assert!(cookie.contains("; HttpOnly; SameSite=Strict"), "{cookie}");
        Self { server, cookie: cookie.split(';').next().unwrap().to_owned() }
    }

    fn get(&self, path: &str) -> HttpReply {
        let request = self.server.client().get(self.server.url(path));
        self.server.send(request.header("cookie", &self.cookie).header("accept", "text/html"))
    }

    /// Gets a page that exists.
    pub(crate) fn show(&self, path: &str) -> String {
        let reply = self.get(path);
        assert_eq!(reply.status, 200, "{path}: {}", reply.body);
        assert!(reply.header("content-security-policy").contains("script-src 'self';"), "{path}");
        reply.body
    }

    fn submit(&self, path: &str, fields: &[(&str, &str)]) -> HttpReply {
        let request = with_fields(self.server.client().post(self.server.url(path)), fields);
        let request = request.header("cookie", &self.cookie).header("sec-fetch-site", "same-origin");
        self.server.send(request.header("origin", self.server.url("")).header("accept", "text/html"))
    }
}

fn with_fields(request: reqwest::RequestBuilder, fields: &[(&str, &str)]) -> reqwest::RequestBuilder {
    let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    request.header("content-type", "application/x-www-form-urlencoded").body(body)
}

/// Starts a server whose client does not follow addresses.
pub(crate) fn start(home: &TestHome) -> HttpServer {
    let client = HttpServer::client_builder().redirect(reqwest::redirect::Policy::none()).build().unwrap();
    HttpServer::run_for(home, home.memoir(["serve", "--listen", "127.0.0.1:0"]), client)
}

/// Returns the value of a hidden field.
fn field<'a>(page: &'a str, name: &str) -> &'a str {
    let rest =
        page.split(&format!("name=\"{name}\" value=\"")).nth(1).unwrap_or_else(|| panic!("{name}: {page}"));
    rest.split('"').next().unwrap()
}

#[test]
fn what_was_said_is_searched_read_explained_and_forgotten() {
    let home = home();
    let said = |text: &str| vec![(text.to_owned(), "Noted.".to_owned())];
    import_conversations(
        &home,
        "/shop",
        "2026-05-01T10:00:00Z",
        &[said("The safe of the shop opens with 4711.")],
    );
    import_exchanges(&home, "/garden", "2026-05-02T10:00:00Z", &said("The safe shelf of the garden is red."));
    home.memoir(["worker", "run", "--until-idle"]).succeed();
    let server = start(&home);
    let browser = Browser::open(&home, &server);
    assert!(browser.show("/").contains("Imported"), "the latest conversations are listed");

    let results = browser.show("/?q=safe+opens");
    assert!(results.contains("<mark>safe</mark> of the shop <mark>opens</mark>"), "{results}");
    let in_garden = browser.show("/?q=safe+opens&in_project=/garden");
    assert!(in_garden.contains("is red") && !in_garden.contains("4711"), "{in_garden}");
    let elsewhere = browser.show("/?q=safe&program=codex&fragment=true");
    assert!(elsewhere.contains("Nothing in memory") && !elsewhere.contains("<html"), "{elsewhere}");
    assert!(browser.show("/?q=safe&since=whenever").contains("class=\"problem\""));

    let path = results.split("href=\"/exchanges/").nth(1).unwrap().split('"').next().unwrap();
    let exchange = browser.show(&format!("/exchanges/{path}"));
    assert!(exchange.contains("Added from memory") && exchange.contains("4711"), "{exchange}");
    let preview = browser.show(&format!("/forget?exchange={path}"));
    assert!(preview.contains("4711") && preview.contains("2 messages"), "{preview}");
    let plan = field(&preview, "plan").to_owned();
    let wrong = browser.submit("/forget", &[("exchange", path), ("plan", "x")]);
    assert!(wrong.status == 409 && wrong.body.contains("Nothing was forgotten"), "{}", wrong.body);
    let forgotten = browser.submit("/forget", &[("exchange", path), ("plan", &plan)]);
    assert!(forgotten.status == 200 && forgotten.body.contains("2 messages deleted"), "{}", forgotten.body);
    assert!(!browser.show("/?q=safe+opens").contains("4711"));
    assert_eq!(server.stop(), Some(0));
    assert_eq!(home.files_containing("4711"), [""; 0], "nothing is left of it");
}

#[test]
fn all_pages_are_shown_and_problems_are_pages() {
    let home = home();
    import_exchanges(&home, "/p", "2026-05-01T10:00:00Z", &[("A question".into(), "# An *answer*".into())]);
    let server = start(&home);
    let browser = Browser::open(&home, &server);
    for path in [
        "/",
        "/conversations",
        "/conversations/1",
        "/exchanges/1",
        "/documents",
        "/facts",
        "/activity",
        "/core-memory",
        "/background",
        "/programs",
        "/import",
        "/chat",
        "/chat?conversation=1",
        "/forget?conversation=1",
    ] {
        assert!(browser.show(path).contains("</html>"), "{path}");
    }
    assert!(browser.show("/conversations/1").contains("<h1>An <em>answer</em></h1>"));
    let paths = [
        "/conversations/99",
        "/exchanges/99",
        "/documents/none",
        "/chat?conversation=99",
        "/forget?exchange=99",
    ];
    for path in paths {
        let reply = browser.get(path);
        assert_eq!((reply.status, reply.header("content-type")), (404, "text/html; charset=utf-8"), "{path}");
        assert!(reply.body.contains("class=\"problem\" role=\"alert\""), "{path}: {}", reply.body);
    }
    for path in ["/conversations/x", "/conversations?cursor=x", "/forget", "/exchanges/1e9"] {
        assert_eq!(browser.get(path).status, 400, "{path}");
    }
    for (path, kind) in
        [("page.css", "text/css"), ("page.js", "text/javascript"), ("icon.svg", "image/svg+xml")]
    {
        let reply = server.get_as("", &format!("/assets/{path}"));
        assert!(reply.status == 200 && reply.header("content-type").starts_with(kind), "{path}");
    }
}

#[test]
fn core_memory_is_edited_and_no_text_is_lost() {
    let home = home();
    let server = start(&home);
    let browser = Browser::open(&home, &server);
    let version = field(&browser.show("/core-memory"), "version").to_owned();
    let save = |text: &str, version: &str| {
        browser.submit("/core-memory", &[("block", "user"), ("version", version), ("text", text)])
    };
    let saved = save("Lives in Graz.\r\nLikes <i>tea</i>.", &version);
    assert!(
        saved.body.contains("Saved.") && saved.body.contains("Likes &lt;i&gt;tea&lt;/i&gt;."),
        "{}",
        saved.body
    );
    let blocks = server.get("/api/v1/core-memory").json();
    assert_eq!(blocks["blocks"][0]["text"], "Lives in Graz.\nLikes <i>tea</i>.");
    let late = save("Lives in Vienna.", &version);
    assert!(
        late.body.contains("changed elsewhere") && late.body.contains("Lives in Vienna."),
        "{}",
        late.body
    );
    let long = save(&"x".repeat(2001), field(&late.body, "version"));
    assert!(long.body.contains("longer than 2000 characters"), "{}", long.body);
    assert_eq!(server.get("/api/v1/core-memory").json(), blocks);
}

#[test]
fn what_the_script_calls_answers_line_by_line() {
    let home = home();
    let server = start(&home);
    let browser = Browser::open(&home, &server);
    let call = |method: &str, path: &str, body: String| {
        let request = server.client().request(method.parse().unwrap(), server.url(path)).body(body);
        let request = request.header("cookie", &browser.cookie).header("sec-fetch-site", "same-origin");
        server.send(request.header("accept", "application/json").header("content-type", "application/json"))
    };
    let last = |reply: &HttpReply| -> serde_json::Value {
        assert_eq!(reply.header("content-type"), "application/x-ndjson", "{}", reply.body);
        serde_json::from_str(reply.body.trim().lines().last().unwrap()).unwrap()
    };
    let lines = [
        json!({"kind": "memoir", "format": 1}),
        json!({"kind": "conversation", "id": 1, "origin": "a", "title": "t", "scope": "/p", "created": "2026-05-01T10:00:00Z"}),
        json!({"kind": "exchange", "conversation": 1, "messages": [
            {"role": "user", "text": "The ferry leaves from pier 107.", "created": "2026-05-01T10:00:00Z"}]}),
    ];
    let history: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let imported = call("POST", "/import/files?format=memoir&name=trips.jsonl", history);
    assert_eq!(last(&imported)["done"], "Added 1 message in 1 conversation.", "{}", imported.body);
    assert!(imported.body.contains("\"progress\""), "{}", imported.body);
    let garbage = call("POST", "/import/files?format=chatgpt&name=x.json", "no".to_owned());
    assert!(last(&garbage)["failed"].is_string(), "{}", garbage.body);
    let empty = call("POST", "/import/files?format=memoir&name=x.jsonl", "no".to_owned());
    let reason = last(&empty)["failed"].as_str().unwrap().to_owned();
    assert!(reason.starts_with("x.jsonl: this is not a file written by `memoir export`"), "{reason}");
    for name in ["..", "../x", "/etc/passwd", "a%2Fb", "a%00b", ""] {
        let refused = call("POST", &format!("/import/files?format=memoir&name={name}"), String::new());
        assert_eq!(refused.problem().0, 400, "{name}");
    }
    assert_eq!(
        std::fs::read_dir(home.memoir_home().join("temporary")).unwrap().count(),
        0,
        "nothing is left"
    );

    let added =
        call("PUT", "/api/v1/documents?name=packing.md", "# Packing list\n\nThe blue tent.".to_owned());
    assert_eq!(added.json(), json!({"name": "packing-list", "outcome": "added"}));
    let shown = server.get("/api/v1/documents/packing-list").json();
    assert!(shown["text"].as_str().unwrap().contains("The blue tent."), "{shown}");
    wait_until("the document is embedded", || {
        server.get("/api/v1/documents/packing-list").json()["pending"] == 0
    });

    let prompt = |text: &str, conversation: serde_json::Value| {
        call("POST", "/chat/turns", json!({"text": text, "conversation": conversation}).to_string())
    };
    let first = last(&prompt("Which pier does the ferry leave from?", json!(null)))["done"].clone();
    assert!(first["html"].as_str().unwrap().contains("pier 107"), "{first}");
    let second = last(&prompt("The cabin is number 12.", first["conversation"].clone()))["done"].clone();
    assert_eq!(second["conversation"], first["conversation"]);
    assert_eq!(prompt("", json!(null)).problem().0, 400);
    assert_eq!(prompt("Hello", json!(987)).problem().0, 404);
}

#[test]
fn a_browser_may_do_what_its_token_allows_until_it_is_revoked() {
    let home = home();
    import_exchanges(&home, "/shop", "2026-05-01T10:00:00Z", &[("A vault of the shop".into(), "ok".into())]);
    import_exchanges(&home, "/bank", "2026-05-01T11:00:00Z", &[("A vault of the bank".into(), "ok".into())]);
    let token = home.memoir(["serve", "token", "add", "phone", "--project", "/shop"]).succeed();
    let server = start(&home);
    let browser = Browser::with_token(&server, token.trim());
    let found = browser.show("/?q=vault");
    assert!(found.contains("of the shop") && !found.contains("bank"), "{found}");
    assert!(!found.contains("/core-memory") && !found.contains("id=\"in_project\""), "{found}");
    for (path, status) in
        [("/core-memory", 403), ("/forget?conversation=1", 403), ("/chat", 403), ("/conversations/2", 404)]
    {
        assert_eq!(browser.get(path).status, status, "{path}");
    }
    home.memoir(["serve", "token", "revoke", "phone"]).succeed();
    let reply = browser.get("/?q=vault");
    assert_eq!((reply.status, reply.header("location")), (303, "/login?next=%2F%3Fq%3Dvault"));
    let again = Browser::open(&home, &server);
    assert_eq!(again.submit("/logout", &[]).status, 303);
    assert_eq!(again.get("/").status, 303);
}

#[test]
fn the_page_of_a_running_server_is_opened() {
    let home = home();
    let server = start(&home);
    let link = home.memoir(["open", "--print"]).succeed();
    assert!(link.starts_with(&server.url("/login?code=")), "{link}");
    drop(server);
    // Without one, it starts, and the link comes after the line that says so.
    let mut process = home
        .memoir(["open", "--print", "--listen", "127.0.0.1:0"])
        .spawn_with_pipes(std::process::Stdio::null());
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(process.stdout.take().unwrap()));
    let [first, link] = [(); 2].map(|()| lines.next().unwrap().unwrap());
    let url = first.split("at ").nth(1).unwrap().split(". ").next().unwrap();
    assert!(link.starts_with(&format!("{url}/login?code=")), "{first} {link}");
    process.kill().unwrap();
    process.wait().unwrap();
}
