"""What retold reads: a server on this machine sends the streams to a client that `retold record` runs."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from blocks import Stream
from reading import Reading

PIECE = 97


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Otherwise the body waits 40 ms for the acknowledgement of the head.
    disable_nagle_algorithm = True
    server: Server

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        # As it is stored.
        asked["messages"] = asked.get("messages") or asked.get("input") or asked.get("contents")
        stream = self.server.streams[self.server.dialect.number(asked)]
        self.send_response(200)
        self.send_header("content-type", stream.content_type)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        sent = stream.sent()
        out = b""
        for at in range(0, len(sent), PIECE):
            piece = sent[at : at + PIECE]
            out += f"{len(piece):x}\r\n".encode() + piece + b"\r\n"
        self.wfile.write(out + (b"" if stream.breaks else b"0\r\n\r\n"))
        self.close_connection = stream.breaks

    def log_message(self, *_: Any) -> None:
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    dialect: Any
    streams: list[Stream]


def record(program: str, dialect: Any, streams: list[Stream]) -> dict[int, Reading]:
    """What retold reads of each stream."""
    server = Server(("127.0.0.1", 0), Handler)
    server.dialect, server.streams = dialect, streams
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        log, asked = str(Path(folder) / "r.db"), Path(folder) / "asked"
        lines = [json.dumps([dialect.path(n), dialect.body(n)]) for n in range(len(streams))]
        asked.write_text("\n".join(lines))
        client = [sys.executable, str(Path(__file__).parent / "ask.py"), dialect.VARIABLE, str(asked)]
        base = f"http://127.0.0.1:{server.server_port}" + ("/v1" if dialect.UPSTREAM == "openai" else "")
        options = ["--log", log, "--quiet"]
        command = [program, "record", *options, "--upstream", f"{dialect.UPSTREAM}={base}", "--", *client]
        # It says which answers are not whole, which is the case for half of them.
        recorded = subprocess.run(command, stderr=subprocess.PIPE)
        if recorded.returncode != 0:
            raise RuntimeError(recorded.stderr.decode())
        recording = subprocess.run([program, "export", *options, "latest"], check=True, stdout=subprocess.PIPE)
    server.shutdown()
    return readings(dialect, recording.stdout.decode())


def readings(dialect: Any, recording: str) -> dict[int, Reading]:
    """The readings in a recording (docs/format.md)."""
    contents: dict[str, str] = {}
    prompts: dict[str, int] = {}
    sent: dict[int, int] = {}
    found: dict[int, Reading] = {}
    for line in recording.split("\n"):
        event = json.loads(line) if line else {}
        if "text" in event:
            contents[event["content"]] = event["text"]
        elif "request" in event:
            prompts[event["prompt"]] = dialect.number(event["request"]["body"])
        elif event.get("kind") == "RequestSent":
            sent[event["seq"]] = prompts[event["prompt"]]
        elif event.get("kind") == "ResponseReceived":
            said = contents.get(event.get("content", ""), "")
            found[sent[event["cause"]]] = reading = dialect.read_by_retold(event["body"], said).tidy()
            if unread := event["body"].get("extra", {}).get("unreadable"):
                reading.error = unread["reason"]
        elif event.get("kind") == "AttemptFailed":
            said = event["body"].get("http", {}).get("text", "")
            found[sent[event["cause"]]] = Reading(said, error=event["body"]["error"], only_text=True).tidy()
    return found
