//! Sub-agents and scheduled tasks: tasks run on schedule, remember their runs, follow their permission rules,
//! and report.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _},
};

use memoir_testkit::{Reply, ScriptedProvider, Terminal, TestHome, database::Edit, wait_until};
use serde_json::{Value, json};

use crate::home;

fn schedule<'a>(home: &TestHome, arguments: impl IntoIterator<Item = &'a str>) -> memoir_testkit::ProgramRun {
    home.memoir(["schedule"].into_iter().chain(arguments))
}

fn add(home: &TestHome, name: &str, options: &[&str]) {
    let arguments = ["add", name, "Tell what is new.", "--cron", "0 9 * * *", "--model", "gpt-5-mini"];
    let output = schedule(home, arguments.into_iter().chain(options.iter().copied())).succeed();
    assert!(
        output.starts_with(&format!("{name} is due on ")) && output.contains(" 09:00. It runs while"),
        "{output}"
    );
}

fn run(home: &TestHome, name: &str, provider: &ScriptedProvider) -> String {
    schedule(home, ["run", name]).provider(provider).succeed()
}

/// Returns all messages of a request as one text.
fn request_text(provider: &ScriptedProvider, request: usize) -> String {
    let messages = provider.requests()[request].messages();
    messages.into_iter().map(|(role, text)| format!("[{role}] {text}\n")).collect()
}

#[test]
fn each_run_remembers_the_last_ones_oldest_first() {
    let home = home();
    add(&home, "news", &["--history", "3"]);
    let provider =
        ScriptedProvider::start((1..=7).map(|number| Reply::text(&format!("Report number {number}."))));
    assert_eq!(run(&home, "news", &provider), "Report number 1.\n");
    assert_eq!(run(&home, "news", &provider), "Report number 2.\n");
    let second = request_text(&provider, 1);
    assert!(
        second.contains("[user] Tell what is new.\n[assistant] Report number 1.\n[user] Tell what is new.\n"),
        "{second}"
    );
    for _ in 3..=7 {
        run(&home, "news", &provider);
    }
    let seventh = request_text(&provider, 6);
    let places: Vec<_> = [4, 5, 6].map(|number| seventh.find(&format!("Report number {number}."))).into();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{seventh}");
    assert!(!seventh.contains("Report number 3."), "only the last three runs are included: {seventh}");
    // The task is told that it runs alone.
    let system = provider.requests()[6].body.to_string();
    assert!(system.contains("You work alone on the task below"), "{system}");
    let directory = home.memoir_home().join("conversations/scheduler_news");
    let files: Vec<_> = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    let lines = fs::read_to_string(&files[0]).unwrap();
    assert_eq!(lines.lines().count(), 14, "{lines}");
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!((&first["role"], &first["content"]), (&json!("user"), &json!("Tell what is new.")));
    assert!(home.conversations().is_empty(), "a run is not a conversation");
    assert!(home.costs().iter().all(|cost| cost.purpose == "task"));
    assert_eq!(home.count_calls("task"), 7);
}

#[test]
fn a_subagent_gets_core_memory_and_no_recall() {
    let home = home();
    let provider = ScriptedProvider::start([
        Reply::tool_call(
            "1",
            "core_memory",
            &json!({"action": "append", "block": "user", "text": "The user is called Ada."}),
        ),
        Reply::text("Noted that the greenhouse has a wax cylinder."),
        Reply::text("Nothing new in the greenhouse."),
    ]);
    home.memoir(["-p", "I am Ada, and my greenhouse vent has a wax cylinder."]).provider(&provider).succeed();
    schedule(
        &home,
        ["add", "garden", "What about the wax cylinder of the greenhouse vent?", "--cron", "0 9 * * *"],
    )
    .succeed();
    run(&home, "garden", &provider);
    let request = provider.requests()[2].body.to_string();
    assert!(request.contains("The user is called Ada."), "core memory is included: {request}");
    assert!(
        !request.contains("Related Past Conversations") && !request.contains("I am Ada, and"),
        "{request}"
    );
}

