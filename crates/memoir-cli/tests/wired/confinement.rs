//! Who may do what, tried through real turns: what is allowed, what is refused, and what must never get through.

use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpListener,
    os::unix::fs::symlink,
    path::Path,
};

use memoir_testkit::{Home, Reply, ScriptedProvider, Terminal};
use serde_json::{Value, json};

use crate::home;

/// Has the model make calls in one reply, under an approval mode, and gives what each was answered.
fn calls(home: &Home, mode: &str, calls: &[(&str, Value)]) -> Vec<String> {
    let mut reply = Reply::text("");
    for (number, (name, arguments)) in calls.iter().enumerate() {
        reply = match number {
            0 => Reply::tool_call("c0", name, arguments),
            _ => reply.and_tool_call(&format!("c{number}"), name, arguments),
        };
    }
    let provider = ScriptedProvider::start([reply, Reply::text("Done.")]);
    // The usual one holds the whole home, and commands may write there.
    let temporary = home.workspace().parent().unwrap().join("temporary");
    fs::create_dir_all(&temporary).unwrap();
    home.memoir(["-p", "do it", "--approval", mode])
        .provider(&provider)
        .env("SECRET_OF_MINE", "hunter2hunter2")
        .env("TMPDIR", &temporary)
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .succeed();
    let messages = provider.requests()[1].body["messages"].clone();
    let results = messages.as_array().unwrap().iter().filter(|message| message["role"] == "tool");
    results.map(|result| result["content"].as_str().unwrap().to_owned()).collect()
}

fn bash(home: &Home, mode: &str, command: &str) -> String {
    calls(home, mode, &[("execute_bash", json!({"command": command}))]).remove(0)
}

/// A folder beside the workspace, with something in it that must stay as it is.
fn outside(home: &Home) -> std::path::PathBuf {
    let outside = home.workspace().parent().unwrap().join("outside");
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("precious"), "precious").unwrap();
    outside
}

