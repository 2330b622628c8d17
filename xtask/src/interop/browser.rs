//! The pages of `memoir serve`, used with Chromium.

use std::{fs, path::Path, process::Command};

use memoir_testkit::{HttpServer, TestHome};
use serde_json::{Value, json};

use super::{Bench, http_clients::run};

const CHROMIUM: (&str, &str) = ("Chromium", "Debian's");
const PLAYWRIGHT: &str = "playwright-core@1.65.1";
const AXE: &str = "axe-core@4.14.0";
const TYPESCRIPT: (&str, &str) = ("TypeScript", "7.0.2");

/// Number of hostile texts.
const HOSTILE: usize = 500;

/// Text that runs a script if a page takes it for HTML. `N` is replaced by a number.
const PAYLOADS: [&str; 25] = [
    "<script>window.hacked=N</script>",
    "<img src=x onerror=window.hacked=N>",
    "<svg onload=window.hacked=N>",
    "\"><script>window.hacked=N</script>",
    "'><img src=x onerror='window.hacked=N'>",
    "</title><script>window.hacked=N</script>",
    "</textarea><script>window.hacked=N</script>",
    "</pre></code><script>window.hacked=N</script>",
    "<iframe srcdoc='<script>parent.hacked=N</script>'></iframe>",
    "<a href=\"javascript:window.hacked=N\">x</a>",
    "[x](javascript:window.hacked=N)",
    "[x](<javascript:window.hacked=N>)",
    "![x](x\" onerror=\"window.hacked=N)",
    "[x]( data:text/html;base64,PHNjcmlwdD53aW5kb3cuaGFja2VkPTE8L3NjcmlwdD4=)",
    "<details open ontoggle=window.hacked=N>",
    "<body onpageshow=window.hacked=N>",
    "<math><mi//xlink:href=\"javascript:window.hacked=N\">",
    "<base href=\"https://evil.example/\">",
    "<meta http-equiv=refresh content=\"0;url=https://evil.example/N\">",
    "<link rel=stylesheet href=https://evil.example/N.css>",
    "<object data=https://evil.example/N></object>",
    "<input autofocus onfocus=window.hacked=N>",
    "```html\n</code></pre><script>window.hacked=N</script>\n```",
    "<!--><script>window.hacked=N</script>-->",
    "&lt;script&gt;window.hacked=N&lt;/script&gt;<x onpointerover=window.hacked=N style=position:fixed;inset:0>",
];

pub(super) fn try_all(bench: &mut Bench) {
    let script = include_str!("../../../crates/memoir-http/src/pages/assets/page.js");
    let result = check_types(bench, script);
    bench.record(TYPESCRIPT, "the types of the script of the pages", result);
    if let Err(reason) = try_browser(bench) {
        bench.record(CHROMIUM, "start", Err(reason));
    }
}

/// Checks the types that the comments of the script give.
fn check_types(bench: &Bench, script: &str) -> Result<(), String> {
    let programs = bench.installer.npm("typescript", TYPESCRIPT.1)?;
    let file = bench.installer.cache.join("page.js");
    fs::write(&file, script).map_err(|error| error.to_string())?;
    let options = [
        "--noEmit",
        "--allowJs",
        "--checkJs",
        "--strict",
        "--target",
        "es2022",
        "--lib",
        "es2023,dom,dom.iterable",
    ];
    let output = Command::new(programs.join("tsc")).args(options).arg(&file).output();
    let output = output.map_err(|error| error.to_string())?;
    // The compiler prints errors to stdout.
    let reason = || String::from_utf8_lossy(&output.stdout).into_owned();
    output.status.success().then_some(()).ok_or_else(reason)
}

fn try_browser(bench: &mut Bench) -> Result<(), String> {
    let packages = bench.installer.npm_packages("browser", &[PLAYWRIGHT.to_owned(), AXE.to_owned()])?;
    let script = packages.join("browser.mjs");
    fs::write(&script, include_str!("browser.mjs")).map_err(|error| error.to_string())?;
    let pictures = bench.installer.cache.join("pages");
    fs::create_dir_all(&pictures).map_err(|error| error.to_string())?;
    let home = bench.home();
    fill(&home);
    let server = HttpServer::start(&home, &[]);
    write_paths(&server, &pictures)?;
    let link = home.memoir(["open", "--print"]).succeed();
    let printed = run(Command::new("node")
        .arg(&script)
        .args([&server.url(""), link.trim(), &server.token])
        .arg(&pictures))?;
    for line in printed.lines() {
        let trial: Value = serde_json::from_str(line).map_err(|error| format!("{error} in {line}"))?;
        let result = trial["reason"].as_str().map_or(Ok(()), |reason| Err(reason.to_owned()));
        bench.record(CHROMIUM, trial["what"].as_str().unwrap_or_default(), result);
    }
    Ok(())
}

