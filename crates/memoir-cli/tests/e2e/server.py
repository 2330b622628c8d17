import json, os, sys, time, http.server
extra = []
def answer(request):
    method = request.get("method")
    if method == "server/discover":
        raise KeyError(method)
    if method == "initialize":
        return {"protocolVersion": request["params"]["protocolVersion"], "capabilities": {"tools": {"listChanged": True}, "prompts": {}, "resources": {}}, "serverInfo": {"name": "made", "version": "1"}}
    if method == "tools/list":
        schema = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
        tools = {"shout": "Says a word loudly.", "fail": "Fails.", "break": "Knows no answer.", "die": "Ends the server.", "grow": "Adds a tool.", "place": "Tells where it runs.", "ask": "Asks the user.", "slow": "Takes a while."}
        tools.update({name: "A new tool." for name in extra})
        return {"tools": [{"name": name, "description": what, "inputSchema": schema} for name, what in tools.items()]}
    if method == "prompts/list":
        needed = {"name": "file", "required": True}
        return {"prompts": [{"name": "review", "description": "Reviews a file.", "arguments": [needed, {"name": "tone"}]},
            {"name": "reviewall\x1b]0;PWNED\x07"}, {"name": "evil\nfake: 3 tools"}, {"name": "plain", "description": "\x1b]0;PWNED\x07 harmless"}]}
    if method == "prompts/get":
        text = "Please review " + request["params"]["arguments"]["file"] + " in a tone that is " + request["params"]["arguments"].get("tone", "calm")
        return {"messages": [{"role": "user", "content": {"type": "text", "text": text}}]}
    if method == "resources/list":
        return {"resources": [{"uri": "note://2", "name": "other"}, {"uri": "wiki://Foo_(bar)", "name": "PWNED\x1b[31m"}, {"uri": "x:\ny", "name": "z"}]}
    if method == "resources/read":
        return {"contents": [{"uri": request["params"]["uri"], "text": "The note says: feed the cat. " + request["params"]["uri"]}]}
    if method == "tools/call":
        word = request["params"]["arguments"]["word"]
        if request["params"]["name"] == "die":
            print("the disk of the server is full", file=sys.stderr, flush=True)
            os._exit(3)
        if request["params"]["name"] == "ask":
            schema = {"type": "object", "properties": {"sure": {"type": "boolean", "description": "Are you sure"}}, "required": ["sure"]}
            question = {"message": "Sell the house?", "requestedSchema": schema}
            print(json.dumps({"jsonrpc": "2.0", "id": "q1", "method": "elicitation/create", "params": question}), flush=True)
            return {"content": [{"type": "text", "text": json.dumps(json.loads(sys.stdin.readline())["result"])}]}
        if request["params"]["name"] == "slow":
            token = request["params"]["_meta"]["progressToken"]
            for step in range(int(word)):
                report = {"progressToken": token, "progress": step + 1, "total": int(word), "message": "copying \u001b[31mthings"}
                print(json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": report}), flush=True)
                time.sleep(0.5)
            return {"content": [{"type": "text", "text": "copied"}]}
        if request["params"]["name"] == "grow":
            extra.append("grown")
            print(json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}), flush=True)
        if request["params"]["name"] == "place":
            resource = {"uri": "note://1", "mimeType": "text/plain", "text": os.getcwd() + " " + os.environ.get("GREETING", "")}
            picture = {"type": "image", "mimeType": "image/png", "data": "AAAA" * 100}
            dot = {"type": "image", "mimeType": "image/png", "data": os.environ.get("DOT", "")}
            link = {"type": "resource_link", "uri": "note://2", "name": "other"}
            return {"content": [{"type": "resource", "resource": resource}, picture, dot, link]}
        if request["params"]["name"] == "fail":
            return {"content": [{"type": "text", "text": "it failed on purpose: " + word}], "isError": True}
        return {"content": [{"type": "text", "text": word.upper() + "!"}]}
    return {}
def reply(request):
    params = request.get("params") or {}
    if params.get("name") == "break":
        return {"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32603, "message": params["arguments"]["word"]}}
    try:
        return {"jsonrpc": "2.0", "id": request["id"], "result": answer(request)}
    except KeyError as error:
        return {"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32601, "message": "no method " + str(error)}}
if sys.argv[1] == "stdio":
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:
            print(json.dumps(reply(request)), flush=True)
else:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            if len(sys.argv) > 2 and self.headers.get("authorization") != sys.argv[2]:
                self.send_response(403); self.send_header("content-length", "6"); self.end_headers()
                return self.wfile.write(b"<html>")
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
