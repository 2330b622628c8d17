//! Published MCP servers, over every transport that they have.

use std::{path::Path, process::Command};

use memoir_testkit::{Reply, ScriptedProvider, Terminal, TestHome, wait_until};
use serde_json::{Value, json};

use super::{Bench, Extent, ensure, json_of, service::Service, succeeded, with_path};

const EVERYTHING: (&str, &str) = ("server-everything", "2026.8.31");
const FILESYSTEM: (&str, &str) = ("server-filesystem", "2026.8.31");
const MEMORY: (&str, &str) = ("server-memory", "2026.8.31");
const TIME: (&str, &str) = ("mcp-server-time", "2026.10.19");
const OLD_TIME: (&str, &str) = ("mcp-server-time", "2026.1.26");
const OLD_LIBRARY: &str = "mcp==1.30.0";
const LIBRARY: &str = "mcp==2.3.0";
const SDK: (&str, &str) = ("MCP Python SDK", "2.3.0");
const GIT: (&str, &str) = ("mcp-server-git", "2026.10.19");
const FETCH: (&str, &str) = ("mcp-server-fetch", "2026.10.24");

pub(super) fn try_all(bench: &mut Bench, extent: Extent) {
    try_everything(bench);
    try_python(bench, TIME, &[], "2026-07-28", ("get_current_time", json!({"timezone": "UTC"}), "UTC"));
    try_sdk(bench);
    if extent == Extent::Light {
        return;
    }
    try_python(bench, OLD_TIME, &[], "2025-11-25", ("get_current_time", json!({"timezone": "UTC"}), "UTC"));
    let refused = ("fetch", json!({"url": "http://127.0.0.1:9/"}), "error");
    try_python(bench, FETCH, &[], "2026-07-28", refused);
    let repository = bench.installer.cache.join("repository");
    let made = Command::new("git").args(["init", "-q"]).arg(&repository).status();
    let directory = repository.display().to_string();
    match made.is_ok_and(|status| status.success()) {
        true => {
            let status = ("git_status", json!({"repo_path": directory}), "No commits yet");
            try_python(bench, GIT, &["--repository", &directory], "2026-07-28", status);
        }
        false => bench.record(GIT, "create a repository", Err("git failed".into())),
    }
    try_npm(bench, FILESYSTEM, "mcp-server-filesystem", "list_allowed_directories", "work");
    try_npm(bench, MEMORY, "mcp-server-memory", "read_graph", "entities");
}

/// A call of a tool, and a part of its result.
type Call<'a> = (&'a str, Value, &'a str);

fn try_everything(bench: &mut Bench) {
    let programs = match bench.installer.npm("@modelcontextprotocol/server-everything", EVERYTHING.1) {
        Ok(programs) => programs,
        Err(reason) => return bench.record(EVERYTHING, "install", Err(reason)),
    };
    let program = programs.join("mcp-server-everything");
    let echo = || ("echo", json!({"message": "hello"}), "Echo: hello");
    let stdio = format!("command = {program:?}");
    let result = connect_and_call(bench, &stdio, "2025-11-25", echo());
    bench.record(EVERYTHING, "stdio: connect, call echo", result);
    let image = connect_and_call(bench, &stdio, "2025-11-25", ("get-tiny-image", json!({}), "[image: PNG, "));
    bench.record(EVERYTHING, "stdio: an image", image);
    let linked = json!({"uri": "demo://resource/dynamic/text/1"});
    let fetched = connect_and_call(bench, &stdio, "2025-11-25", ("fetch_resource", linked, "plaintext"));
    bench.record(EVERYTHING, "stdio: fetch a resource", fetched);
    bench.record(EVERYTHING, "stdio: attach a resource with @", attach_resource(bench, &stdio));
    let (command, prompt) = ("/part:args-prompt Paris state=Texas", "What's weather in Paris, Texas?");
    let sent = send_prompt(bench, &stdio, command, prompt);
    bench.record(EVERYTHING, "stdio: a prompt as a slash command", sent);
    let long = ("part__trigger-long-running-operation", json!({"duration": 1, "steps": 2}));
    bench.record(EVERYTHING, "stdio: progress", watch_progress(bench, &stdio, long, "1 of 2"));
    let roots = connect_and_call(bench, &stdio, "2025-11-25", ("get-roots-list", json!({}), "file:///"));
    bench.record(EVERYTHING, "stdio: the root", roots);
    for (mode, path, transport) in [("streamableHttp", "/mcp", "http"), ("sse", "/sse", "sse")] {
        let start = |port: u16| {
            let mut command = Command::new(&program);
            command.arg(mode).env("PORT", port.to_string());
            command
        };
        let result = Service::start(start).and_then(Service::listening).and_then(|service| {
            let config = format!("url = \"{}{path}\"\ntransport = \"{transport}\"", service.url());
            connect_and_call(bench, &config, "2025-11-25", echo())
        });
        bench.record(EVERYTHING, format!("{transport}: connect, call echo"), result);
    }
}

