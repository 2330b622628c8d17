//! Agents and MCP clients that other people wrote, as users of the memory.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use memoir_testkit::{HttpServer, TestHome};

use super::{Bench, Extent, service::Service, succeeded, with_path};

/// The newest version that needs no newer Node than Debian has is older, but the program itself is native.
const CLAUDE_CODE: (&str, &str) = ("Claude Code", "2.1.327");
const CODEX: (&str, &str) = ("Codex", "0.169.0");
const PYTHON_SDK: (&str, &str) = ("MCP Python SDK", "2.3.0");
const INSPECTOR: (&str, &str) = ("MCP inspector", "2.12.0");

/// What the user says to one agent on Monday, and asks another one on Tuesday.
const STATEMENT: &str = "The release train of the shop leaves on Thursdays at 16:00.";
const QUESTION: &str = "When does the release train of the shop leave?";
const FACT: &str = "Thursdays at 16:00";

/// The key for the scripted provider.
const KEY: &str = "scripted";

pub(super) fn try_all(bench: &mut Bench, extent: Extent) {
    try_python_sdk(bench);
    if extent == Extent::Light {
        return;
    }
    try_inspector(bench);
    try_agents(bench);
    try_proxied_agents(bench);
}

fn try_python_sdk(bench: &mut Bench) {
    let installed = bench.installer.python("mcp-client", &[&format!("mcp=={}", PYTHON_SDK.1)], false);
    let python = match installed {
        Ok(programs) => programs.join("python"),
        Err(reason) => return bench.record(PYTHON_SDK, "client: install", Err(reason)),
    };
    for (mode, revision) in [("legacy", "2025-11-25"), ("auto", "2026-07-28")] {
        let what = format!("client, {mode}: remember, recall, read, prompt, forget");
        let result = run_python_sdk(bench, &python, mode).and_then(|printed| match printed.trim() {
            printed if printed == revision => Ok(()),
            printed => Err(format!("the revision is {printed}")),
        });
        bench.record(PYTHON_SDK, what, result);
    }
}

fn run_python_sdk(bench: &Bench, python: &Path, mode: &str) -> Result<String, String> {
    let home = bench.home();
    let script = bench.installer.cache.join("sdk_client.py");
    fs::write(&script, include_str!("sdk_client.py")).map_err(|error| error.to_string())?;
    let binary = bench.binary.canonicalize().map_err(|error| error.to_string())?;
    let mut command = outside(&home, python);
    command.arg(&script).arg(mode).arg(binary).args(["mcp", "serve"]);
    succeeded(&command.output().map_err(|error| error.to_string())?)
}

fn try_inspector(bench: &mut Bench) {
    let programs = match bench.installer.npm("@modelcontextprotocol/inspector", INSPECTOR.1) {
        Ok(programs) => programs,
        Err(reason) => return bench.record(INSPECTOR, "install", Err(reason)),
    };
    let home = bench.home();
    let call = |arguments: &[&str]| {
        let binary = bench.binary.canonicalize().map_err(|error| error.to_string())?;
        let mut command = outside(&home, &programs.join("mcp-inspector"));
        command.arg("--cli").arg(binary).args(["mcp", "serve"]).args(arguments);
        succeeded(&command.output().map_err(|error| error.to_string())?)
    };
    let contains = |output: Result<String, String>, part: &str| match output? {
        output if output.contains(part) => Ok(()),
        output => Err(output),
    };
    let listed = contains(call(&["--method", "tools/list"]), "\"name\": \"remember\"");
    let statement = format!("statement={STATEMENT}");
    let stored = call(&["--method", "tools/call", "--tool-name", "remember", "--tool-arg", &statement]);
    let stored = contains(stored, "exchange-1");
    let question = format!("question={QUESTION}");
    let recalled = call(&["--method", "tools/call", "--tool-name", "recall", "--tool-arg", &question]);
    let recalled = contains(recalled, FACT);
    bench.record(INSPECTOR, "list the tools", listed);
    bench.record(INSPECTOR, "remember", stored);
    bench.record(INSPECTOR, "recall", recalled);
}

/// How agents reach memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// `memoir connect`.
    Connected,
    /// The proxy of `memoir serve`, between them and their provider.
    Proxied,
}

/// The agents, with one memory and a scripted provider.
struct Agents {
    home: TestHome,
    claude: PathBuf,
    codex: PathBuf,
    /// The proxy, if there is one.
    server: Option<HttpServer>,
    provider: Service,
    log: PathBuf,
}

fn try_agents(bench: &mut Bench) {
    let agents = match Agents::set_up(bench, Way::Connected) {
        Ok(agents) => agents,
        Err(reason) => return bench.record(CLAUDE_CODE, "set up both agents", Err(reason)),
    };
    let told = agents.claude(STATEMENT);
    bench.record(CLAUDE_CODE, "its session is stored", told.and_then(|_| agents.search("claude-code")));
    let asked = agents.codex(QUESTION).and_then(|request| contains_fact(&request));
    bench.record(CODEX, "gets what was said to Claude Code", asked);
    let other = "The door of the archive opens with the code word heron.";
    let told = agents.codex(other).map(drop);
    let asked = told.and_then(|()| agents.claude("Which code word opens the door of the archive?"));
    let asked = asked.and_then(|request| match request.contains("code word heron") {
        true => Ok(()),
        false => Err("the fact is not in the request".to_owned()),
    });
    bench.record(CLAUDE_CODE, "gets what was said to Codex", asked);
    let tools =
        agents.claude("List your tools.").and_then(|request| match request.contains("mcp__memoir__recall") {
            true => Ok(()),
            false => Err("the tools of Memoir are not in the request".to_owned()),
        });
    bench.record(CLAUDE_CODE, "offers the tools of Memoir", tools);
}

