//! `MEMOIR_URL`: conversations that use the memory of another machine.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    sync::atomic::Ordering,
    thread,
};

use memoir_testkit::{
    HttpServer, McpClient, McpRevision, ProgramRun, Reply, ScriptedProvider, Terminal, TestHome, wait_until,
};
use serde_json::{Value, json};

use crate::{home, hub::lose_answers};

const STATEMENT: &str = "The staging server of the shop listens on port 8443.";
const QUESTION: &str = "Which port does the staging server of the shop listen on?";

/// A machine without a memory of its own, and the server whose memory it uses.
struct Laptop {
    home: TestHome,
    url: String,
    token: String,
}

impl Laptop {
    fn new(server: &HttpServer) -> Self {
        Self::with_token(&server.address, &server.token)
    }

    fn with_token(address: &str, token: &str) -> Self {
        Self { home: home(), url: format!("http://{address}"), token: token.to_owned() }
    }

    fn memoir(&self, arguments: &[&str]) -> ProgramRun {
        self.home.memoir(arguments).env("MEMOIR_URL", &self.url).env("MEMOIR_TOKEN", &self.token)
    }

    fn ask(&self, prompt: &str) -> String {
        self.memoir(&["-p", prompt]).succeed()
    }

    fn open(&self, provider: Option<&ScriptedProvider>) -> Terminal {
        let variables = [("MEMOIR_URL", self.url.as_str()), ("MEMOIR_TOKEN", self.token.as_str())];
        Terminal::open_with(&self.home, provider, (40, 160), &[], &variables)
    }
}

/// Returns the prompts that the hub has stored, the oldest first.
fn prompts(server: &HttpServer) -> Vec<String> {
    let mut prompts = Vec::new();
    // Memory may have been asked, which the list of conversations leaves out.
    for id in 1..=20 {
        let page = server.get(&format!("/api/v1/conversations/{id}/exchanges"));
        if page.status != 200 {
            continue;
        }
        let mut exchanges = page.json()["exchanges"].as_array().unwrap().clone();
        exchanges.reverse();
        prompts.extend(exchanges.iter().map(|exchange| exchange["prompt"].as_str().unwrap().to_owned()));
    }
    prompts
}

#[test]
fn a_conversation_is_stored_and_recalled_at_the_hub() {
    let hub = home();
    let server = HttpServer::start(&hub, &[]);
    let (laptop, desk) = (Laptop::new(&server), Laptop::new(&server));
    laptop.ask(STATEMENT);
    assert_eq!(prompts(&server), [STATEMENT]);
    let answer = desk.ask(QUESTION);
    assert!(answer.starts_with(STATEMENT), "{answer}");
    let newer = "The staging server of the shop listens on port 9443 now.";
    let noted = desk.ask(newer);
    assert!(noted.contains("8443"), "it says what the statement contradicts: {noted}");
    let answer = laptop.ask(QUESTION);
    assert!(answer.starts_with(newer), "{answer}");
    assert_eq!(prompts(&server), [STATEMENT, QUESTION, newer, QUESTION]);
    for machine in [laptop, desk] {
        assert_eq!(machine.home.files_containing("43"), [""; 0], "this machine keeps no copy");
    }
    // They are the user's own words, from a machine that has a name.
    let passage = &server.post("/api/v1/recall", &json!({"question": QUESTION})).json()["passages"][0];
    assert_eq!((&passage["by_program"], &passage["program"]), (&json!(false), &json!("local")), "{passage}");
}

#[test]
fn a_model_gets_what_the_hub_knows_and_its_answer_is_stored_there() {
    let hub = home();
    let server = HttpServer::start(&hub, &[]);
    Laptop::new(&server).ask(STATEMENT);
    let laptop = Laptop::new(&server);
    std::fs::write(laptop.home.workspace().join("notes.txt"), "Buy bread.").unwrap();
    let call = json!({"path": "notes.txt"});
    let provider = ScriptedProvider::start([
        Reply::tool_call("1", "file_read", &call),
        Reply::text("It listens on 8443, and you need bread."),
    ]);
    let question = "Which port does the staging server listen on, and what is in notes.txt?";
    let answer = laptop.memoir(&["--model", "gpt-5-mini", "-p", question]).provider(&provider).succeed();
    assert!(answer.contains("bread"), "{answer}");
    let request = provider.requests()[0].body.to_string();
    assert!(request.contains("port 8443"), "{request}");
    // The tools that need the whole memory are not offered.
    assert!(request.contains("\"search_memory\"") && !request.contains("\"database_query\""), "{request}");
    let stored = server.get("/api/v1/exchanges/2").json();
    assert_eq!(stored["answer"], "It listens on 8443, and you need bread.");
    assert_eq!(
        (&stored["tool_calls"], &stored["model"]),
        (&json!(1), &json!("openai/gpt-5-mini")),
        "{stored}"
    );
    assert!(stored["tokens"].as_u64().unwrap() > 0 && stored["cost"].is_string(), "{stored}");
}