/// A server with the current revision that changes its tools, asks, reports progress, and has prompts and resources.
fn try_sdk(bench: &mut Bench) {
    // The time server brings the library along.
    let package = format!("{}=={}", TIME.0, TIME.1);
    let script = bench.installer.cache.join("sdk_server.py");
    let installed = bench.installer.python(&package, &[LIBRARY, &package], false).and_then(|programs| {
        std::fs::write(&script, include_str!("sdk_server.py")).map_err(|error| error.to_string())?;
        Ok(programs.join("python"))
    });
    let python = match installed {
        Ok(python) => python,
        Err(reason) => return bench.record(SDK, "install", Err(reason)),
    };
    let stdio = format!("command = {python:?}\nargs = [{script:?}, \"stdio\"]");
    try_sdk_over(bench, "stdio", &stdio);
    let start = |port: u16| {
        let mut command = Command::new(&python);
        command.arg(&script).arg(port.to_string());
        command
    };
    match Service::start(start).and_then(Service::listening) {
        Ok(service) => {
            try_sdk_over(bench, "http", &format!("url = \"{}/mcp\"", service.url()));
        }
        Err(reason) => bench.record(SDK, "http: start", Err(reason)),
    }
}

fn try_sdk_over(bench: &mut Bench, transport: &str, config: &str) {
    let revision = "2026-07-28";
    let what = |what: &str| format!("{transport}, revision {revision}: {what}");
    let asked = connect_and_call(bench, config, revision, ("ask", json!({}), "action='decline'"));
    bench.record(SDK, what("a question is declined without a terminal"), asked);
    bench.record(SDK, what("a question is answered in a terminal"), answer_question(bench, config));
    let note = ("fetch_resource", json!({"uri": "note://1"}), "Feed the cat.");
    let fetched = connect_and_call(bench, config, revision, note);
    bench.record(SDK, what("fetch a resource"), fetched);
    let walked = watch_progress(bench, config, ("part__walk", json!({})), "1 of 2, half way");
    bench.record(SDK, what("progress"), walked);
    let sent = send_prompt(bench, config, "/part:greet Ada", "Please greet Ada.");
    bench.record(SDK, what("a prompt as a slash command"), sent);
    bench.record(SDK, what("a new tool appears"), notice_new_tool(bench, config));
}

/// Calls a tool that asks the user, and answers.
fn answer_question(bench: &Bench, config: &str) -> Result<(), String> {
    let home = home_with(bench, config);
    let call = Reply::tool_call("c1", "part__ask", &json!({}));
    let provider = ScriptedProvider::start([call, Reply::text("Sold.")]);
    let terminal = open_terminal(&home, &provider);
    terminal.submit("sell");
    terminal.wait_for("Sell the house?");
    terminal.wait_for("Sure (y or n):");
    terminal.type_keys("y\r");
    terminal.wait_for("Send this to part?");
    terminal.type_keys("y\r");
    terminal.wait_for("Sold.");
    let result = provider.requests()[1].body["messages"].clone();
    ensure(result.to_string().contains("sure=True"), &result)
}

fn open_terminal(home: &TestHome, provider: &ScriptedProvider) -> Terminal {
    let path = std::env::var("PATH").unwrap_or_default();
    let arguments = ["--wait-servers", "part", "--approval", "full"];
    Terminal::open_with(home, Some(provider), (30, 100), &arguments, &[("PATH", path.as_str())])
}

/// Calls a tool that adds another one, and checks that the next turn offers it.
fn notice_new_tool(bench: &Bench, config: &str) -> Result<(), String> {
    let home = home_with(bench, config);
    let call = Reply::tool_call("c1", "part__grow", &json!({}));
    let provider = ScriptedProvider::start([call, Reply::text("Grown."), Reply::text("Good.")]);
    let terminal = open_terminal(&home, &provider);
    terminal.submit("grow");
    terminal.wait_for("Grown.");
    // The server announces the tool while the turn ends.
    wait_until("the new tool", || {
        terminal.submit("/mcp");
        terminal.wait_for_prompt().contains("part__grown")
    });
    terminal.submit("next");
    terminal.wait_for("Good.");
    let tools = provider.requests()[2].body["tools"].clone();
    ensure(tools.to_string().contains("part__grown"), &tools)
}

