"""A model on this machine that says something else each time, and counts what it was asked."""

from __future__ import annotations

import itertools
import json
import random
import re
import threading
import time
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

WORDS = "the well is dry and somebody sings near an old gate while rain falls on stone".split()


class Model(ThreadingHTTPServer):
    """Listens on loopback until it is closed."""

    daemon_threads = True
    request_queue_size = 100

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Asked)
        self.asked: Counter[bytes] = Counter()
        self.numbers = itertools.count(1)
        #: Called with the number of each request, before it is answered.
        self.each = lambda number: None
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


class Asked(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Model

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        request = json.loads(body)
        number = next(self.server.numbers)
        self.server.each(number)
        self.server.asked[body] += 1
        # Answers come back in another order than they were asked for.
        time.sleep(random.random() / 50)
        message = {"role": "assistant", "content": answer(request)}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
        reply = {"id": f"c{number}", "object": "chat.completion", "created": 1, "model": request["model"], "choices": [choice], "usage": usage}
        self.send(json.dumps(reply).encode())

    def send(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def answer(request: dict) -> str:
    """One of the options if there are some, and otherwise some words."""
    last = request["messages"][-1]["content"]
    text = last if isinstance(last, str) else " ".join(part.get("text", "") for part in last)
    options = re.search(r"one of the following strings:\n(.*)\.$", text, re.DOTALL)
    if options:
        return random.choice(options[1].split("\n"))
    return " ".join(random.sample(WORDS, 8)).capitalize() + "."
