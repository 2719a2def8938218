"""What calls of tools are told to, and how: the server of the active block, or of the command `retold record` around this program."""

from __future__ import annotations

import fnmatch
import json
import os
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from ._chance._imports import Waiting
from ._chance._stack import patches
from ._context import note_asked
from ._exchange import Connections
from ._session import ANSWER, TOKEN, Session, active

#: Where the server of `retold record` is.
_URL = "RETOLD_URL"

#: The tools that run whatever is recorded, for `retold replay` and `fork`: names with commas between them.
_LIVE = "RETOLD_LIVE_TOOLS"

#: How many seconds the reply to a call may take: that of a result comes when it is on disk.
_PATIENCE = 600


class Recorder:
    """A server that records calls of tools, or answers them."""

    def __init__(
        self,
        connections: Connections,
        prefix: str,
        headers: list[tuple[str, str]],
        live: Sequence[str],
        session: Session | None = None,
    ) -> None:
        self._connections, self._prefix, self._headers, self._live = connections, prefix, headers, live
        self._session = session

    @property
    def has_ended(self) -> bool:
        """Whether the block has ended, to which a tool that still runs belonged."""
        return self._session is not None and self._session.has_ended

    def is_live(self, tool: str) -> bool:
        """Whether a tool runs, whatever is recorded."""
        return any(fnmatch.fnmatchcase(tool, name) for name in self._live)

    def ask(self, place: str, what: dict[str, Any], named: list[tuple[str, str]]) -> tuple[int, dict[str, Any], str | None]:
        """The status, the reply, and the id of the answer. ``named`` are the headers of the call."""
        body = json.dumps(what, ensure_ascii=False, allow_nan=False).encode("utf-8", "surrogatepass")
        headers = [*self._headers, ("Content-Type", "application/json"), *named]
        told = [(name.encode(), value.encode("latin-1")) for name, value in headers]
        reply = self._connections.ask(b"POST", f"{self._prefix}/_retold/tools{place}".encode(), told, body, _PATIENCE)
        said: dict[str, Any] = json.loads(b"".join(reply))
        answer = next((value.decode() for name, value in reply.headers if name.lower() == ANSWER.lower().encode()), None)
        return reply.status, said, answer


_of_command: tuple[str, Recorder] | None = None


def recorder() -> Recorder | None:
    """What records this program, if anything does."""
    session = active()
    if session is not None:
        if session.has_ended:
            return None
        headers = [("Host", f"{session.host}:{session.port}"), (TOKEN, session.server.token)]
        return Recorder(session.connections, "", headers, session.live_tools, session)
    return _recorder_of_command(os.environ.get(_URL))


def _recorder_of_command(url: str | None) -> Recorder | None:
    global _of_command
    if not url:
        return None
    if _of_command is None or _of_command[0] != url:
        parts = urlsplit(url)
        host, port = parts.hostname or "127.0.0.1", parts.port or 80
        live = tuple(filter(None, map(str.strip, os.environ.get(_LIVE, "").split(","))))
        made = Recorder(Connections(host, port), parts.path.rstrip("/"), [("Host", f"{host}:{port}")], live)
        if _of_command is None:
            # A tool that asks a model is run in a replay, too. In a block, its request is seen where it is caught.
            Waiting(patches(setattr, note_asked)).begin()
        _of_command = (url, made)
    return _of_command[1]


def is_refusal(reply: dict[str, Any]) -> bool:
    """Whether a reply is an error of the server, not one of the tool."""
    code = reply.get("error", {}).get("code")
    return isinstance(code, str) and code.startswith("retold_")