/// Writes down the pages that show the hostile texts, and one usual exchange.
fn write_paths(server: &HttpServer, directory: &Path) -> Result<(), String> {
    let list = server.get("/api/v1/conversations?limit=100").json();
    let conversations = list["conversations"].as_array().cloned().unwrap_or_default();
    let is_hostile =
        |conversation: &&Value| conversation["project"].as_str().is_some_and(|it| it.contains('<'));
    let mut paths =
        vec!["/".to_owned(), "/conversations".to_owned(), "/documents".to_owned(), "/facts".to_owned()];
    let mut exchange = String::new();
    for conversation in conversations.iter().filter(is_hostile) {
        let id = &conversation["id"];
        paths.push(format!("/conversations/{id}"));
        let page = server.get(&format!("/api/v1/conversations/{id}/exchanges?limit=1")).json();
        paths.push(format!("/exchanges/{}", page["exchanges"][0]["id"]));
        paths.push(format!("/forget?conversation={id}"));
        paths.push(format!("/chat?conversation={id}"));
    }
    for query in ["window.hacked", "%3Cscript%3E", "evil.example", "onerror"] {
        paths.push(format!("/?q={query}"));
    }
    for document in server.get("/api/v1/documents").json()["documents"].as_array().into_iter().flatten() {
        paths.push(format!("/documents/{}", document["name"].as_str().unwrap_or_default()));
    }
    for conversation in
        conversations.iter().filter(|conversation| conversation["title"] == "A deploy of the shop")
    {
        let path = format!("/api/v1/conversations/{}/exchanges", conversation["id"]);
        exchange = format!("/exchanges/{}", server.get(&path).json()["exchanges"][0]["id"]);
    }
    let write =
        |name: &str, text: &str| fs::write(directory.join(name), text).map_err(|error| error.to_string());
    write("hostile.txt", &paths.join("\n"))?;
    write("exchange.txt", &exchange)
}

/// Fills a memory with usual and hostile conversations.
fn fill(home: &TestHome) {
    let mut lines = vec![json!({"kind": "memoir", "format": 1})];
    let mut add = |title: &str, scope: &str, created: &str, messages: Vec<Value>| {
        let id = lines.len();
        lines.push(json!({
            "kind": "conversation", "id": id, "origin": format!("trial/{id}"), "title": title, "scope": scope,
            "created": created,
        }));
        lines
            .push(json!({"kind": "exchange", "conversation": id, "model": "imported", "messages": messages}));
    };
    let said =
        |role: &str, text: &str, created: &str| json!({"role": role, "text": text, "created": created});
    let (may, june) = ("2026-05-01T10:00:00Z", "2026-06-01T10:00:00Z");
    for (text, scope, created) in [
        ("The staging server of the shop listens on port 8443.", "/shop", may),
        ("The staging server of the shop listens on port 9443 now.", "/shop", june),
        ("The tomatoes next to the server room need water on Mondays.", "/garden", may),
    ] {
        add(text, scope, created, vec![said("user", text, created), said("assistant", "Noted.", created)]);
    }
    add(
        "A deploy of the shop",
        "/shop",
        june,
        vec![
            said("user", "Deploy the staging server.", june),
            json!({"role": "assistant", "text": "", "created": june,
                   "tool_calls": [{"id": "1", "name": "execute_bash", "arguments": {"command": "cargo xtask deploy"}}]}),
            json!({"role": "tool", "call_id": "1", "tool_name": "execute_bash", "text": "cargo: deployed", "created": june}),
            said(
                "assistant",
                "Deployed to **port 9443**:\n\n| step | state |\n|---|---|\n| build | ok |",
                june,
            ),
        ],
    );
    let anna = |text: &str| json!({"role": "user", "author": "Anna", "text": text, "created": may});
    let ben = |text: &str| json!({"role": "user", "author": "Ben", "text": text, "created": may});
    add(
        "About the picnic",
        "/",
        may,
        vec![anna("The picnic is at the old mill."), ben("I bring a cake to the picnic.")],
    );
    let hostile = |number: usize| PAYLOADS[number % PAYLOADS.len()].replace('N', &number.to_string());
    // Twenty conversations with twenty-five texts each, in all fields that a program can write.
    for conversation in 0..HOSTILE / 25 {
        let text = |field: usize| hostile(conversation * 25 + field);
        let mut messages = Vec::new();
        for field in 0..10 {
            messages.push(
                json!({"role": "user", "author": text(field), "text": text(field + 10), "created": may}),
            );
        }
        messages.push(json!({"role": "assistant", "text": text(20), "created": may,
            "tool_calls": [{"id": "1", "name": text(21), "arguments": {"command": text(22)}}]}));
        messages.push(
            json!({"role": "tool", "call_id": "1", "tool_name": text(21), "text": text(23), "created": may}),
        );
        messages.push(said("assistant", &text(24), may));
        add(&text(conversation), &format!("/{}", text(conversation + 3)), may, messages);
    }
    let file = home.workspace().join("history.jsonl");
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    write(&file, &text);
    home.memoir(["import", "memoir", "history.jsonl"]).succeed();
    for number in 0..5 {
        let name = format!("hostile-{number}.md");
        let all: Vec<String> = (0..25).map(|field| hostile(number * 25 + field)).collect();
        write(&home.workspace().join(&name), &format!("# {}\n\n{}\n", hostile(number), all.join("\n\n")));
        home.memoir(["docs", "add", &name]).succeed();
    }
    home.memoir(["worker", "run", "--until-idle"]).succeed();
}

fn write(file: &Path, text: &str) {
    if let Err(error) = fs::write(file, text) {
        // The trials that need it fail and say so.
        eprintln!("could not write {}: {error}", file.display());
    }
}