fn home_with(bench: &Bench, config: &str) -> TestHome {
    let home = bench.home();
    home.write_config(&format!("[mcp.part]\n{config}\n"));
    home
}

fn attach_resource(bench: &Bench, config: &str) -> Result<(), String> {
    let home = home_with(bench, config);
    let provider = ScriptedProvider::start([Reply::text("Done.")]);
    let prompt = "Summarize @part:demo://resource/static/document/features.md.";
    succeeded(&with_path(home.memoir(["-p", prompt]).provider(&provider)).output())?;
    let body = provider.requests()[0].body["messages"].clone();
    ensure(body.to_string().contains("# Everything Server"), &body)
}

fn send_prompt(bench: &Bench, config: &str, command: &str, expected: &str) -> Result<(), String> {
    let home = home_with(bench, config);
    let provider = ScriptedProvider::start([Reply::text("It rains.")]);
    let terminal = open_terminal(&home, &provider);
    terminal.submit(command);
    terminal.wait_for("It rains.");
    let body = provider.requests()[0].body["messages"].clone();
    ensure(body.to_string().contains(expected), &body)
}

fn watch_progress(bench: &Bench, config: &str, tool: (&str, Value), expected: &str) -> Result<(), String> {
    let home = home_with(bench, config);
    let provider = ScriptedProvider::start([Reply::tool_call("c1", tool.0, &tool.1), Reply::text("Done.")]);
    let arguments =
        ["-p", "go", "--approval", "full", "--wait-servers", "part", "--output-format", "stream-json"];
    let events = succeeded(&with_path(home.memoir(arguments).provider(&provider)).output())?;
    match events.contains(&format!("\"text\":\"{expected}")) {
        true => Ok(()),
        false => Err(events),
    }
}

fn try_npm(bench: &mut Bench, part: (&'static str, &'static str), program: &str, tool: &str, expected: &str) {
    let package = format!("@modelcontextprotocol/{}", part.0);
    let result = bench.installer.npm(&package, part.1).and_then(|programs| {
        let (program, memory) = (programs.join(program), bench.installer.cache.join("memory.json"));
        let config =
            format!("command = {program:?}\nenv = {{ MEMORY_FILE_PATH = {memory:?} }}\nargs = [\".\"]");
        connect_and_call(bench, &config, "2025-11-25", (tool, json!({}), expected))
    });
    bench.record(part, format!("stdio: connect, call {tool}"), result);
}

fn try_python(
    bench: &mut Bench,
    part: (&'static str, &'static str),
    arguments: &[&str],
    revision: &str,
    call: Call<'_>,
) {
    let what = format!("stdio, revision {revision}: connect, call {}", call.0);
    let package = format!("{}=={}", part.0, part.1);
    // Servers of this age import what later versions of the library do not have.
    let library = if part == OLD_TIME { OLD_LIBRARY } else { LIBRARY };
    let result = bench.installer.python(&package, &[library, &package], false).and_then(|programs| {
        let program = programs.join(part.0);
        let config = format!("command = {program:?}\nargs = {}", json!(arguments));
        connect_and_call(bench, &config, revision, call)
    });
    bench.record(part, what, result);
}

/// Connects to a server in the config, and calls one of its tools as a model would.
fn connect_and_call(bench: &Bench, config: &str, revision: &str, call: Call<'_>) -> Result<(), String> {
    let home = bench.home();
    let _ = std::fs::create_dir(home.workspace().join("work"));
    home.write_config(&format!("[mcp.part]\n{config}\n"));
    let report = json_of(home.memoir(["mcp", "test", "part", "--json"]))?;
    let server = &report["servers"][0];
    ensure(server["is_connected"] == true && server["revision"] == revision, server)?;
    let result = call_tool(&home, call.0, &call.1)?;
    match result.contains(call.2) {
        true => Ok(()),
        false => Err(result),
    }
}

fn call_tool(home: &TestHome, tool: &str, arguments: &Value) -> Result<String, String> {
    let name = format!("part__{tool}");
    let provider = ScriptedProvider::start([Reply::tool_call("c1", &name, arguments), Reply::text("Done.")]);
    let run = home.memoir(["-p", "go", "--approval", "full", "--wait-servers", "part"]).provider(&provider);
    succeeded(&with_path(run.current_dir(Path::new(&home.workspace()))).output())?;
    let requests = provider.requests();
    let messages = requests.get(1).map(|request| request.body["messages"].clone()).unwrap_or_default();
    let results = messages.as_array().into_iter().flatten().filter(|message| message["role"] == "tool");
    Ok(results.map(|message| message["content"].to_string()).collect())
}
