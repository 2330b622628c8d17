//! Attacks on the user's browser while it is logged in to the pages of `memoir serve`.

use memoir_testkit::HttpReply;
use serde_json::json;

use crate::{
    helpers::import_exchanges,
    home,
    pages::{Browser, start},
};

const SECRET: &str = "The safe opens with 4711.";

/// A page of another site makes the browser send requests with its cookie.
#[test]
fn other_sites_cannot_use_the_login() {
    let home = home();
    import_exchanges(&home, "/p", "2026-05-01T10:00:00Z", &[(SECRET.into(), "Noted.".into())]);
    let server = start(&home);
    let browser = Browser::open(&home, &server);
    let preview = browser.show("/forget?exchange=1");
    let plan = preview.split("name=\"plan\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let body = format!("exchange=1&plan={plan}");
    let send = |method: &str, path: &str, headers: &[(&str, &str)]| -> HttpReply {
        let request = server.client().request(method.parse().unwrap(), server.url(path)).body(body.clone());
        let request = request
            .header("cookie", &browser.cookie)
            .header("content-type", "application/x-www-form-urlencoded");
        server.send(headers.iter().fold(request, |request, (name, value)| request.header(*name, *value)))
    };
    let (own, other_port) = (server.url(""), "http://127.0.0.1:1");
    let attacks: [(&[(&str, &str)], u16); 6] = [
        (&[("origin", "https://evil.example")], 403),
        (&[("origin", "null")], 403),
        (&[("origin", other_port), ("sec-fetch-site", "same-site")], 403),
        (&[("sec-fetch-site", "cross-site")], 401),
        (&[("sec-fetch-site", "same-site")], 401),
        // An old browser that says nothing about where the request comes from.
        (&[], 401),
    ];
    for (headers, status) in attacks {
        for path in [
            "/forget",
            "/core-memory",
            "/chat/turns",
            "/import/files?format=memoir&name=x",
            "/api/v1/statements",
        ] {
            assert_eq!(send("POST", path, headers).status, status, "{path} {headers:?}");
        }
        // The answer to a request of a script would be readable if the page were allowed to see it.
        let reply = send("GET", "/?q=safe", headers);
        assert!(!reply.body.contains("4711") || headers.is_empty(), "{headers:?}");
        assert_eq!(reply.header("access-control-allow-origin"), "");
    }
    assert_eq!(home.exchanges().len(), 1);
    let reply = send("POST", "/forget", &[("origin", &own), ("sec-fetch-site", "same-origin")]);
    assert_eq!(reply.status, 200, "the user's own click works: {}", reply.body);
    assert_eq!(home.exchanges().len(), 0);
}

/// Whoever cannot read the data directory cannot log in, and a login leads to no other site.
#[test]
fn links_cannot_be_guessed_reused_or_made_to_lead_elsewhere() {
    let home = home();
    let server = start(&home);
    let get = |path: &str| server.send(server.client().get(server.url(path)));
    for code in ["", "x", "..", "../serve.token", "..%2fserve.lock", "%00", &"a".repeat(5000)] {
        let reply = get(&format!("/login?code={code}"));
        assert!(reply.status == 401 && reply.header("set-cookie").is_empty(), "{code}: {}", reply.status);
    }
    assert!(
        home.memoir_home().join("serve.token").exists() && home.memoir_home().join("serve.lock").exists()
    );
    for next in [
        "//evil.example",
        "https://evil.example",
        "/\\evil.example",
        "/%0d%0aSet-Cookie:%20x=1",
        "javascript:alert(1)",
    ] {
        let link = home.memoir(["open", "--print"]).succeed();
        let path = link.trim().strip_prefix(&server.url("")).unwrap().to_owned();
        let reply = get(&format!("{path}&next={next}"));
        assert_eq!((reply.status, reply.header("location")), (303, "/"), "{next}");
        assert_eq!(get(&path).status, 401, "it works once");
    }
    let mode = |name: &str| {
        let metadata = std::fs::metadata(home.memoir_home().join(name)).unwrap();
        std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777
    };
    assert_eq!(mode("serve.codes"), 0o700);
}

/// Text from others is shown in titles, prompts, answers, names of tools and documents. `cargo xtask interop` tries 500
/// texts with Chromium.
#[test]
fn stored_text_is_never_html() {
    let home = home();
    let hostile =
        "<script>alert(1)</script><img src=x onerror=alert(1)> [x](javascript:alert(1)) \u{202e}gnp.exe";
    import_exchanges(
        &home,
        &format!("/{hostile}"),
        "2026-05-01T10:00:00Z",
        &[(hostile.into(), hostile.into())],
    );
    std::fs::write(home.workspace().join("x.md"), format!("# {hostile}\n\n{hostile}")).unwrap();
    home.memoir(["docs", "add", "x.md"]).succeed();
    let server = start(&home);
    server.post("/api/v1/statements", &json!({"statement": hostile, "program": hostile})).json();
    let browser = Browser::open(&home, &server);
    let documents = server.get("/api/v1/documents").json();
    let document = format!("/documents/{}", documents["documents"][0]["name"].as_str().unwrap());
    let query = "/?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E&since=%22%3E%3Cscript%3E&person=%3Cimg%3E";
    for path in [
        "/",
        "/?q=alert",
        query,
        "/conversations",
        "/conversations?matching=%22%3E%3Cscript%3E",
        "/conversations/1",
        "/exchanges/1",
        "/exchanges/2",
        "/documents",
        &document,
        "/facts",
        "/programs",
        "/chat?conversation=1",
        "/forget?conversation=1",
        "/login?next=/%22%3E%3Cscript%3E",
    ] {
        let page = browser.show(path);
        assert_eq!(page.matches("<script").count(), 1, "{path}: {page}");
        // The value of a filter must be exact.
        let shown: String = page
            .split("value=\"")
            .enumerate()
            .map(|(index, part)| if index == 0 { part } else { part.split_once('"').unwrap().1 })
            .collect();
        assert!(!shown.contains('\u{202e}'), "{path}: {shown}");
        for harmful in ["<img", "href=\"javascript:"] {
            assert!(!page.contains(harmful), "{path} contains {harmful}: {page}");
        }
    }
}
