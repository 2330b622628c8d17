"""A scripted provider for agents: the Messages API of Anthropic and the Responses API of OpenAI, on loopback.

usage: agent_provider.py PORT LOG. Each request is added to LOG as a line of JSON, and answered with a short text.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT, LOG = int(sys.argv[1]), sys.argv[2]
ANSWER = "Understood."
lock = threading.Lock()


def messages_events(body):
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": [],
               "stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 10, "output_tokens": 1}}
    yield {"type": "message_start", "message": message}
    yield {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
    yield {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": ANSWER}}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None},
           "usage": {"output_tokens": 5}}
    yield {"type": "message_stop"}


def responses_events(_body):
    item = {"type": "message", "role": "assistant", "id": "msg_1",
            "content": [{"type": "output_text", "text": ANSWER, "annotations": []}]}
    usage = {"input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5,
             "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 15}
    yield {"type": "response.created", "response": {"id": "resp_1"}}
    yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield {"type": "response.completed", "response": {"id": "resp_1", "usage": usage}}


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def reply(self, content_type, data):
        self.send_response(200)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_HEAD(self):
        self.reply("text/plain", b"")

    def do_GET(self):
        self.reply("application/json", b'{"data": [], "models": []}')

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        with lock, open(LOG, "a") as log:
            log.write(json.dumps(body, ensure_ascii=False) + "\n")
        if self.path.split("?")[0].endswith("/messages"):
            events = messages_events(body)
        elif self.path.rstrip("/").endswith("/responses"):
            events = responses_events(body)
        else:
            return self.reply("application/json", b'{"input_tokens": 100}')
        text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        self.reply("text/event-stream", text.encode())


ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
