"""A program between an MCP client and a server that it starts: ``python -m retold.mcp -- COMMAND``.

It passes on the lines of both. Each request of the client is recorded as a call of a tool, with the answer; in a replay it is
answered from the record, and the server is not started. It is told by `RETOLD_URL`, or by the block that it is started in,
where to record; without them, it passes on all lines.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from typing import Any, BinaryIO

from ._recorder import Recorder, is_refusal, recorder

#: The request whose parameters name a tool.
_CALL = "tools/call"

#: The first request of a connection, which a server has to get before all others.
_FIRST = "initialize"

#: What a client says that waits for an answer no more; a server then gives none.
_GIVEN_UP = "notifications/cancelled"

#: What is said of a request that has no answer, in the numbers of JSON-RPC that are free.
_NOT_ANSWERED, _SERVER_ENDED = -32001, -32000

#: How many seconds a server may take to end.
_PATIENCE = 2

Message = dict[str, Any]

#: Stands for the answer of a server that has ended.
_ENDED: Message = {}

#: The error of a request that was given up.
_NO_ANSWER: Message = {"type": "CancelledError", "message": "the client waited for the answer no more"}


class Between:
    """A client, and the server behind this program."""

    def __init__(self, command: Sequence[str], home: Recorder | None, client: BinaryIO) -> None:
        self._command, self._home, self._client = command, home, client
        self._server: subprocess.Popen[bytes] | None = None
        #: What the server has to get before anything else, in case that it is started late.
        self._before: list[Message] = []
        #: The answers that are waited for, by the ids of their requests as JSON.
        self._waiting: dict[str, _Answer] = {}
        self._has_ended = False
        self._lock, self._starting = threading.Lock(), threading.RLock()
        self._threads: list[threading.Thread] = []

    def read(self, lines: BinaryIO) -> int:
        """Passes on what the client says, to its end; returns the exit code of the server, or 0 if it was not started."""
        for line in lines:
            try:
                message = json.loads(line)
            except ValueError:
                message = None
            if not isinstance(message, dict):
                self._pass_on(line)
            elif "method" in message and "id" in message:
                self._begin(message)
            elif "method" in message:
                self._notify(message)
            else:
                self._pass_on(line)
        for thread in self._threads:
            thread.join()
        return self._end()

    def _begin(self, request: Message) -> None:
        if request["method"] == _FIRST:
            self._answer(request)
            self._before.insert(0, request)
            return
        # The server may be asked by several at once.
        thread = threading.Thread(target=self._answer, args=(request,))
        self._threads.append(thread)
        thread.start()

    def _notify(self, message: Message) -> None:
        if message["method"] == _GIVEN_UP:
            self._give_up(message)
            return
        with self._starting:
            self._before.append(message)
            if self._server is not None:
                self._send(message)

    def _give_up(self, message: Message) -> None:
        with self._lock:
            waiting = self._waiting.pop(json.dumps((message.get("params") or {}).get("requestId")), None)
        if self._server is not None:
            self._send(message)
        if waiting is not None:
            waiting.give(None)

    def _pass_on(self, line: bytes) -> None:
        # An answer to what the server has asked, which is running.
        if self._server is not None:
            self._send_line(line)

    def _answer(self, request: Message) -> None:
        """Answers a request: from the record, or by the server."""
        try:
            answer = self._answer_to(request)
            if answer is not None:
                self._say(answer)
        except Exception as error:  # noqa: BLE001  a client waits for an answer
            self._say(_failure(request, _NOT_ANSWERED, f"retold: {error}"))

    def _answer_to(self, request: Message) -> Message | None:
        """The answer to a request; none if the client waits no more."""
        if self._home is None:
            return self._ask_server(request)
        status, reply, _ = self._home.ask("", self._call(request), [])
        if status != 202:
            return _answer_from_record(request, reply)
        answer, number = self._ask_server(request), reply["run"]
        if number is not None:
            _, reply, _ = self._home.ask(f"/{number}", _outcome(answer), [])
            if is_refusal(reply):
                return _failure(request, _NOT_ANSWERED, reply["error"]["message"])
        return answer

    def _call(self, request: Message) -> Message:
        """A request as the call of a tool, without what belongs to this connection."""
        params = {name: value for name, value in (request.get("params") or {}).items() if name != "_meta"}
        if request["method"] == _CALL and isinstance(params.get("name"), str):
            told: Message = {"tool": params["name"], "arguments": params.get("arguments") or {}}
        else:
            told = {"tool": request["method"], "arguments": params}
        assert self._home is not None
        if self._home.is_live(told["tool"]):
            told["live"] = True
        return {**told, "server": _name(self._command)}

    def _ask_server(self, request: Message) -> Message | None:
        """The answer of the server; none if the client waits no more."""
        try:
            self._start()
        except OSError as error:
            said = f"the MCP server {_name(self._command)} cannot be started: {error.strerror}"
            return _failure(request, _SERVER_ENDED, said)
        waiting, key = _Answer(), json.dumps(request["id"])
        with self._lock:
            self._waiting[key] = waiting
            if self._has_ended:
                self._waiting.pop(key).give(_ENDED)
        self._send(request)
        answer = waiting.wait()
        if answer is _ENDED:
            return _failure(request, _SERVER_ENDED, f"the MCP server {_name(self._command)} has ended")
        return answer

    def _start(self) -> None:
        with self._starting:
            if self._server is not None:
                return
            self._server = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            threading.Thread(target=self._read_server, args=(self._server,), daemon=True).start()
            for message in self._before:
                if message.get("method") == _FIRST:
                    # Its answer is recorded, and the client has it.
                    self._ask_server({**message, "id": "retold"})
                else:
                    self._send(message)

    def _read_server(self, server: subprocess.Popen[bytes]) -> None:
        assert server.stdout is not None
        for line in server.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                message = None
            waiting = None
            if isinstance(message, dict) and "method" not in message and "id" in message:
                with self._lock:
                    waiting = self._waiting.pop(json.dumps(message["id"]), None)
            if waiting is not None:
                waiting.give(message)
            else:
                self._say_line(line)
        with self._lock:
            self._has_ended = True
            left, self._waiting = list(self._waiting.values()), {}
        for answer in left:
            answer.give(_ENDED)

    def _send(self, message: Message) -> None:
        self._send_line(json.dumps(message, ensure_ascii=False).encode() + b"\n")

    def _send_line(self, line: bytes) -> None:
        assert self._server is not None and self._server.stdin is not None
        with self._lock:
            try:
                self._server.stdin.write(line)
                self._server.stdin.flush()
            except OSError:
                # Whoever waits for an answer is told that it has ended.
                pass

    def _say(self, message: Message) -> None:
        self._say_line(json.dumps(message, ensure_ascii=False).encode() + b"\n")

    def _say_line(self, line: bytes) -> None:
        with self._lock:
            self._client.write(line)
            self._client.flush()

    def _end(self) -> int:
        server = self._server
        if server is None:
            return 0
        assert server.stdin is not None
        try:
            server.stdin.close()
        except OSError:
            pass
        try:
            return server.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            server.terminate()
            return server.wait()


class _Answer:
    """An answer that is waited for."""

    def __init__(self) -> None:
        self._came, self._answer = threading.Event(), None

    def give(self, answer: Message | None) -> None:
        self._answer = answer  # type: ignore[assignment]
        self._came.set()

    def wait(self) -> Message | None:
        self._came.wait()
        return self._answer


def _answer_from_record(request: Message, reply: Message) -> Message | None:
    """The answer to a request that is recorded, or is not; none if its client gave up waiting, and will do so again."""
    error = reply.get("error")
    if error is None:
        return {"jsonrpc": "2.0", "id": request["id"], "result": reply["result"]}
    if error.get("type") == _NO_ANSWER["type"]:
        return None
    rpc = error.get("rpc")
    if rpc is not None:
        return {"jsonrpc": "2.0", "id": request["id"], "error": rpc}
    return _failure(request, _NOT_ANSWERED, error["message"])


def _outcome(answer: Message | None) -> Message:
    """What a server gave, as what a tool gave. A call without an answer has not ended: a run that goes on makes it again."""
    if answer is None:
        return {"error": {**_NO_ANSWER, "again": True}}
    if "error" not in answer:
        return {"result": answer.get("result")}
    error = answer["error"]
    return {
        "error": {
            "type": "McpError",
            "message": str(error.get("message", "")),
            "rpc": error,
            "again": error.get("code") == _SERVER_ENDED,
        }
    }


def _failure(request: Message, code: int, message: str) -> Message:
    return {"jsonrpc": "2.0", "id": request["id"], "error": {"code": code, "message": message}}


def _name(command: Sequence[str]) -> str:
    """A server by its program and its script, such as `python server.py`: other words may be keys, or differ from run to run."""
    script = [word for word in command[1:2] if not word.startswith("-")]
    return " ".join(os.path.basename(word) for word in [*command[:1], *script])


def main(words: Sequence[str]) -> int:
    """Runs the program."""
    command = list(words[1:] if words[:1] == ["--"] else words)
    if not command:
        print("usage: python -m retold.mcp -- COMMAND: the command of an MCP server that speaks on stdio", file=sys.stderr)
        return 2
    return Between(command, recorder(), sys.stdout.buffer).read(sys.stdin.buffer)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
