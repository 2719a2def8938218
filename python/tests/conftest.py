"""What the tests of the installed package share: a server that answers as OpenAI and Anthropic do, made up and said so."""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

pytest_plugins = ["pytester"]


class Answers(BaseHTTPRequestHandler):
    """Each answer is another one, so that samples can be told apart."""

    protocol_version = "HTTP/1.1"
    server: Model

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        number = next(self.server.numbers)
        self.server.asked.append((self.path, body))
        text = f"made-up answer {number} to {body['messages'][-1]['content']}"
        if "sleep" in text:
            time.sleep(5)
        if "nap" in text:
            time.sleep(1)
        if self.path.endswith("/v1/messages"):
            return self.whole(
                {
                    "id": f"msg-{number}",
                    "type": "message",
                    "role": "assistant",
                    "model": "made-up",
                    "content": [{"type": "text", "text": text}],
                    "stop_reason": "end_turn",
                    "stop_sequence": None,
                    "usage": {"input_tokens": 1, "output_tokens": 2},
                }
            )
        if body.get("stream"):
            return self.stream(number, text)
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
        answer = {"id": f"chat-{number}", "object": "chat.completion", "created": 1, "model": "made-up"}
        return self.whole({**answer, "choices": [choice], "usage": usage})

    def whole(self, answer: Any) -> None:
        out = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(out)))
        self.end_headers()
        self.wfile.write(out)

    def stream(self, number: int, text: str) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        chunk = {"id": f"chat-{number}", "object": "chat.completion.chunk", "created": 1, "model": "made-up"}
        for word in text.split():
            delta = {"index": 0, "delta": {"content": word + " "}, "finish_reason": None}
            self.wfile.write(b"data: " + json.dumps({**chunk, "choices": [delta]}).encode() + b"\n\n")
        end = {"index": 0, "delta": {}, "finish_reason": "stop"}
        self.wfile.write(b"data: " + json.dumps({**chunk, "choices": [end]}).encode() + b"\n\ndata: [DONE]\n\n")
        self.close_connection = True

    def log_message(self, *_: Any) -> None:
        pass


class Model(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answers)
        self.numbers = itertools.count()
        self.asked: list[tuple[str, Any]] = []
        self.is_running = True
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def stop(self) -> None:
        """Stops answering; a test may do so before its end."""
        if self.is_running:
            self.is_running = False
            self.shutdown()
            self.server_close()


@pytest.fixture
def model() -> Iterator[Model]:
    server = Model()
    yield server
    server.stop()


@pytest.fixture
def log(tmp_path) -> str:
    return str(tmp_path / "study.db")