#[test]
fn each_tool_of_files_works_through_a_turn() {
    let home = home();
    let said = calls(
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
    assert!(said.iter().all(|said| !said.starts_with("error")), "{said:#?}");
    assert!(said[1].contains("-two\n+2\n"), "the change is shown: {}", said[1]);
    assert_eq!(said[4], "one\n2\n");
    assert_eq!(said[6], "a/one.txt\nb/moved.txt", "in order, one after the other where they touch the same");
    assert_eq!(said[7], "a/one.txt:2: 2\nb/moved.txt:2: 2\n");
    assert!(!home.workspace().join("a/one.txt").exists() && !home.workspace().join("c").exists());
}

#[test]
fn other_tools_work_through_a_turn() {
    let home = home();
    let said = calls(
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
    assert!(said[0].starts_with("hello from /"), "{}", said[0]);
    assert_eq!(said[1..3], ["42\n", "n\n0\n"]);
    assert!(said[3].starts_with("CREATE TABLE messages") && said[4].contains("messages: 0 rows"));
    assert_eq!(said[5], "error: there is no message 1");
    assert!(said[6].starts_with("error: no search service is set up"), "{}", said[6]);
    assert_eq!(said[7], "Nothing in memory about this.");
    assert!(!said[8].starts_with("error"), "{}", said[8]);
    assert!(said[9].contains("exchange_summarizer: 0 to do"), "{}", said[9]);
    assert_eq!(said[10], "Nothing was due.");
}

#[test]
fn each_tool_keeps_to_its_limit() {
    let home = home();
    let work = home.workspace();
    for folder in ["many", "wide"] {
        fs::create_dir(work.join(folder)).unwrap();
    }
    for number in 0..600 {
        fs::write(work.join(format!("many/{number}.txt")), "line\n").unwrap();
        fs::write(work.join(format!("wide/{}{number}", "wide-".repeat(12))), "").unwrap();
    }
    fs::write(work.join("long.txt"), "x".repeat(40_000)).unwrap();
    fs::write(work.join("huge.bin"), vec![b'x'; 11 * 1024 * 1024]).unwrap();
    let endless =
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 900) SELECT i FROM n";
    let tried = [
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
        ("execute_bash", json!({"command": "sleep 60", "timeout": 1}), "It took longer than 1 s"),
        ("execute_python", json!({"code": "while True: pass", "timeout": 1}), "It took longer than 1 s"),
        ("execute_bash", json!({"command": "true", "timeout": 1000}), "timeout is 1 to 300 seconds"),
        ("database_query", json!({"sql": endless}), "[cut: the first 200 rows shown]"),
        ("database_query", json!({"sql": "WITH x AS (SELECT 1) DELETE FROM messages"}), "error: "),
        ("database_query", json!({"sql": "ATTACH DATABASE 'x' AS y"}), "error: "),
        ("database_query", json!({"sql": "PRAGMA user_version = 1"}), "error: "),
        ("database_schema", json!({"table": "nothing"}), "error: there is no table nothing"),
        ("database_message", json!({"message_id": "x"}), "error: the arguments do not fit"),
        ("search_memory", json!({"query": "x", "since": "soonish"}), "is not a date"),
        ("file_copy", json!({"from": "long.txt", "to": "huge.bin"}), "error: huge.bin exists"),
        ("file_move", json!({"from": "long.txt", "to": "huge.bin"}), "error: huge.bin exists"),
        ("file_delete", json!({"path": "many"}), "is a folder"),
        ("dir_delete", json!({"path": "many"}), "error: cannot delete many"),
        ("dir_create", json!({"path": "many"}), "error: many exists"),
        ("file_stat", json!({"path": "nothing"}), "error: cannot look at nothing"),
        ("agent_summarizer", json!({"action": "dance"}), "error: the arguments do not fit"),
        ("core_memory", json!({"action": "explode"}), "error: "),
        ("fetch_conversation_details", json!({"conversation_id": 99}), "99"),
    ];
    // One at a time: together they would be too much for a request, and be cut again.
    for (name, arguments, expected) in tried {
        let said = calls(&home, "full", &[(name, arguments.clone())]).remove(0);
        assert!(said.contains(expected), "{name} {arguments}: {}", &said[..said.len().min(300)]);
    }
}

#[test]
fn without_a_policy_nothing_is_changed_or_run_and_reading_is_free() {
    let home = home();
    fs::write(home.workspace().join("a.txt"), "alpha").unwrap();
    let asked = [
        ("file_read", json!({"path": "a.txt"})),
        ("file_write", json!({"path": "b.txt", "content": "x"})),
        ("execute_bash", json!({"command": "touch c.txt"})),
        ("file_read", json!({"path": "/etc/hostname"})),
    ];
    let said = calls(&home, "ask", &asked);
    assert_eq!(said[0], "alpha");
    assert!(said[1..].iter().all(|said| said.contains("nobody is there to allow it")), "{said:?}");
    let said = calls(&home, "read-only", &asked);
    assert!(said[1].contains("the approval mode is read-only"), "{said:?}");
    let said = calls(&home, "auto-edit", &asked);
    assert!(said[1].starts_with("b.txt is written") && said[2].contains("nobody is there"), "{said:?}");
    assert!(!home.workspace().join("c.txt").exists());
    let failed = home.memoir(["-p", "x", "--approval", "everything"]).fail(2);
    assert!(failed.contains("There are read-only, ask, auto-edit, full."), "{failed}");
}

#[test]
fn rules_allow_a_command_and_nothing_that_hides_behind_it() {
    let home = home();
    outside(&home);
    home.write_config("[approval]\nallow = [\"execute_bash(echo ok)\", \"file_write(notes/**)\"]\ndeny = [\"file_delete\", \"execute_bash(touch)\"]\n");
    assert_eq!(bash(&home, "ask", "echo ok then"), "ok then\n");
    for command in [
        "echo ok; touch x",
        "echo ok && touch x",
        "echo ok $(touch x)",
        "echo ok `touch x`",
        "echo ok\ntouch x",
        "echo ok | tee x",
        "echo ok > x",
        "echo okay",
        "echo \"ok\" \"$(touch x)\"",
        "cat <(echo ok)",
        "echo ok &",
    ] {
        assert!(bash(&home, "ask", command).starts_with("error: not allowed"), "{command}");
    }
    let said = calls(
        &home,
        "ask",
        &[
            ("file_write", json!({"path": "notes/a.txt", "content": "x"})),
            ("file_write", json!({"path": "notes/../b.txt", "content": "x"})),
        ],
    );
    assert!(said[0].starts_with("notes/a.txt is written") && said[1].contains("nobody is there"), "{said:?}");
    // What is denied is denied in every mode.
    let said = calls(
        &home,
        "full",
        &[
            ("file_delete", json!({"path": "notes/a.txt"})),
            ("execute_bash", json!({"command": "true; touch x"})),
        ],
    );
    assert!(said.iter().all(|said| said.contains("forbids it")), "{said:?}");
    assert!(!home.workspace().join("x").exists() && home.workspace().join("notes/a.txt").exists());
}

#[test]
fn no_path_leads_out_of_the_workspace() {
    let home = home();
    let outside = outside(&home);
    let work = home.workspace();
    symlink(&outside, work.join("link")).unwrap();
    symlink(outside.join("precious"), work.join("file-link")).unwrap();
    fs::hard_link(outside.join("precious"), work.join("hard")).unwrap();
    let absolute = outside.join("new").to_str().unwrap().to_owned();
    let write = |path: &str| ("file_write", json!({"path": path, "content": "x"}));
    let tried = [
        write("../outside/new"),
        write("link/new"),
        write("file-link"),
        write(&absolute),
        write("/proc/self/root/tmp/new-of-memoir"),
        write("/proc/self/cwd/../outside/new"),
        ("file_delete", json!({"path": "../outside/precious"})),
        ("file_delete", json!({"path": "link/precious"})),
        ("file_move", json!({"from": "link/precious", "to": "mine"})),
        ("file_move", json!({"from": "hard", "to": "../outside/hard"})),
        ("file_copy", json!({"from": "file-link", "to": "mine"})),
        ("file_edit", json!({"path": "file-link", "operation": "append", "text": "x"})),
        ("dir_create", json!({"path": "link/deeper"})),
        ("dir_delete", json!({"path": "link", "recursive": true})),
        ("dir_list", json!({"path": ".."})),
        ("file_grep", json!({"pattern": "precious", "path": "link"})),
        ("file_glob", json!({"pattern": "*", "path": "/"})),
        ("file_tree", json!({"path": "link"})),
        ("file_stat", json!({"path": "file-link"})),
    ];
    for (said, tried) in calls(&home, "full", &tried).iter().zip(&tried) {
        assert!(said.starts_with("error: "), "{tried:?}: {said}");
    }
    // Writing to what has another name outside leaves the other alone.
    calls(&home, "full", &[("file_edit", json!({"path": "hard", "operation": "append", "text": "changed"}))]);
    let left: Vec<String> = fs::read_dir(&outside)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(
        (left, fs::read_to_string(outside.join("precious")).unwrap()),
        (vec!["precious".to_owned()], "precious".to_owned())
    );
}

/// Landlock is what is tried here; a kernel without it says so instead.
fn kernel_confines() -> bool {
    fs::read_to_string("/sys/kernel/security/lsm").map_or(true, |names| names.contains("landlock"))
}

#[test]
fn commands_write_nowhere_else_and_find_no_keys() {
    let home = home();
    let outside = outside(&home);
    let place = outside.display();
    assert_eq!(
        bash(
            &home,
            "full",
            "echo x > mine && cat mine && echo y > /dev/null && mktemp >/dev/null && echo done"
        ),
        "x\ndone\n"
    );
    let env = bash(
        &home,
        "full",
        "env; printenv OPENAI_API_KEY; bash -c 'echo $SECRET_OF_MINE'; cat /proc/self/environ | tr '\\0' '\\n'",
    );
    assert!(env.contains("PATH=") && !env.contains("hunter2") && !env.contains("OPENAI_API_KEY"), "{env}");
    if !kernel_confines() {
        return;
    }
    for command in [
        format!("echo x > {place}/new"),
        format!("rm -f {place}/precious"),
        format!("mv {place}/precious stolen"),
        format!("ln {place}/precious hard"),
        format!("ln -s {place} soft && echo x > soft/new"),
        format!("mkdir there && mount --bind {place} there && echo x > there/new"),
        format!("unshare -rm sh -c 'mkdir -p b && mount --bind {place} b && echo x > b/new'"),
        format!("echo x >> {place}/precious"),
        format!("truncate -s 0 {place}/precious"),
        format!("python3 -c \"open('{place}/new', 'w')\""),
        format!("setsid sh -c 'echo x > {place}/new'"),
        format!("echo x > /proc/self/root{place}/new"),
    ] {
        bash(&home, "full", &command);
        let left: Vec<_> = fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left, ["precious"], "{command}");
        assert_eq!(fs::read_to_string(outside.join("precious")).unwrap(), "precious", "{command}");
    }
}