#[test]
fn actions_without_permission_are_denied_and_reported() {
    let home = home();
    let call = || Reply::tool_call("1", "file_write", &json!({"path": "out.txt", "content": "x"}));
    add(&home, "careful", &[]);
    let provider = ScriptedProvider::start([call(), Reply::text("I could not write.")]);
    let report = run(&home, "careful", &provider);
    assert_eq!(report, "I could not write.\n\nCalls that were not allowed: file_write.\n");
    assert!(!home.workspace().join("out.txt").exists());
    add(&home, "free", &["--approval", "ask", "--allow", "file_write(out.txt)"]);
    let provider = ScriptedProvider::start([call(), Reply::text("Written.")]);
    assert_eq!(run(&home, "free", &provider), "Written.\n");
    assert!(home.workspace().join("out.txt").exists());
    // The whole run is remembered, including tool calls.
    let provider = ScriptedProvider::always(Reply::text("Again."));
    run(&home, "free", &provider);
    let body = provider.requests()[0].body.to_string();
    assert!(body.contains("\"tool_call_id\":\"1\"") && body.contains("Written."), "{body}");
}

#[test]
fn time_and_cost_are_limited_and_failures_are_reported() {
    let home = home();
    add(&home, "slow", &["--timeout", "1"]);
    let silent = ScriptedProvider::always(Reply::text("…").stalled());
    let stderr = schedule(&home, ["run", "slow"]).provider(&silent).fail(1);
    assert!(stderr.contains("slow timed out: The run exceeded its time limit of 1 s."), "{stderr}");
    add(&home, "dear", &["--budget", "0.001", "--approval", "full"]);
    let spending = ScriptedProvider::always(
        Reply::tool_call("1", "dir_list", &json!({"path": "."})).usage(1_000_000, 10, 0),
    );
    let stderr = schedule(&home, ["run", "dear"]).provider(&spending).fail(1);
    assert!(stderr.contains("dear failed"), "{stderr}");
    assert_eq!(spending.requests().len(), 1, "no further request is made");
    add(&home, "broken", &[]);
    let refusing = ScriptedProvider::always(Reply::status(401, "bad key"));
    let stderr = schedule(&home, ["run", "broken"]).provider(&refusing).fail(1);
    assert!(stderr.contains("broken failed: the server rejected the API key"), "{stderr}");
    let provider = ScriptedProvider::always(Reply::text("Fine."));
    run(&home, "broken", &provider);
    assert!(!request_text(&provider, 0).contains("[assistant]"), "a failed run is not remembered");
    let history = schedule(&home, ["history", "broken"]).succeed();
    assert!(history.contains("broken failed") && history.contains("broken finished, "), "{history}");
}

#[test]
fn a_full_disk_loses_neither_the_history_nor_the_report() {
    let home = home();
    add(&home, "news", &[]);
    let provider = ScriptedProvider::start([
        Reply::text("One."),
        Reply::text(&"Two, at length. ".repeat(4000)),
        Reply::text("Three."),
    ]);
    run(&home, "news", &provider);
    let directory = home.memoir_home().join("conversations/scheduler_news");
    let file = fs::read_dir(&directory).unwrap().next().unwrap().unwrap().path();
    let before = fs::read_to_string(&file).unwrap();
    // A directory in place of the file makes writing fail as on a full disk.
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let stderr = schedule(&home, ["run", "news"]).provider(&provider).fail(1);
    assert!(stderr.contains("Could not save the messages for the next run"), "{stderr}");
    fs::remove_dir(&file).unwrap();
    fs::write(&file, &before).unwrap();
    let history = schedule(&home, ["history", "news"]).succeed();
    assert!(history.contains("Two, at length."), "the report is still stored");
    run(&home, "news", &provider);
    assert!(request_text(&provider, 2).contains("[assistant] One."), "the earlier history is intact");
}