#[test]
fn documents_of_the_hub_answer_questions() {
    let hub = home();
    let server = HttpServer::start(&hub, &[]);
    let request = server.client().put(server.url("/api/v1/documents?name=harbour plan.md"));
    let text = "# Harbour plan\n\nThe harbour master of Brixham is Agnes Petersen.\n";
    server.send(request.bearer_auth(&server.token).body(text)).json();
    let laptop = Laptop::new(&server);
    let answer = laptop.ask("Who is the harbour master of Brixham?");
    assert!(answer.contains("Agnes Petersen") && answer.contains("Harbour plan"), "{answer}");
    assert_eq!(laptop.home.files_containing("Agnes"), [""; 0]);
}

#[test]
fn what_is_said_offline_is_sent_later_in_order_and_once() {
    let hub = home();
    let server = HttpServer::start(&hub, &[]);
    let laptop = Laptop::new(&server);
    let address = server.address.clone();
    server.stop();
    let statements =
        ["The ladder is in the cellar.", "The saw is in the garage.", "The drill is in the shed."];
    for statement in &statements[..2] {
        let output = laptop.memoir(&["-p", statement]).output();
        let notes = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && notes.contains("the hub cannot be reached"), "{notes}");
    }
    assert_eq!(laptop.home.files_containing("The ladder").len(), 1, "it waits on the disk");
    let report = String::from_utf8(laptop.memoir(&["doctor"]).output().stdout).unwrap();
    assert!(report.contains("wait to be sent to another machine: 2"), "{report}");
    assert!(report.contains("the hub cannot be reached"), "{report}");

    let server = HttpServer::run(&hub, hub.memoir(["serve", "--listen", &address]));
    laptop.ask(statements[2]);
    assert!(laptop.ask("Where is the saw?").contains("in the garage"));
    assert_eq!(prompts(&server), [&statements[..], &["Where is the saw?"]].concat());
    assert_eq!(laptop.home.files_containing("The ladder"), [""; 0]);
}

#[test]
fn an_exchange_whose_answer_was_lost_is_stored_once() {
    let hub = home();
    let server = HttpServer::start(&hub, &[]);
    let (lossy, lost) = lose_answers(&server.address, 2);
    let laptop = Laptop::with_token(&lossy, &server.token);
    for statement in
        ["The ladder is in the cellar.", "The saw is in the garage.", "The drill is in the shed."]
    {
        laptop.memoir(&["-p", statement]).output();
    }
    let answer = laptop.ask("Where is the ladder?");
    assert!(answer.contains("in the cellar"), "{answer}");
    assert!(lost.load(Ordering::SeqCst) >= 6, "two answers were lost, and four arrived");
    assert_eq!(
        prompts(&server),
        [
            "The ladder is in the cellar.",
            "The saw is in the garage.",
            "The drill is in the shed.",
            "Where is the ladder?"
        ]
    );
}