#[test]
fn nothing_outlives_a_command() {
    let home = home();
    let said =
        bash(&home, "full", "setsid sleep 311 >/dev/null 2>&1 & echo $!; (sleep 312 & echo $!) ; echo over");
    let pids: Vec<&str> =
        said.lines().filter(|line| line.chars().all(|letter| letter.is_ascii_digit())).collect();
    assert_eq!(pids.len(), 2, "{said}");
    for pid in pids {
        assert!(!Path::new(&format!("/proc/{pid}")).exists(), "{pid}");
    }
    let late = calls(&home, "full", &[("execute_bash", json!({"command": "sleep 313", "timeout": 1}))]);
    assert!(late[0].starts_with("It took longer than 1 s"), "{late:?}");
}

#[test]
fn calls_that_cannot_conflict_run_side_by_side_and_one_failure_harms_no_other() {
    let home = home();
    fs::write(home.workspace().join("a.txt"), "alpha").unwrap();
    let said = calls(
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
    assert_eq!((said[0].as_str(), said[2].as_str()), ("alpha", "beta"), "before and after the change");
    assert!(said[3].starts_with("error: cannot read none.txt") && said[4].contains("messages"), "{said:?}");
}

#[test]
fn a_search_service_is_asked_when_one_is_set() {
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
    let said = calls(&home, "full", &[("search_internet", json!({"query": "old lighthouses"}))]);
    assert!(server.join().unwrap().starts_with("GET /search?q=old+lighthouses&format=json HTTP/1.1"));
    assert!(
        said[0].starts_with("<memory>\nCabo da Roca\nhttps://x.example/\nA lighthouse.")
            && said[0].matches("</memory>").count() == 1,
        "{said:?}"
    );
    home.write_config("[search]\nservice = \"searxng\"\n");
    let failed = home.memoir(["-p", "x"]).fail(1);
    assert!(failed.contains("searxng needs a url"), "{failed}");
}

#[test]
fn the_user_is_shown_the_very_command_and_asked() {
    let home = home();
    let call = |id: &str, command: &str| Reply::tool_call(id, "execute_bash", &json!({"command": command}));
    let provider = ScriptedProvider::start([
        call("c1", "echo one > one.txt"),
        Reply::text("First."),
        call("c2", "touch two.txt"),
        Reply::text("Second."),
        call("c3", "touch two.txt"),
        Reply::text("Third."),
        Reply::tool_call("c4", "file_write", &json!({"path": "three.txt", "content": "three\n"})),
        Reply::text("Fourth."),
    ]);
    let mut terminal = Terminal::open(&home, Some(&provider), (40, 120), &["--model", "gpt-5-mini"]);
    terminal.wait_for_prompt();
    let ask = |words: &str, wait: &str, key: &str, then: &str| {
        terminal.type_keys(&format!("{words}\r"));
        if !wait.is_empty() {
            terminal.wait_for(wait);
            terminal.type_keys(&format!("{key}\r"));
        }
        terminal.wait_for(then);
        terminal.wait_for_prompt();
    };
    ask(
        "one please",
        "execute_bash wants to do this:\r\necho one > one.txt".replace('\r', "").as_str(),
        "n",
        "First.",
    );
    assert!(!home.workspace().join("one.txt").exists());
    ask("two please", "a to always allow execute_bash(=touch two.txt) in this project", "a", "Second.");
    fs::remove_file(home.workspace().join("two.txt")).unwrap();
    ask("two again", "", "", "Third.");
    assert!(home.workspace().join("two.txt").exists(), "it is not asked again");
    ask("three please", "+three", "y", "Fourth.");
    assert_eq!(fs::read_to_string(home.workspace().join("three.txt")).unwrap(), "three\n");
    terminal.type_keys("/approval\r");
    terminal.wait_for("1  allow execute_bash(=touch two.txt) in this project");
    terminal.type_keys("/approval revoke 1\r");
    terminal.wait_for("> /approval revoke 1");
    terminal.wait_for_prompt();
    terminal.type_keys("/approval deny execute_bash(git push)\r");
    terminal.wait_for("2  deny execute_bash(git push) in this project");
    terminal.type_keys("/exit\r");
    assert_eq!(terminal.wait_for_exit(), 0);
    assert_eq!(home.rows("approval_rules").len(), 1);
    let results = provider.requests()[1].body["messages"].to_string();
    assert!(results.contains("not allowed: the user does not allow it"), "{results}");
}

#[test]
fn secrets_never_reach_the_database() {
    let home = home();
    let letters =
        |count: usize| "aB3dE6gH9jKmN2pQ5rStU8wXyZ4".chars().cycle().take(count).collect::<String>();
    let secrets = [
        format!("sk-ant-api03-{}", letters(80)),
        format!("sk-proj-{}", letters(60)),
        format!("AIza{}", letters(35)),
        format!("xai-{}", letters(60)),
        format!("ghp_{}", letters(36)),
        format!("github_pat_{}", letters(50)),
        format!("glpat-{}", letters(20)),
        format!("xoxb-1234567890-{}", letters(24)),
        format!("AKIA{}", "ABCD2345EFGH6723"),
        format!("sk_live_{}", letters(24)),
        format!("SG.{}.{}", letters(22), letters(43)),
        format!("npm_{}", letters(36)),
        format!("pypi-{}", letters(100)),
        format!("hf_{}", letters(34)),
        format!("dckr_pat_{}", letters(27)),
        format!("hvs.{}", letters(60)),
        format!("ya29.{}", letters(60)),
        format!("eyJ{}.eyJ{}.{}", letters(30), letters(60), letters(43)),
        format!("lin_api_{}", letters(40)),
        format!("123456789:AA{}", letters(33)),
        "swordfish-in-an-address".to_owned(),
        "swordfish-in-quotes".to_owned(),
    ];
    let shown = |secret: &String| match secret.as_str() {
        "swordfish-in-an-address" => format!("postgres://me:{secret}@db/x"),
        "swordfish-in-quotes" => format!("password = \"{secret}\""),
        secret => secret.to_owned(),
    };
    let text: String = secrets.iter().map(|secret| format!("{}\n", shown(secret))).collect();
    fs::write(home.workspace().join("env.txt"), &text).unwrap();
    let provider = ScriptedProvider::start([
        Reply::tool_call("c1", "file_read", &json!({"path": "env.txt"})),
        Reply::tool_call("c2", "execute_bash", &json!({"command": format!("echo '{}'", shown(&secrets[4]))})),
        Reply::text(&format!("I read {} in it.", shown(&secrets[5]))),
    ]);
    let prompt = format!("What is in env.txt? My own key is {}.", shown(&secrets[0]));
    // While another program has the database open, there is a write-ahead log to look into.
    let open = Terminal::open(&home, None, (24, 80), &["--model", "memoir/recall"]);
    open.wait_for_prompt();
    home.memoir(["-p", &prompt, "--approval", "full"]).provider(&provider).succeed();
    home.memoir(["worker", "run", "--until-idle"]).succeed();
    assert!(fs::metadata(home.memoir_home().join("memoir.db-wal")).unwrap().len() > 0);
    assert!(
        provider.requests()[1].body.to_string().contains(&secrets[1]),
        "the model works with what is there"
    );
    for file in fs::read_dir(home.memoir_home()).unwrap() {
        let path = file.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        for secret in &secrets {
            // Not even a good part of one.
            let part = &secret.as_bytes()[..secret.len().min(20)];
            let found = bytes.windows(part.len()).any(|window| window == part);
            assert!(!found, "{secret} is in {}", path.display());
        }
    }
    // Nor is one shown when calls are.
    let provider = ScriptedProvider::start([
        Reply::tool_call("c1", "execute_bash", &json!({"command": format!("echo {}", secrets[4])})),
        Reply::text("Done."),
    ]);
    let output = home
        .memoir(["-p", "again", "--approval", "full", "-vv", "--output-format", "stream-json"])
        .provider(&provider)
        .output();
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("[redacted: GitHub token]") && !said.contains(&secrets[4]), "{said}");
    let redactions = home.rows("redactions");
    assert!(redactions.len() >= secrets.len(), "{redactions:?}");
    let terminal = Terminal::open(&home, None, (60, 140), &["--model", "memoir/recall"]);
    terminal.wait_for_prompt();
    terminal.type_keys("/redaction\r");
    terminal.wait_for("GitHub token in exchange 2, tool result: it looks as its issuer makes them");
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
    let offered = provider.requests()[0].body["tools"].to_string();
    assert!(offered.contains("release: How we release") && !offered.contains("Tag it"), "{offered}");
    let messages = provider.requests()[1].body["messages"].to_string();
    assert!(messages.contains("Tag it, then push."), "{messages}");
}

