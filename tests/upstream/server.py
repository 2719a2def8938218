"""The server: reads requests, lets a dialect answer them, and makes go wrong what the prompt asks for."""

from __future__ import annotations

import gzip
import itertools
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlparse

from .dialects import dialect_of
from .exchange import Refused, Request, Stream, Whole
from .failures import Failures, Plan


class Upstream(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), Answers)
        self.numbers = itertools.count(1)
        self.failures = Failures()
        self.received: list[Request] = []
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def start(self) -> Upstream:
        """Answers in a thread of its own."""
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def stop(self) -> None:
        self.shutdown()
        self.server_close()


class Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Upstream

    def do_POST(self) -> None:
        try:
            self.answer()
        except ConnectionError:  # the client has hung up
            self.close_connection = True

    do_GET = do_POST

    def answer(self) -> None:
        target = urlparse(self.path)
        headers = {name.lower(): value for name, value in self.headers.items()}
        number = next(self.server.numbers)
        path = unquote(target.path)
        request = Request(self.command, path, parse_qs(target.query), headers, self.body(), number)
        self.server.received.append(request)
        dialect = dialect_of(request.path)
        if dialect is None:
            return self.whole(Whole({"error": f"no API of ours has the path {path}"}, 404), NOTHING, number)
        try:
            answer = dialect.answer(request)
        except Refused as refused:
            return self.whole(refused.answer, NOTHING, number)
        plan = self.server.failures.plan(path, request.text)
        time.sleep(plan.delay)
        if "HANG-UP" in plan.words:
            return self.hang_up()
        if plan.status is not None:
            failed = dialect.failure(plan.status, f"made-up failure {plan.status}, number {number}", request)
            if plan.status == 429:  # OpenAI's and Anthropic's SDKs read the first one, others only the second
                failed.headers |= {"retry-after-ms": "10", "retry-after": "0"}
            return self.whole(failed, plan, number)
        return self.stream(answer, plan, number) if isinstance(answer, Stream) else self.whole(answer, plan, number)

    def body(self) -> bytes:
        if "chunked" not in self.headers.get("transfer-encoding", ""):
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def head(self, status: int, content_type: str, plan: Plan, number: int, headers: dict[str, str]) -> bool:
        """Sends the head, and returns whether the body is to be compressed."""
        self.send_response(status)
        if "NO-TYPE" not in plan.words:
            self.send_header("content-type", "text/plain" if "WRONG-TYPE" in plan.words else content_type)
        is_compressed = "GZIP" in plan.words and "gzip" in self.headers.get("accept-encoding", "")
        if is_compressed:
            self.send_header("content-encoding", "gzip")
        for name, value in {"x-request-id": f"req_{number}", **headers}.items():
            self.send_header(name, value)
        return is_compressed

    def whole(self, answer: Whole, plan: Plan, number: int) -> None:
        body = answer.bytes()
        if "KEEPALIVE" in plan.words:
            body = b"\n\n\n" + body  # white space before a JSON value has no meaning
        if self.head(answer.status, answer.content_type, plan, number, answer.headers):
            body = gzip.compress(body, mtime=0)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        if {"CUT-IN", "CUT-BETWEEN"} & plan.words:
            self.wfile.write(body[: len(body) // 2])
            return self.hang_up()
        self.wfile.write(body)

    def stream(self, answer: Stream, plan: Plan, number: int) -> None:
        is_compressed = self.head(200, answer.content_type, plan, number, {})
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        half = len(answer.events) // 2
        events = answer.events
        if "ERROR-INSIDE" in plan.words:
            events = [*events[:half], answer.error]
        if "KEEPALIVE" in plan.words:
            events = [part for event in events for part in (answer.comment, event) if part]
        if is_compressed:
            events = [gzip.compress(b"".join(events), mtime=0)]
        for place, event in enumerate(events):
            if place >= half and {"CUT-IN", "CUT-BETWEEN"} & plan.words:
                if "CUT-IN" in plan.words:
                    self.chunk(event[: len(event) // 2])
                return self.hang_up()
            self.chunk(event)
            if "SLOW" in plan.words:
                time.sleep(0.02)
        self.wfile.write(b"0\r\n\r\n")

    def chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def log_message(self, *_: Any) -> None:
        pass


NOTHING = Plan(None, 0, frozenset())