#[test]
fn what_is_undone_replaced_or_forgotten_is_gone_at_the_hub() {
    let hub = home();
    let server = HttpServer::start(&hub, &[]);
    Laptop::new(&server).ask(STATEMENT);
    let provider = ScriptedProvider::start([
        Reply::text("Noted."),
        Reply::text("A bad answer."),
        Reply::text("A good answer."),
        Reply::text("8443."),
    ]);
    let laptop = Laptop::new(&server);
    let mut terminal = laptop.open(Some(&provider));
    terminal.wait_for(&format!("The memory is at {}.", laptop.url));
    terminal.submit("My locker has the number 117.");
    terminal.wait_for("Noted.");
    wait_until("the exchange is sent", || prompts(&server).len() == 2);
    terminal.submit("/undo");
    terminal.wait_for("Deleted the last exchange");
    assert_eq!(prompts(&server), [STATEMENT]);

    terminal.submit("Tell me a story.");
    terminal.wait_for("A bad answer.");
    wait_until("the exchange is sent", || prompts(&server).len() == 2);
    terminal.submit("/retry");
    terminal.wait_for("A good answer.");
    let answers = || {
        let found = |id: i64| server.get(&format!("/api/v1/exchanges/{id}"));
        let answers = (1..9).map(found).filter(|reply| reply.status == 200);
        answers.map(|reply| reply.json()["answer"].as_str().unwrap().to_owned()).collect::<Vec<String>>()
    };
    wait_until("the answer is replaced", || {
        answers().contains(&"A good answer.".to_owned()) && !answers().contains(&"A bad answer.".to_owned())
    });

    terminal.submit(QUESTION);
    terminal.wait_for("8443.");
    terminal.submit("/search staging server port");
    let screen = terminal.wait_for("listens on port 8443");
    let number_after = |name: &str| {
        let found = screen.lines().rev().find_map(|line| line.split_once(name)).unwrap().1;
        found.split(|letter: char| !letter.is_ascii_digit()).next().unwrap().to_owned()
    };
    // This is the statement, which came from the hub.
    let (conversation, exchange) = (number_after(" conversation "), number_after(" exchange "));
    terminal.submit(&format!("/resume {conversation}"));
    terminal.wait_for(&format!("only a part of conversation {conversation} is on this machine"));
    terminal.submit(&format!("/memory forget --exchange {exchange} --yes"));
    wait_until("the statement is forgotten", || !prompts(&server).contains(&STATEMENT.to_owned()));
    terminal.submit("/backup");
    terminal.wait_for("/backup needs the whole memory, which is on another machine.");
    terminal.submit("/memory edit user Ada");
    terminal.wait_for("this needs the whole memory");
    terminal.submit("/exit");
    terminal.wait_for_exit();
}

#[test]
fn what_may_have_reached_the_hub_is_deleted_there() {
    let hub = home();
    let server = HttpServer::start(&hub, &[]);
    let (lossy, lost) = lose_answers(&server.address, 1);
    let laptop = Laptop::with_token(&lossy, &server.token);
    let provider = ScriptedProvider::start([Reply::text("Noted.")]);
    let mut terminal = laptop.open(Some(&provider));
    terminal.submit("My locker has the number 117.");
    terminal.wait_for("Noted.");
    wait_until("the hub stores it, and its answer is lost", || {
        prompts(&server).len() == 1 && lost.load(Ordering::SeqCst) == 1
    });
    terminal.submit("/undo");
    terminal.wait_for("Deleted the last exchange");
    assert_eq!(prompts(&server), [""; 0]);
    terminal.submit("/exit");
    terminal.wait_for_exit();
    assert_eq!((prompts(&server), laptop.home.files_containing("locker")), (vec![], vec![]));
}

#[test]
fn forgetting_a_fork_leaves_its_parent_alone() {
    let hub = home();
    let server = HttpServer::start(&hub, &[]);
    let laptop = Laptop::new(&server);
    let provider = ScriptedProvider::start([Reply::text("First answer."), Reply::text("Second answer.")]);
    let mut terminal = laptop.open(Some(&provider));
    terminal.submit("My locker has the number 117.");
    terminal.wait_for("First answer.");
    terminal.submit("/fork");
    terminal.submit("Its lock is broken.");
    terminal.wait_for("Second answer.");
    wait_until("both are sent", || prompts(&server).len() == 2);
    terminal.submit("/memory forget --conversation 2 --yes");
    wait_until("the fork is forgotten", || prompts(&server) == ["My locker has the number 117."]);
    terminal.submit("/exit");
    terminal.wait_for_exit();
}

/// A server that gives the same answer to everything.
fn answer_everything(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let mut buffer = [0; 64 * 1024];
            let _ = client.read(&mut buffer);
            let length = answer.split("\r\n\r\n").nth(1).unwrap_or_default().len();
            let answer = answer.replace("LENGTH", &length.to_string());
            let _ = client.write_all(answer.as_bytes());
        }
    });
    address
}