#[test]
fn invalid_tasks_are_rejected_with_a_message() {
    let home = home();
    for (arguments, expected) in [
        (vec!["add", "a/b", "x", "--cron", "0 9 * * *"], "\"a/b\" is not a valid task name. Use letters"),
        (vec!["add", "..", "x", "--cron", "0 9 * * *"], "\"..\" is not a valid task name."),
        (vec!["add", "never", "x", "--cron", "0 0 30 2 *"], "\"0 0 30 2 *\" is never due. Check the day"),
        (vec!["add", "odd", "x", "--cron", "99 * * * *"], "\"99 * * * *\" is not a cron line: "),
        (
            vec!["add", "odd", "x", "--cron", "0 9 * * *", "--zone", "Mars/Olympus"],
            "there is no time zone \"Mars/Olympus\".",
        ),
        (vec!["add", "late", "x", "--once", "2020-01-01 09:00"], "that time is in the past. Choose a time"),
        (vec!["add", "late", "x", "--once", "tomorrow"], "\"tomorrow\" is not a date and time."),
        (vec!["add", "odd", "x"], "the task has no schedule."),
        (
            vec!["add", "odd", "x", "--cron", "0 9 * * *", "--approval", "wild"],
            "there is no approval mode \"wild\".",
        ),
        (vec!["show", "nothing"], "there is no task \"nothing\"."),
        (vec!["run", "nothing"], "there is no task \"nothing\"."),
    ] {
        let stderr = schedule(&home, arguments.iter().copied()).fail(2);
        assert!(stderr.contains(expected), "{arguments:?}: {stderr}");
    }
    assert!(home.tasks().is_empty());
    add(&home, "news", &[]);
    let stderr = schedule(&home, ["add", "news", "x", "--cron", "0 9 * * *"]).fail(2);
    assert!(stderr.contains("the task news already exists."), "{stderr}");
    let output = schedule(&home, ["show", "news"]).succeed();
    assert!(output.contains("news: 0 9 * * * (") && output.contains("approval   read-only"), "{output}");
    assert!(schedule(&home, ["pause", "news"]).succeed().starts_with("news is paused."));
    assert!(schedule(&home, ["list"]).succeed().starts_with("news  paused "));
    assert!(schedule(&home, ["resume", "news"]).succeed().starts_with("news is due on "));
    assert!(schedule(&home, ["remove", "news"]).succeed().starts_with("Removed news,"));
    assert!(home.tasks().is_empty());
}

/// Adds a task that is due now.
fn add_due(home: &TestHome, name: &str) {
    schedule(home, ["add", name, "Tell what is new.", "--cron", "0 9 * * *"]).succeed();
    home.edit_database(Edit::MakeTasksDue);
}

/// Waits until a run of the task is in `state`.
fn wait_for_run(home: &TestHome, task: &str, state: &str) {
    let what = format!("a run of {task} is {state}");
    wait_until(&what, || home.runs(task).iter().any(|run| run.state == state));
}

#[test]
fn a_daemon_runs_due_tasks_and_stops_cleanly() {
    let home = home();
    add_due(&home, "news");
    let provider = ScriptedProvider::always(Reply::text("All quiet."));
    let mut daemon = home.memoir(["daemon"]).provider(&provider).spawn();
    let mut log = BufReader::new(daemon.stderr.take().unwrap());
    let mut output = String::new();
    while !output.contains("news finished (run 1)") {
        assert!(log.read_line(&mut output).unwrap() > 0, "the daemon ended: {output}");
    }
    assert_eq!(home.runs("news")[0].report, "All quiet.");
    // A second daemon refuses to start.
    let stderr = home.memoir(["daemon"]).provider(&provider).fail(1);
    assert!(stderr.contains("a daemon is already running."), "{stderr}");
    rustix::process::kill_process(rustix::process::Pid::from_child(&daemon), rustix::process::Signal::TERM)
        .unwrap();
    log.read_to_string(&mut output).unwrap();
    assert!(daemon.wait().unwrap().success(), "{output}");
    assert!(
        output.contains("memoir daemon: started\n") && output.contains("news started (run 1)"),
        "{output}"
    );
    assert!(
        output.contains("news finished (run 1)") && output.ends_with("memoir daemon: stopped\n"),
        "{output}"
    );
    assert_eq!(provider.requests().len(), 1, "a missed task runs only once");
    let unit = home.memoir(["daemon", "--print-unit"]).succeed();
    assert!(unit.contains("[Service]\nExecStart=\"") && unit.contains(" daemon\n"), "{unit}");
}

