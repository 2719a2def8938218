"""The block that is active in this process, and which requests it takes."""

from __future__ import annotations

import contextlib
import json
import os
from collections import Counter
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from . import _inheritance
from ._asked import Asked, Rewrite
from ._chance import _stack
from ._context import call_headers, current_call, note_asked
from ._errors import NotCaught, ReportError
from ._exchange import Connections
from ._hosts import USUAL_PORTS, Host, base, ends_like, find_own_addresses, is_loopback, matches, origin
from ._progress import ProgressLine
from ._server import Address

#: Which server a request is for, told to the child process.
ORIGIN = "X-Retold-Origin"
TOKEN = "X-Retold-Token"
#: Names the answer, in what the child process sends back.
ANSWER = "X-Retold-Response"

#: What is counted of connections that were not caught.
PASSED, REFUSED = "passed", "refused"

#: How many seconds the reply to a report may take.
_PATIENCE = 60


@dataclass(eq=False)
class Session:
    """What is recorded or replayed while a block is active."""

    server: Address
    #: Whether nothing may be asked but the record.
    offline: bool
    #: A folder that is there as long as the block is active, for its child processes.
    folder: str
    hosts: tuple[Host, ...] = ()
    exclude: tuple[Host, ...] = ()
    allow_hosts: tuple[Host, ...] = ()
    pid: int = field(default_factory=os.getpid)
    #: Whether this process was started inside the block of another one, which it has joined.
    is_joined: bool = False
    #: How often each host was asked that was not caught, and how often one was refused in a replay.
    counted: dict[str, Counter[str]] = field(default_factory=lambda: {PASSED: Counter(), REFUSED: Counter()})
    #: Whether the block has ended.
    has_ended: bool = False
    #: What is made of each request that retold takes.
    rewrite: Rewrite | None = None
    #: The line of a notebook.
    progress: ProgressLine | None = None
    #: The tools that run whatever is recorded; `*` stands for any text.
    live_tools: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # Before connections are looked at.
        find_own_addresses()
        parts = urlsplit(self.server.url)
        self.host, self.port = parts.hostname or "127.0.0.1", parts.port or 80
        #: For whoever waits for an answer.
        self.connections = Connections(self.host, self.port)
        self._bases = [base(url) for url in self.server.bases]
        #: Servers and paths that the program has named as those of MCP servers.
        self._endpoints: set[tuple[tuple[str, str, int | None], str]] = set()

    def takes(self, method: str, scheme: str, host: str, port: int | None, path: str) -> bool:
        """Whether a request is recorded, or answered from the record."""
        host, path = host.lower().rstrip("."), path.partition("?")[0]
        place = (scheme, host, port or USUAL_PORTS.get(scheme))
        with_port = f"{host}:{place[2]}"
        if matches(host, self.exclude) or matches(with_port, self.exclude):
            return False
        if matches(host, self.hosts) or matches(with_port, self.hosts) or matches(host, self.server.hosts):
            return True
        if (place, path) in self._endpoints:
            return True
        if any(place == server and path.startswith(below) for server, below in self._bases):
            return True
        return method == "POST" and ends_like(path, self.server.paths)

    def take(self, url: str) -> None:
        """Takes all requests to this URL."""
        self._endpoints.add((base(url)[0], urlsplit(url).path))

    def rewritten(self, asked: Asked) -> Asked | None:
        """The request that is sent instead of this one; `None` if it goes past retold, as far as that is allowed."""
        now = self.rewrite(asked, self.offline) if self.rewrite is not None else asked
        if now is None:
            self.check(urlsplit(asked.url).hostname or "")
        return now

    @property
    def reaches_children(self) -> bool:
        """Whether requests of child processes belong to the run.

        They cannot be rewritten, so they are not recorded. A replay looks them up as they are.
        """
        return self.offline or self.rewrite is None

    def check(self, host: str) -> None:
        """Refuses a host that a replay does not reach, and counts it."""
        host = host.lower().rstrip(".")
        if is_loopback(host) or matches(host, self.allow_hosts) or matches(host, self.exclude):
            return
        if self.offline:
            self._count(REFUSED, host)
            raise NotCaught(
                f"retold: {host} was not recorded, and a replay asks nobody: name it in hosts= when you record, "
                "or in allow_hosts= if a replay may reach it"
            )

    def pass_by(self, host: str) -> None:
        """Notes a connection that was opened past retold."""
        if not is_loopback(host):
            self._count(PASSED, host)

    def _count(self, what: str, host: str) -> None:
        if self.pid == os.getpid():
            self.counted[what][host] += 1
            return
        # The process of the block reads it.
        with contextlib.suppress(OSError), open(os.path.join(self.folder, what), "a", encoding="utf-8") as file:
            file.write(f"{host}\n")

    def count(self, what: str) -> dict[str, int]:
        """How often each host was passed or refused, also by child processes."""
        return dict(self.counted[what] + self._of_children(what))

    def _of_children(self, what: str) -> Counter[str]:
        with contextlib.suppress(OSError), open(os.path.join(self.folder, what), encoding="utf-8") as file:
            return Counter(file.read().splitlines())
        return Counter()

    def collect(self) -> None:
        """Keeps what child processes have counted, before the folder is removed."""
        for what, counted in self.counted.items():
            counted.update(self._of_children(what))

    def add(self, connections: dict[str, dict[str, int]]) -> None:
        """Adds what the child process has counted as the proxy of programs."""
        self.counted[PASSED].update(connections["not_recorded"])
        self.counted[REFUSED].update(connections["refused"])

    def is_own(self, host: str, port: int | None) -> bool:
        """Whether this is the child process itself."""
        return host == self.host and port == self.port

    def note_answer(self, answer: str | None) -> None:
        """Remembers the last answer of the current call."""
        call = current_call()
        if call is not None and answer is not None:
            call.answer = answer

    def headers(self, scheme: str, host: str, port: int | None) -> list[tuple[str, str]]:
        """What the child process is told about a request besides itself."""
        if self.progress is not None and self.pid == os.getpid():
            self.progress.add()
        told = [
            ("Host", f"{self.host}:{self.port}"),
            (TOKEN, self.server.token),
            (ORIGIN, origin(scheme, host, port)),
        ]
        note_asked()
        if self.offline and self.server.chance is not None:
            told.append((_stack.HEADER, _stack.stack()))
        return told + call_headers()

    def report(self, kind: str, what: dict[str, Any]) -> dict[str, Any]:
        """Reports a decision or a fact; returns the reply."""
        if self.has_ended:
            raise ReportError("the block has ended, and its run takes no more reports")
        try:
            body = json.dumps(what, ensure_ascii=False, allow_nan=False).encode()
        except (TypeError, ValueError) as error:
            raise ReportError(f"{what['name']!r} has a value that JSON cannot hold: {error}") from error
        headers = [
            (b"Host", f"{self.host}:{self.port}".encode()),
            (TOKEN.encode(), self.server.token.encode()),
            (b"Content-Type", b"application/json"),
        ]
        try:
            reply = self.connections.ask(b"POST", f"/_retold/{kind}".encode(), headers, body, _PATIENCE)
            said: dict[str, Any] = json.loads(b"".join(reply))
        except OSError as error:
            raise ReportError(f"retold does not answer: {error}") from error
        if reply.status >= 400:
            raise ReportError(said["error"]["message"])
        return said

    def __reduce__(self) -> tuple[Any, ...]:
        # For a process that is started, which has connections of its own.
        given = (self.server, self.offline, self.folder, self.hosts, self.exclude, self.allow_hosts, self.pid, True)
        return _joined, (given, self.live_tools)


def _joined(given: tuple[Any, ...], live_tools: tuple[str, ...]) -> Session:
    session = Session(*given)
    session.live_tools = live_tools
    return session


_active: Session | None = None


def active() -> Session | None:
    """The session of this process; that of its parent if it was forked or started inside a block that has not ended."""
    session = _active
    if session is not None and session.pid != os.getpid() and not os.path.exists(session.folder):
        activate(None)
        return None
    return session


def activate(session: Session | None) -> None:
    """Makes a session the active one."""
    global _active
    if _active is not None:
        _inheritance.disinherit(_active)
    _active = session
    if session is not None:
        _inheritance.inherit(session)
