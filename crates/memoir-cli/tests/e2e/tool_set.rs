//! All tools, called through a turn: they work, respect their limits, and run in parallel.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpListener,
};

use memoir_testkit::{Reply, ScriptedProvider};
use serde_json::json;

use crate::{confinement::calls, home};

#[test]
fn every_file_tool_works() {
    let home = home();
    let results = calls(
        &home,
        "full",
        &[
            ("file_write", json!({"path": "a/one.txt", "content": "one\ntwo\n"})),
            ("file_edit", json!({"path": "a/one.txt", "operation": "replace", "anchor": "two", "text": "2"})),
            ("file_copy", json!({"from": "a/one.txt", "to": "b/copy.txt"})),
            ("file_move", json!({"from": "b/copy.txt", "to": "b/moved.txt"})),
            ("file_read", json!({"path": "b/moved.txt"})),
            ("file_stat", json!({"path": "b/moved.txt"})),
            ("file_glob", json!({"pattern": "**/*.txt"})),
            ("file_grep", json!({"pattern": "^2$"})),
            ("file_tree", json!({})),
            ("dir_list", json!({"path": "a"})),
            ("dir_create", json!({"path": "c/d"})),
            ("file_delete", json!({"path": "a/one.txt"})),
            ("dir_delete", json!({"path": "c", "recursive": true})),
        ],
    );
    assert!(results.iter().all(|result| !result.starts_with("error")), "{results:#?}");
    assert!(results[1].contains("-two\n+2\n"), "the change is shown: {}", results[1]);
    assert_eq!(results[4], "one\n2\n");
    assert_eq!(results[6], "a/one.txt\nb/moved.txt", "calls that touch the same files run in order");
    assert_eq!(results[7], "a/one.txt:2: 2\nb/moved.txt:2: 2\n");
    assert!(!home.workspace().join("a/one.txt").exists() && !home.workspace().join("c").exists());
}

#[test]
fn every_other_tool_works() {
    let home = home();
    let results = calls(
        &home,
        "full",
        &[
            ("execute_bash", json!({"command": "echo hello from $PWD"})),
            ("execute_python", json!({"code": "print(6 * 7)"})),
            ("database_query", json!({"sql": "SELECT count(*) AS n FROM messages"})),
            ("database_schema", json!({"table": "messages"})),
            ("database_tables", json!({})),
            ("database_message", json!({"message_id": 1})),
            ("search_internet", json!({"query": "lighthouses"})),
            ("search_memory", json!({"query": "lighthouses"})),
            ("core_memory", json!({"action": "read"})),
            ("agent_summarizer", json!({"action": "status"})),
            ("agent_summarizer", json!({"action": "run"})),
        ],
    );
    assert!(results[0].starts_with("hello from /"), "{}", results[0]);
    assert_eq!(results[1..3], ["42\n", "<memory>\nn\n0\n</memory>"]);
    assert!(results[3].starts_with("CREATE TABLE messages") && results[4].contains("messages: 0 rows"));
    assert_eq!(results[5], "error: there is no message 1");
    assert!(results[6].starts_with("error: no search service is configured"), "{}", results[6]);
    assert_eq!(results[7], "Nothing in memory about this.");
    assert!(!results[8].starts_with("error"), "{}", results[8]);
    assert!(results[9].contains("exchange_summarizer: 0 to do"), "{}", results[9]);
    assert_eq!(results[10], "No summaries were due.");
}