#[test]
fn a_killed_run_is_marked_and_the_next_run_starts_clean() {
    let home = home();
    add_due(&home, "news");
    let silent = ScriptedProvider::always(Reply::text("…").stalled());
    let mut daemon = home.memoir(["daemon"]).provider(&silent).spawn();
    silent.wait_for_requests(1);
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    assert_eq!(home.runs("news")[0].state, "running");
    let provider = ScriptedProvider::always(Reply::text("All quiet."));
    assert_eq!(run(&home, "news", &provider), "All quiet.\n");
    let states: Vec<String> = home.runs("news").into_iter().map(|run| run.state).collect();
    assert_eq!(states, ["cut_off", "done"]);
    assert!(!request_text(&provider, 0).contains("[assistant]"), "the killed run is not remembered");
}

#[test]
fn an_open_repl_runs_due_tasks_and_announces_them() {
    let home = home();
    add_due(&home, "news");
    let provider = ScriptedProvider::always(Reply::text("All quiet on every front."));
    let mut terminal = Terminal::open(&home, Some(&provider), (40, 110), &["--model", "gpt-5-mini"]);
    terminal.wait_for_prompt();
    wait_for_run(&home, "news", "done");
    terminal.submit("/schedule list");
    terminal.wait_for("1 unread task report. Read with `/inbox`.");
    terminal.wait_for_prompt();
    terminal.submit("/inbox");
    terminal.wait_for("news finished");
    terminal.wait_for("All quiet on every front.");
    terminal.wait_for_prompt();
    terminal.submit("/inbox");
    terminal.wait_for("No unread reports.");
    terminal.wait_for_prompt();
    terminal.submit("/schedule add evening \"Sum up the day.\" --cron \"0 21 * * *\"");
    terminal.wait_for("evening is due on ");
    terminal.wait_for_prompt();
    terminal.submit("/exit");
    assert_eq!(terminal.wait_for_exit(), 0);
}

