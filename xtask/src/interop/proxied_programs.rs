//! The proxy of `memoir serve`, between SDKs and a scripted provider.

use std::{fs, process::Command};

use memoir_testkit::{HttpServer, Reply, ScriptedProvider, wait_until};
use serde_json::json;

use super::{Bench, agents::outside, http_clients::run};

const OPENAI: (&str, &str) = ("openai (Python)", "3.51.0");
const ANTHROPIC: &str = "2.10.0";
const SCRIPT: (&str, &str) = ("openai (Node)", "7.55.0");
const ANSWER: &str = "It is Walrus Queen.";

pub(super) fn try_all(bench: &mut Bench) {
    let packages = [format!("openai=={}", OPENAI.1), format!("anthropic=={ANTHROPIC}")];
    let packages: Vec<&str> = packages.iter().map(String::as_str).collect();
    let python = match bench.installer.python("sdk-programs", &packages, false) {
        Ok(programs) => programs.join("python"),
        Err(reason) => return bench.record(OPENAI, "install", Err(reason)),
    };
    let (home, provider) = (bench.home(), ScriptedProvider::start([]));
    let serve = home.memoir(["serve", "--listen", "127.0.0.1:0"]).provider(&provider);
    let serve = serve.env("ANTHROPIC_BASE_URL", provider.root_url()).env("ANTHROPIC_API_KEY", "sk-ant-test");
    let server = HttpServer::run(&home, serve);
    let script = bench.installer.cache.join("sdk_programs.py");
    let result = fs::write(&script, include_str!("sdk_programs.py")).map_err(|error| error.to_string());
    if let Err(reason) = result {
        return bench.record(OPENAI, "write the script", Err(reason));
    }
    let step = |name: &str| {
        let mut command = outside(&home, &python);
        run(command.arg(&script).args([name, &server.url(""), &server.token])).map(drop)
    };
    provider.push(Reply::text("A fine name."));
    bench.record(OPENAI, "proxy: state a fact", step("state"));
    wait_until("the fact is recalled", || {
        let question = json!({"question": "What is my sailing boat called?"});
        server.post("/api/v1/recall", &question).json()["answer"].is_object()
    });
    (0..4).for_each(|_| provider.push(Reply::text(ANSWER)));
    bench.record(OPENAI, "proxy: the fact comes back in chat, responses and messages, streamed", step("ask"));
    provider.push(Reply::tool_call("t1", "paint", &json!({"name": "Walrus Queen"})));
    provider.push(Reply::text("Done."));
    bench.record(OPENAI, "proxy: tools", step("tools"));
    bench.record(OPENAI, "proxy: memoir/recall in all APIs", step("recall"));
    bench.record(OPENAI, "proxy: errors in the words of the SDKs", step("refuse"));
    (0..3).for_each(|_| provider.push(Reply::text(ANSWER)));
    let result = run_node(bench, &server);
    bench.record(SCRIPT, "proxy: the fact comes back", result);
}

fn run_node(bench: &Bench, server: &HttpServer) -> Result<(), String> {
    let packages = [format!("openai@{}", SCRIPT.1), "@anthropic-ai/sdk@1.10.0".to_owned()];
    let packages = bench.installer.npm_packages("sdk-programs-node", &packages)?;
    let script = packages.join("sdk_programs.mjs");
    fs::write(&script, include_str!("sdk_programs.mjs")).map_err(|error| error.to_string())?;
    run(Command::new("node").arg(&script).args([&server.url(""), &server.token])).map(drop)
}