fn try_proxied_agents(bench: &mut Bench) {
    let agents = match Agents::set_up(bench, Way::Proxied) {
        Ok(agents) => agents,
        Err(reason) => return bench.record(CLAUDE_CODE, "proxy: set up both agents", Err(reason)),
    };
    let told = agents.claude(STATEMENT).and_then(|_| agents.search("local"));
    bench.record(CLAUDE_CODE, "proxy: what is said is stored", told);
    let asked = agents.codex(QUESTION).and_then(|request| contains_fact(&request));
    bench.record(CODEX, "proxy: gets what was said to Claude Code", asked);
    let asked = agents.claude(QUESTION).and_then(|request| contains_fact(&request));
    bench.record(CLAUDE_CODE, "proxy: gets it in another session", asked);
}

fn contains_fact(request: &str) -> Result<(), String> {
    match request.contains(FACT) {
        true => Ok(()),
        false => Err("the fact is not in the request".to_owned()),
    }
}

impl Agents {
    fn set_up(bench: &Bench, way: Way) -> Result<Self, String> {
        let claude = bench.installer.npm("@anthropic-ai/claude-code", CLAUDE_CODE.1)?.join("claude");
        let codex = bench.installer.npm("@openai/codex", CODEX.1)?.join("codex");
        let home = bench.home();
        let text = |error: std::io::Error| error.to_string();
        let (log, script) =
            (home.workspace().join("requests.jsonl"), bench.installer.cache.join("agent_provider.py"));
        fs::write(&script, include_str!("agent_provider.py")).map_err(text)?;
        let provider = Service::start(|port| {
            let mut command = Command::new("python3");
            command.arg(&script).arg(port.to_string()).arg(&log);
            command
        })?
        .listening()?;
        let server = (way == Way::Proxied).then(|| {
            let serve = home.memoir(["serve", "--listen", "127.0.0.1:0"]);
            let serve = serve.env("ANTHROPIC_BASE_URL", provider.url());
            let serve = serve.env("OPENAI_BASE_URL", format!("{}/v1", provider.url()));
            HttpServer::run(&home, serve.env("ANTHROPIC_API_KEY", KEY).env("OPENAI_API_KEY", KEY))
        });
        let url = server.as_ref().map_or_else(|| provider.url(), |server| server.url(""));
        let directory = user_home(&home).join(".codex");
        fs::create_dir_all(&directory).map_err(text)?;
        let config = format!(
            "model = \"gpt-scripted\"\nmodel_provider = \"scripted\"\n\n[model_providers.scripted]\nname = \"scripted\"\n\
             base_url = \"{}/v1\"\nwire_api = \"responses\"\nenv_key = \"SCRIPTED_KEY\"\n",
            url
        );
        fs::write(directory.join("config.toml"), config).map_err(text)?;
        let connected: &[&str] = if way == Way::Connected { &["claude-code", "codex"] } else { &[] };
        for host in connected {
            succeeded(&with_path(home.memoir(["connect", host, "--yes"])).output())?;
        }
        Ok(Self { home, claude, codex, server, provider, log })
    }

    /// Returns the address that agents take for that of their provider, and their key.
    fn upstream(&self) -> (String, &str) {
        match &self.server {
            Some(server) => (server.url(""), &server.token),
            None => (self.provider.url(), KEY),
        }
    }

    /// Sends a prompt to Claude Code, and returns the requests that it made.
    fn claude(&self, prompt: &str) -> Result<String, String> {
        let mut command = outside(&self.home, &self.claude);
        let (url, key) = self.upstream();
        command.args(["-p", prompt]).env("ANTHROPIC_BASE_URL", url).envs([
            ("ANTHROPIC_API_KEY", key),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_TELEMETRY", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            ("DISABLE_ERROR_REPORTING", "1"),
            ("ENABLE_TOOL_SEARCH", "false"),
        ]);
        self.run(command)
    }

    /// Sends a prompt to Codex, and returns the requests that it made. The user has trusted the hooks.
    fn codex(&self, prompt: &str) -> Result<String, String> {
        let mut command = outside(&self.home, &self.codex);
        command.args(["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", prompt]);
        self.run(command.env("SCRIPTED_KEY", self.upstream().1))
    }

    fn run(&self, mut command: impl std::borrow::BorrowMut<Command>) -> Result<String, String> {
        // The first run has no log.
        let _ = fs::remove_file(&self.log);
        let output = command.borrow_mut().output().map_err(|error| error.to_string())?;
        succeeded(&output)?;
        fs::read_to_string(&self.log).map_err(|error| format!("no request was made: {error}"))
    }

    fn search(&self, program: &str) -> Result<(), String> {
        let run = self.home.memoir(["search", "--from", program, "release train"]);
        contains_fact(&succeeded(&with_path(run).output())?)
    }
}

fn user_home(home: &TestHome) -> PathBuf {
    home.workspace().parent().map(Path::to_owned).unwrap_or_default()
}

/// Prepares a program of somebody else with the home and memory of a trial.
pub(super) fn outside(home: &TestHome, program: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", user_home(home))
        .env("LANG", "C.UTF-8")
        .env("MEMOIR_HOME", home.memoir_home())
        .env("MEMOIR_LOCAL_SERVERS", "none")
        // A debug build is slow.
        .env("MEMOIR_HOOK_LIMIT_MS", "60000")
        .current_dir(home.workspace())
        .stdin(std::process::Stdio::null());
    command
}