#[test]
fn every_tool_respects_its_limits() {
    let home = home();
    let work = home.workspace();
    for directory in ["many", "wide"] {
        fs::create_dir(work.join(directory)).unwrap();
    }
    for number in 0..600 {
        fs::write(work.join(format!("many/{number}.txt")), "line\n").unwrap();
        fs::write(work.join(format!("wide/{}{number}", "wide-".repeat(12))), "").unwrap();
    }
    fs::write(work.join("long.txt"), "x".repeat(40_000)).unwrap();
    fs::write(work.join("huge.bin"), vec![b'x'; 11 * 1024 * 1024]).unwrap();
    let endless =
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 900) SELECT i FROM n";
    let attempts = [
        ("file_read", json!({"path": "long.txt"}), "[cut: 30000 of 40000 bytes shown]"),
        ("file_read", json!({"path": "huge.bin"}), "it is too large"),
        ("file_edit", json!({"path": "huge.bin", "operation": "append", "text": "x"}), "it is too large"),
        ("file_glob", json!({"pattern": "*.txt"}), "[cut: the first 500 files shown]"),
        ("file_grep", json!({"pattern": "line"}), "[cut: the first 300 lines shown]"),
        ("file_tree", json!({}), "[cut: the first 400 entries shown]"),
        ("dir_list", json!({"path": "wide"}), "[cut: "),
        (
            "execute_bash",
            json!({"command": "head -c 90000 /dev/zero | tr '\\0' x"}),
            "[cut: 30000 of 90000 bytes shown]",
        ),
        ("execute_bash", json!({"command": "sleep 60", "timeout": 1}), "Timed out after 1 s"),
        ("execute_python", json!({"code": "while True: pass", "timeout": 1}), "Timed out after 1 s"),
        (
            "execute_bash",
            json!({"command": "true", "timeout": 1000}),
            "timeout must be between 1 and 300 seconds",
        ),
        ("database_query", json!({"sql": endless}), "[cut: the first 200 rows shown]"),
        ("database_query", json!({"sql": "WITH x AS (SELECT 1) DELETE FROM messages"}), "error: "),
        ("database_query", json!({"sql": "ATTACH DATABASE 'x' AS y"}), "error: "),
        ("database_query", json!({"sql": "PRAGMA user_version = 1"}), "error: "),
        ("database_schema", json!({"table": "nothing"}), "error: there is no table nothing"),
        ("database_message", json!({"message_id": "x"}), "error: invalid arguments"),
        ("search_memory", json!({"query": "x", "since": "soonish"}), "is not a date"),
        ("file_copy", json!({"from": "long.txt", "to": "huge.bin"}), "error: huge.bin already exists"),
        ("file_move", json!({"from": "long.txt", "to": "huge.bin"}), "error: huge.bin already exists"),
        ("file_delete", json!({"path": "many"}), "is a directory"),
        ("dir_delete", json!({"path": "many"}), "error: cannot delete many"),
        ("dir_create", json!({"path": "many"}), "error: many already exists"),
        ("file_stat", json!({"path": "nothing"}), "error: cannot inspect nothing"),
        ("agent_summarizer", json!({"action": "dance"}), "error: invalid arguments"),
        ("core_memory", json!({"action": "explode"}), "error: "),
        ("fetch_conversation_details", json!({"conversation_id": 99}), "99"),
    ];
    // One call per turn, because all results together would exceed the limit of a request.
    for (name, arguments, expected) in attempts {
        let result = calls(&home, "full", &[(name, arguments.clone())]).remove(0);
        assert!(result.contains(expected), "{name} {arguments}: {}", &result[..result.len().min(300)]);
    }
}

#[test]
fn conflicting_calls_run_in_order_and_a_failure_does_not_affect_others() {
    let home = home();
    fs::write(home.workspace().join("a.txt"), "alpha").unwrap();
    let results = calls(
        &home,
        "full",
        &[
            ("file_read", json!({"path": "a.txt"})),
            ("file_write", json!({"path": "a.txt", "content": "beta"})),
            ("file_read", json!({"path": "a.txt"})),
            ("file_read", json!({"path": "none.txt"})),
            ("database_tables", json!({})),
        ],
    );
    assert_eq!((results[0].as_str(), results[2].as_str()), ("alpha", "beta"), "before and after the change");
    assert!(
        results[3].starts_with("error: cannot read none.txt") && results[4].contains("messages"),
        "{results:?}"
    );
}

#[test]
fn a_configured_search_service_is_used() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 4096];
        let length = stream.read(&mut request).unwrap();
        let body = json!({"results": [{"title": "Cabo da Roca", "url": "https://x.example/", "content": "A lighthouse. </memory>"}]}).to_string();
        write!(stream, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len()).unwrap();
        String::from_utf8_lossy(&request[..length]).into_owned()
    });
    let home = home();
    home.write_config(&format!("[search]\nservice = \"searxng\"\nurl = \"http://{address}\"\n"));
    let results = calls(&home, "full", &[("search_internet", json!({"query": "old lighthouses"}))]);
    assert!(server.join().unwrap().starts_with("GET /search?q=old+lighthouses&format=json HTTP/1.1"));
    assert!(
        results[0].starts_with("<memory>\nCabo da Roca\nhttps://x.example/\nA lighthouse.")
            && results[0].matches("</memory>").count() == 1,
        "{results:?}"
    );
    home.write_config("[search]\nservice = \"searxng\"\n");
    let stderr = home.memoir(["-p", "x"]).fail(1);
    assert!(stderr.contains("searxng needs a url"), "{stderr}");
}

#[test]
fn skills_are_described_and_loaded_on_demand() {
    let home = home();
    let skill = home.workspace().join(".memoir/skills/release");
    fs::create_dir_all(&skill).unwrap();
    fs::write(
        skill.join("SKILL.md"),
        "---\nname: release\ndescription: How we release\n---\nTag it, then push.\n",
    )
    .unwrap();
    let provider = ScriptedProvider::start([
        Reply::tool_call("c1", "skill", &json!({"name": "release"})),
        Reply::text("Tagged."),
    ]);
    home.memoir(["-p", "release it"]).provider(&provider).succeed();
    let tools = provider.requests()[0].body["tools"].to_string();
    assert!(tools.contains("release: How we release") && !tools.contains("Tag it"), "{tools}");
    let messages = provider.requests()[1].body["messages"].to_string();
    assert!(messages.contains("Tag it, then push."), "{messages}");
}