#[test]
fn a_conversation_delegates_to_a_subagent_and_gets_its_report() {
    let home = home();
    fs::write(home.workspace().join("notes.txt"), "The barometer fell.").unwrap();
    let provider = ScriptedProvider::start([
        Reply::tool_call("1", "run_subagent", &json!({"task": "Read notes.txt, write out.txt, and report."})),
        Reply::tool_call("a", "file_read", &json!({"path": "notes.txt"})).and_tool_call(
            "b",
            "file_write",
            &json!({"path": "out.txt", "content": "x"}),
        ),
        Reply::text("The barometer fell; I could not write."),
        Reply::text("It says that the barometer fell."),
    ]);
    let answer = home
        .memoir(["-p", "Secret word: periwinkle. Have someone read my notes."])
        .provider(&provider)
        .succeed();
    assert_eq!(answer, "It says that the barometer fell.\n");
    let inner = provider.requests()[1].clone();
    let inner_text = inner.body.to_string();
    assert!(!inner_text.contains("periwinkle"), "the sub-agent does not see the conversation");
    assert!(inner_text.contains("You work alone"), "{inner_text}");
    let tools: Vec<_> =
        inner.body["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
    assert!(!tools.contains(&json!("run_subagent")), "a sub-agent cannot start another");
    let messages = request_text(&provider, 3);
    assert!(messages.contains("The sub-agent reports:\n\nThe barometer fell; I could not write.\n\nCalls that were not allowed: file_write."), "{messages}");
    assert!(!home.workspace().join("out.txt").exists());
    assert_eq!(home.count_calls("task"), 2);
    assert_eq!(home.exchanges().len(), 1);
}

#[test]
fn a_subagent_has_the_tools_and_the_budget_it_is_given() {
    let home = home();
    let provider = ScriptedProvider::start([
        Reply::tool_call(
            "1",
            "run_subagent",
            &json!({"task": "Look.", "tools": ["dir_list"], "max_turns": 1}),
        ),
        Reply::tool_call("a", "dir_list", &json!({"path": "."})),
        Reply::text("Done."),
        Reply::tool_call("2", "run_subagent", &json!({"task": "Look.", "tools": ["fly"]})),
        Reply::text("I see."),
    ]);
    home.memoir(["-p", "Look around."]).provider(&provider).succeed();
    let tools = provider.requests()[1].body["tools"].as_array().unwrap().len();
    assert_eq!(tools, 1);
    assert!(
        request_text(&provider, 2).contains("Stopped after 1 round of tool calls"),
        "{}",
        request_text(&provider, 2)
    );
    home.memoir(["-p", "Fly around."]).provider(&provider).succeed();
    assert!(request_text(&provider, 4).contains("there is no tool fly"));
}

#[test]
fn ctrl_c_in_the_repl_stops_a_run() {
    let home = home();
    add(&home, "news", &[]);
    let silent = ScriptedProvider::always(Reply::text("…").stalled());
    let mut terminal = Terminal::open(&home, Some(&silent), (40, 110), &["--model", "gpt-5-mini"]);
    terminal.wait_for_prompt();
    terminal.submit("/schedule run news");
    silent.wait_for_requests(1);
    terminal.type_keys("\u{3}");
    terminal.wait_for("Cancelled.");
    wait_for_run(&home, "news", "stopped");
    terminal.submit("/schedule show");
    terminal.wait_for("required arguments were not provided: <NAME>");
    terminal.wait_for_prompt();
    terminal.submit("/exit");
    assert_eq!(terminal.wait_for_exit(), 0);
}

#[test]
fn a_run_interrupted_with_its_daemon_is_repeated_by_the_next_daemon() {
    let home = home();
    add_due(&home, "news");
    let silent = ScriptedProvider::always(Reply::text("…").stalled());
    let mut daemon = home.memoir(["daemon"]).provider(&silent).spawn();
    silent.wait_for_requests(1);
    let pid = rustix::process::Pid::from_child(&daemon);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert!(daemon.wait().unwrap().success());
    assert_eq!(home.runs("news")[0].state, "stopped");
    let provider = ScriptedProvider::always(Reply::text("All quiet."));
    let mut daemon = home.memoir(["daemon"]).provider(&provider).spawn();
    wait_for_run(&home, "news", "done");
    assert_eq!(home.runs("news").last().unwrap().report, "All quiet.");
    daemon.kill().unwrap();
    daemon.wait().unwrap();
    assert_eq!(provider.requests().len(), 1);
}

#[test]
fn costs_and_denied_actions_are_reported_however_a_run_ends() {
    let home = home();
    // Long enough for the first round even on a very busy machine.
    add(&home, "slow", &["--timeout", "20"]);
    let provider = ScriptedProvider::start([
        Reply::tool_call("1", "file_write", &json!({"path": "out.txt", "content": "x"}))
            .usage(100_000, 10, 0),
        Reply::text("…").stalled(),
    ]);
    schedule(&home, ["run", "slow"]).provider(&provider).fail(1);
    let history = schedule(&home, ["history", "slow"]).succeed();
    assert!(
        history.contains("slow timed out") && history.contains("Calls that were not allowed: file_write."),
        "{history}"
    );
    assert!(home.count_calls("task") > 0);
    // The run is stored, but an incomplete run is not remembered.
    let provider = ScriptedProvider::always(Reply::text("Fine."));
    run(&home, "slow", &provider);
    assert!(!request_text(&provider, 0).contains("[assistant]"), "{}", request_text(&provider, 0));
    let json = home
        .memoir(["-p", "Hand it on.", "--output-format", "json"])
        .provider(&ScriptedProvider::start([
            Reply::tool_call("1", "run_subagent", &json!({"task": "Look."})).usage(100, 10, 0),
            Reply::text("Looked.").usage(1_000_000, 10, 0),
            Reply::text("Done.").usage(100, 10, 0),
        ]))
        .succeed();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert!(
        json["usage"]["input_tokens"].as_u64().unwrap() > 1_000_000,
        "the usage includes the sub-agent: {json}"
    );
}
