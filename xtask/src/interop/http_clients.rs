//! `memoir serve`, called by programs that other people wrote.

use std::{fs, path::Path, process::Command};

use memoir_testkit::{HttpServer, TestHome};
use serde_json::json;

use super::{Bench, agents::outside, succeeded};

const PYTHON_SDK: (&str, &str) = ("MCP Python SDK", "2.3.0");
const VALIDATOR: (&str, &str) = ("openapi-spec-validator", "0.9.0");
const FUZZER: (&str, &str) = ("schemathesis", "4.32.5");

/// What the fuzzer checks: answers follow the description, and whatever a request contains, the server does not fail.
const CHECKS: &str = "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,\
                      response_schema_conformance,negative_data_rejection,unsupported_method,ignored_auth";

/// The operation whose answer never ends.
const ENDLESS: &str = "watch";

/// Number of requests that the fuzzer makes up for each operation.
const EXAMPLES: &str = "20";

pub(super) fn try_all(bench: &mut Bench) {
    let home = bench.home();
    let server = HttpServer::start(&home, &[]);
    for number in 1..=3 {
        let statement = format!("Server number {number} listens on port 800{number}.");
        server.post("/api/v1/statements", &json!({"statement": statement}));
    }
    try_sdk(bench, &server);
    try_validator(bench, &home, &server);
    try_fuzzer(bench, &home, &server);
}

fn try_sdk(bench: &mut Bench, server: &HttpServer) {
    let package = format!("mcp=={}", PYTHON_SDK.1);
    let python = match bench.installer.python("mcp-client", &[&package], false) {
        Ok(programs) => programs.join("python"),
        Err(reason) => return bench.record(PYTHON_SDK, "HTTP client: install", Err(reason)),
    };
    for (mode, revision) in [("legacy", "2025-11-25"), ("auto", "2026-07-28")] {
        let what = format!("HTTP client, {mode}: remember, recall, read, prompt, forget");
        let printed = run_sdk(bench, &python, mode, server);
        let result = printed.and_then(|printed| match printed.trim() {
            printed if printed == revision => Ok(()),
            printed => Err(format!("the revision is {printed}")),
        });
        bench.record(PYTHON_SDK, what, result);
    }
}

fn run_sdk(bench: &Bench, python: &Path, mode: &str, server: &HttpServer) -> Result<String, String> {
    let script = bench.installer.cache.join("sdk_client.py");
    fs::write(&script, include_str!("sdk_client.py")).map_err(|error| error.to_string())?;
    // A project of its own, so that the trials do not see each other.
    let url = server.url(&format!("/mcp/trials/{mode}"));
    run(Command::new(python).arg(&script).args([mode, &url, &server.token]))
}

fn try_validator(bench: &mut Bench, home: &TestHome, server: &HttpServer) {
    let programs =
        match bench.installer.python(VALIDATOR.0, &[&format!("{}=={}", VALIDATOR.0, VALIDATOR.1)], false) {
            Ok(programs) => programs,
            Err(reason) => return bench.record(VALIDATOR, "install", Err(reason)),
        };
    let file = home.workspace().join("openapi.json");
    let document = server.get("/api/v1/openapi.json").body;
    let result = fs::write(&file, document)
        .map_err(|error| error.to_string())
        .and_then(|()| run(outside(home, &programs.join("openapi-spec-validator")).arg(&file)).map(drop));
    bench.record(VALIDATOR, "the OpenAPI document is valid", result);
}

fn try_fuzzer(bench: &mut Bench, home: &TestHome, server: &HttpServer) {
    let programs = match bench.installer.python(FUZZER.0, &[&format!("{}=={}", FUZZER.0, FUZZER.1)], false) {
        Ok(programs) => programs,
        Err(reason) => return bench.record(FUZZER, "install", Err(reason)),
    };
    let token = format!("Authorization: Bearer {}", server.token);
    let result = run(outside(home, &programs.join("schemathesis"))
        .arg("run")
        .arg(server.url("/api/v1/openapi.json"))
        .args([
            "--header",
            &token,
            "--max-examples",
            EXAMPLES,
            "--checks",
            CHECKS,
            "--exclude-operation-id",
            ENDLESS,
        ]));
    bench.record(FUZZER, "the REST API answers as described", result.map(drop));
    let is_alive = server.get("/healthz").status == 200;
    let alive = if is_alive { Ok(()) } else { Err("the server does not answer".to_owned()) };
    bench.record(FUZZER, "the server still works", alive);
}

pub(super) fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    // Some of these programs describe failures on stdout.
    succeeded(&output).map_err(|stderr| format!("{} {stderr}", String::from_utf8_lossy(&output.stdout)))
}