/// A server of two tools, spoken to line by line, and the same over HTTP.
const SERVER: &str = r#"
import json, sys, http.server
def answer(request):
    method = request.get("method")
    if method == "initialize":
        return {"protocolVersion": request["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "made", "version": "1"}}
    if method == "tools/list":
        schema = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
        return {"tools": [{"name": "shout", "description": "Says a word loudly.", "inputSchema": schema}, {"name": "fail", "description": "Fails.", "inputSchema": schema}]}
    if method == "tools/call":
        word = request["params"]["arguments"]["word"]
        if request["params"]["name"] == "fail":
            return {"content": [{"type": "text", "text": "it failed on purpose"}], "isError": True}
        return {"content": [{"type": "text", "text": word.upper() + "!"}]}
    return {}
def reply(request):
    return {"jsonrpc": "2.0", "id": request["id"], "result": answer(request)}
if sys.argv[1] == "stdio":
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            print(json.dumps(reply(request)), flush=True)
else:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["content-length"])))
            body = json.dumps(reply(request)).encode() if "id" in request else b""
            self.send_response(200 if body else 202)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        def do_GET(self):
            self.send_response(405); self.send_header("content-length", "0"); self.end_headers()
        do_DELETE = do_GET
        def log_message(self, *_): pass
    server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()