#[test]
fn a_server_that_is_not_the_hub_gets_nothing_confirmed() {
    const ANSWERS: [&str; 4] = [
        "HTTP/1.1 200 OK\r\nContent-Length: LENGTH\r\n\r\n{}",
        "HTTP/1.1 404 Not Found\r\nContent-Length: LENGTH\r\n\r\nNo such page",
        "HTTP/1.1 502 Bad Gateway\r\nContent-Length: LENGTH\r\n\r\n<html>",
        "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:9/\r\nContent-Length: 0\r\n\r\n",
    ];
    for answer in ANSWERS {
        let laptop = Laptop::with_token(&answer_everything(answer), "memoir_1_x");
        let output = laptop.memoir(&["-p", STATEMENT]).output();
        let notes = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success() && notes.contains("1 exchange waits on this machine"), "{notes}");
        let waiting = laptop.home.files_containing("8443");
        assert!(waiting.len() == 1 && !waiting[0].contains("refused"), "{waiting:?}");
    }
}

#[test]
fn what_waits_under_a_token_is_not_stored_in_the_project_of_another() {
    let hub = home();
    let server = HttpServer::start(&hub, &[]);
    let address = server.address.clone();
    let add = |name: &str, project: &str| {
        let arguments = ["serve", "token", "add", name, "--project", project, "--rights", "read,write"];
        hub.memoir(arguments).succeed().trim().to_owned()
    };
    let (office, shop) = (add("office", "/office"), add("shop", "/shop"));
    server.stop();
    let laptop = Laptop::with_token(&address, &office);
    laptop.memoir(&["-p", "The vault of the office opens at six."]).output();
    let server = HttpServer::run(&hub, hub.memoir(["serve", "--listen", &address]));
    let laptop = Laptop { token: shop, ..laptop };
    laptop.ask(STATEMENT);
    assert_eq!(prompts(&server), [STATEMENT], "the other one does not hold it up");
    let laptop = Laptop { token: office, ..laptop };
    laptop.ask("When does the vault open?");
    let passages = server.post("/api/v1/recall", &json!({"question": "When does the vault open?"})).json();
    assert_eq!(passages["passages"][0]["project"], "/office", "{passages}");
}

#[test]
fn nothing_for_this_machine_goes_through_a_proxy() {
    let hub = home();
    let server = HttpServer::start(&hub, &[]);
    let laptop = Laptop::new(&server);
    let proxy = "http://127.0.0.1:9";
    laptop.memoir(&["-p", STATEMENT]).env("HTTP_PROXY", proxy).env("http_proxy", proxy).succeed();
    assert_eq!(prompts(&server), [STATEMENT]);
}

#[test]
fn a_machine_works_in_the_project_that_its_token_covers() {
    let hub = home();
    let server = HttpServer::start(&hub, &[]);
    let add = |name: &str, projects: &[&str]| {
        let projects = projects.iter().flat_map(|project| ["--project", project]);
        let arguments = ["serve", "token", "add", name, "--rights", "read,write"].into_iter().chain(projects);
        hub.memoir(arguments).succeed().trim().to_owned()
    };
    server
        .post("/api/v1/statements?project=/office", &json!({"statement": "The office closes at six."}))
        .json();
    // The path of the project differs between the machines.
    let laptop = Laptop::with_token(&server.address, &add("laptop", &["/shop"]));
    laptop.ask(STATEMENT);
    assert!(laptop.ask(QUESTION).starts_with(STATEMENT));
    let answer = laptop.ask("When does the office close?");
    assert!(!answer.contains("six"), "{answer}");
    let passage = &server.post("/api/v1/recall", &json!({"question": QUESTION})).json()["passages"][0];
    assert_eq!((&passage["project"], &passage["program"]), (&json!("/shop"), &json!("laptop")), "{passage}");

    let desk = Laptop::with_token(&server.address, "");
    let project = desk.home.workspace().canonicalize().unwrap().display().to_string();
    let desk = Laptop { token: add("desk", &[&project, "/shop"]), ..desk };
    desk.ask("The printer is on the second floor.");
    assert!(desk.ask("On which floor is the printer?").contains("second floor"));
    let stranger = Laptop::with_token(&server.address, &add("stranger", &["/a", "/b"]));
    let error = stranger.memoir(&["-p", QUESTION]).fail(1);
    assert!(error.contains("the token does not cover this project"), "{error}");
}

