//! MCP servers: tools provided by other programs.

use std::fs;

use memoir_testkit::{Reply, ScriptedProvider, TestHome};
use serde_json::json;

use crate::{confinement::calls, home};

/// A Python script of a server with three tools, over stdio or HTTP.
const SERVER: &str = r#"
import json, sys, http.server
def answer(request):
    method = request.get("method")
    if method == "initialize":
        return {"protocolVersion": request["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "made", "version": "1"}}
    if method == "tools/list":
        schema = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
        tools = {"shout": "Says a word loudly.", "fail": "Fails.", "break": "Knows no answer."}
        return {"tools": [{"name": name, "description": what, "inputSchema": schema} for name, what in tools.items()]}
    if method == "tools/call":
        word = request["params"]["arguments"]["word"]
        if request["params"]["name"] == "fail":
            return {"content": [{"type": "text", "text": "it failed on purpose: " + word}], "isError": True}
        return {"content": [{"type": "text", "text": word.upper() + "!"}]}
    return {}
def reply(request):
    params = request.get("params") or {}
    if params.get("name") == "break":
        return {"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32603, "message": params["arguments"]["word"]}}
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

/// Writes the script of the server to a file and returns its path.
pub(crate) fn server_script(home: &TestHome) -> String {
    let script = home.workspace().parent().unwrap().join("server.py");
    fs::write(&script, SERVER).unwrap();
    script.to_str().unwrap().to_owned()
}

#[test]
fn server_tools_are_available_under_the_same_permission_rules() {
    let home = home();
    let script = server_script(&home);
    let mut http_server = std::process::Command::new("python3")
        .args([script.as_str(), "http"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut port = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(http_server.stdout.take().unwrap()), &mut port)
        .unwrap();
    home.write_config(&format!(
        "[approval]\nallow = [\"made__*\"]\n[mcp.made]\ncommand = \"python3\"\nargs = [\"{script}\", \"stdio\"]\n\
         [mcp.far]\nurl = \"http://127.0.0.1:{}/mcp\"\n[mcp.broken]\ncommand = \"/nowhere/at/all\"\n",
        port.trim()
    ));
    let results = calls(
        &home,
        "ask",
        &[
            ("made__shout", json!({"word": "hello"})),
            ("made__fail", json!({"word": "hello"})),
            ("far__shout", json!({"word": "hello"})),
        ],
    );
    assert_eq!(
        results[..2],
        [
            "<memory>\nHELLO!\n</memory>",
            "error: the MCP server `made` failed:\n<memory>\nit failed on purpose: hello\n</memory>"
        ]
    );
    assert!(results[2].contains("the user cannot be asked"), "{results:?}");
    let results = calls(
        &home,
        "full",
        &[("far__shout", json!({"word": "far"})), ("made__shout", json!({"word": "near"}))],
    );
    assert_eq!(results, ["FAR!", "NEAR!"].map(|text| format!("<memory>\n{text}\n</memory>")));
    let results = calls(&home, "read-only", &[("made__shout", json!({"word": "x"}))]);
    assert!(results[0].contains("read-only"), "{results:?}");
    // A server that cannot be started is reported, and the turn succeeds.
    let provider = ScriptedProvider::always(Reply::text("Fine."));
    let output =
        home.memoir(["-p", "hi"]).provider(&provider).env("PATH", "/usr/local/bin:/usr/bin:/bin").output();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() && stderr.contains("Could not connect to the MCP server broken: "),
        "{stderr}"
    );
    http_server.kill().unwrap();
    http_server.wait().unwrap();
}

/// Uses a published server, which `.ci/run` installs. Does nothing if it is not installed.
#[test]
fn a_published_server_can_be_used() {
    let Some(server) = std::env::var_os("MEMOIR_TEST_TIME_SERVER") else { return };
    let home = home();
    home.write_config(&format!("[mcp.time]\ncommand = {:?}\n", server.to_str().unwrap()));
    let results = calls(
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
    assert!(results[0].contains("21:00:00+09:00"), "{results:?}");
    assert!(results[1].starts_with("error: "), "{results:?}");
}