"#;

#[test]
fn tools_of_other_servers_are_offered_under_the_same_approvals() {
    let home = home();
    let script = home.workspace().parent().unwrap().join("server.py");
    fs::write(&script, SERVER).unwrap();
    let script = script.to_str().unwrap();
    let mut over_http = std::process::Command::new("python3")
        .args([script, "http"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut port = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(over_http.stdout.take().unwrap()), &mut port)
        .unwrap();
    home.write_config(&format!(
        "[approval]\nallow = [\"made__*\"]\n[mcp.made]\ncommand = \"python3\"\nargs = [\"{script}\", \"stdio\"]\n\
         [mcp.far]\nurl = \"http://127.0.0.1:{}/mcp\"\n[mcp.broken]\ncommand = \"/nowhere/at/all\"\n",
        port.trim()
    ));
    let said = calls(
        &home,
        "ask",
        &[
            ("made__shout", json!({"word": "hello"})),
            ("made__fail", json!({"word": "hello"})),
            ("far__shout", json!({"word": "hello"})),
        ],
    );
    assert_eq!(said[..2], ["HELLO!", "error: it failed on purpose"]);
    assert!(said[2].contains("nobody is there to allow it"), "{said:?}");
    let said = calls(
        &home,
        "full",
        &[("far__shout", json!({"word": "far"})), ("made__shout", json!({"word": "near"}))],
    );
    assert_eq!(said, ["FAR!", "NEAR!"]);
    let said = calls(&home, "read-only", &[("made__shout", json!({"word": "x"}))]);
    assert!(said[0].contains("read-only"), "{said:?}");
    // One that cannot be reached is said, and harms nothing.
    let provider = ScriptedProvider::always(Reply::text("Fine."));
    let output =
        home.memoir(["-p", "hi"]).provider(&provider).env("PATH", "/usr/local/bin:/usr/bin:/bin").output();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.contains("The server broken is left out: "), "{said}");
    over_http.kill().unwrap();
    over_http.wait().unwrap();
}

/// With a server from a registry, which `.ci/run` installs. Where it is not there, the one above stands for it.
#[test]
fn a_server_from_a_registry_is_talked_to() {
    let Some(server) = std::env::var_os("MEMOIR_TEST_TIME_SERVER") else { return };
    let home = home();
    home.write_config(&format!("[mcp.time]\ncommand = {:?}\n", server.to_str().unwrap()));
    let said = calls(
        &home,
        "full",
        &[
            (
                "time__convert_time",
                json!({"source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo"}),
            ),
            (
                "time__convert_time",
                json!({"source_timezone": "Nowhere", "time": "12:00", "target_timezone": "UTC"}),
            ),
        ],
    );
    assert!(said[0].contains("21:00:00+09:00"), "{said:?}");
    assert!(said[1].starts_with("error: "), "{said:?}");
}