#[test]
fn what_does_not_work_with_another_machine_is_said_in_one_sentence() {
    let hub = home();
    let server = HttpServer::start(&hub, &[]);
    let laptop = Laptop::new(&server);
    for command in [&["search", "x"][..], &["memory"], &["conversations"], &["serve"], &["backup"], &["cost"]]
    {
        let error = laptop.memoir(command).fail(2);
        assert!(error.contains("this command works with the memory of this machine"), "{error}");
    }
    let error = laptop.memoir(&["-c", "-p", "Hello"]).fail(2);
    assert!(error.contains("a conversation cannot be resumed on another machine"), "{error}");
    let wrong = Laptop::with_token(&server.address, "memoir_1_wrong");
    let error = wrong.memoir(&["-p", QUESTION]).fail(1);
    assert!(error.contains("does not let this machine in") && error.contains("MEMOIR_TOKEN"), "{error}");
    let error = laptop.home.memoir(["-p", QUESTION]).env("MEMOIR_URL", &laptop.url).fail(2);
    assert!(error.contains("needs a token"), "{error}");
    let unsafe_url = Laptop { url: "http://hub.example".into(), ..Laptop::new(&server) };
    let error = unsafe_url.memoir(&["-p", QUESTION]).fail(2);
    assert!(error.contains("would send your token over the network unencrypted"), "{error}");
    // Nothing of this is about memory, or it has one of its own.
    laptop.memoir(&["models", "list"]).succeed();
    assert!(laptop.memoir(&["--incognito", "-p", QUESTION]).output().status.success());
    assert_eq!(prompts(&server), [""; 0]);
}

#[test]
fn an_agent_uses_the_memory_that_the_variable_names() {
    let hub = home();
    let server = HttpServer::start(&hub, &[]);
    let laptop = Laptop::new(&server);
    laptop.ask(STATEMENT);
    let mut client =
        McpClient::start(laptop.memoir(&["mcp", "serve", "--scope", "all"]), McpRevision::V2026, None);
    let recalled = client.call("recall", json!({"question": QUESTION}))["structuredContent"].clone();
    assert_eq!(recalled["answer"], format!("<memory>\n{STATEMENT}\n</memory>"), "{recalled}");
    assert_eq!(client.close(), Some(0));
}

#[test]
fn an_exchange_of_another_machine_is_checked() {
    let hub = home();
    let server = HttpServer::start(&hub, &[]);
    let message = json!({"role": "user", "text": "Hello", "created": "2026-05-01T12:00:00Z"});
    let exchange = json!({
        "thread": "t", "number": 1, "model": "memoir/recall", "messages": [message],
        "started": "2026-05-01T12:00:00Z", "completed": "2026-05-01T12:00:01Z",
    });
    let with = |key: &str, value: Value| {
        let mut changed = exchange.clone();
        changed[key] = value;
        changed
    };
    for (wrong, reason) in [
        (with("thread", json!("")), "`thread` must have"),
        (with("thread", json!("a b")), "`thread` must have"),
        (with("number", json!(0)), "`number` must be at least 1"),
        (with("started", json!("yesterday")), "is not a time"),
        (with("messages", json!([])), "the first message must be from the user"),
        (
            with(
                "messages",
                json!([message, {"role": "tool", "text": "", "created": "2026-05-01T12:00:00Z"}]),
            ),
            "needs the id of its call",
        ),
    ] {
        let (status, detail) = server.post("/api/v1/exchanges", &wrong).problem();
        assert!(status == 400 && detail.contains(reason), "{status} {detail}");
    }
    let stored = server.post("/api/v1/exchanges", &exchange);
    assert_eq!(stored.status, 201);
    assert_eq!(server.post("/api/v1/exchanges", &exchange).json(), stored.json(), "it is stored once");
    // What was forgotten is not stored again.
    let selection = json!({"exchanges": [stored.json()["exchange"]]});
    let plan = server.post("/api/v1/forget/preview", &selection).json()["plan"].clone();
    server.post("/api/v1/forget", &json!({"selection": selection, "plan": plan})).json();
    let (status, detail) = server.post("/api/v1/exchanges", &exchange).problem();
    assert!(status == 410 && detail.contains("has been forgotten since"), "{status} {detail}");
    // What has not happened yet is stored as of now.
    let mut future = with("thread", json!("u"));
    (future["started"], future["completed"]) = (json!("2999-01-01T00:00:00Z"), json!("2999-01-01T00:00:01Z"));
    let stored = server.post("/api/v1/exchanges", &future).json();
    let shown = server.get(&format!("/api/v1/exchanges/{}", stored["exchange"])).json();
    assert!(!shown["started"].as_str().unwrap().starts_with("2999"), "{shown}");
}
