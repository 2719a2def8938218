"""The SDK for MCP: servers that are started as processes, and those over HTTP, whose requests are recorded like others."""

from __future__ import annotations

import functools
import os
import sys
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from .._context import note_asked
from .._errors import RetoldWarning
from .._recorder import recorder
from .._session import active

#: The function that starts a server.
_START = "_create_platform_compatible_process"

#: The program between a client and a server, wherever this package is.
_BETWEEN = "import sys; sys.path.append({folder!r}); from retold.mcp import main; sys.exit(main(sys.argv[1:]))"


def patch_stdio(stdio: ModuleType) -> None:
    """Starts each server behind a program that records what it is asked, or answers from the record and starts none."""
    start = getattr(stdio, _START, None)
    if start is None:
        warnings.warn(
            "retold: this release of mcp starts its servers in a way that is not known: write `python -m retold.mcp --` before "
            "their commands",
            RetoldWarning,
            stacklevel=2,
        )
        return

    @functools.wraps(start)
    async def start_between(*, command: str, args: list[str], env: dict[str, str] | None = None, **more: Any) -> Any:
        # One that its user has put there is enough.
        if recorder() is not None and "retold.mcp" not in args:
            folder = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
            args = ["-c", _BETWEEN.format(folder=folder), command, *args]
            command = sys.executable
            ours = {name: os.environ[name] for name in ("RETOLD_URL", "RETOLD_LIVE_TOOLS") if name in os.environ}
            env = {**ours, **(env or {})}
        return await start(command=command, args=args, env=env, **more)

    setattr(stdio, _START, start_between)


#: The servers over HTTP that `retold record` does not see.
_unseen: set[str] = set()


def patch_http(http: ModuleType) -> None:
    """Records the requests to each server over HTTP, because a replay that asked it would run its tools."""
    transport = http.StreamableHTTPTransport
    init: Callable[..., None] = transport.__init__

    @functools.wraps(init)
    def init_taken(self: Any, url: str, *args: Any, **kwargs: Any) -> None:
        session = active()
        if session is not None:
            session.take(url)
        elif urlsplit(url).netloc != urlsplit(os.environ.get("RETOLD_URL", "")).netloc:
            _unseen.add(url)
        init(self, url, *args, **kwargs)

    transport.__init__ = init_taken


def patch_session(session: ModuleType) -> None:
    """Notes that a tool asks a server: each of these requests is recorded by itself."""
    kind = session.ClientSession
    send: Callable[..., Any] = kind.send_request

    @functools.wraps(send)
    async def send_noted(self: Any, *args: Any, **kwargs: Any) -> Any:
        # A tool that asks one which is not seen is answered from its own record.
        if not _unseen:
            note_asked()
        return await send(self, *args, **kwargs)

    kind.send_request = send_noted
