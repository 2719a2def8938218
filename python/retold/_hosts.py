"""Names of hosts and ends of paths, and how they are compared."""

from __future__ import annotations

import contextlib
import re
import socket
from collections.abc import Iterable
from fnmatch import fnmatchcase
from urllib.parse import urlsplit

USUAL_PORTS = {"http": 80, "https": 443}

#: Names hosts: a text in which `*` stands for any text, or a regular expression that fits the whole name.
Host = str | re.Pattern[str]


def base(url: str) -> tuple[tuple[str, str, int | None], str]:
    """The server of a URL, and what the paths below it begin with."""
    parts = urlsplit(url)
    server = (parts.scheme, (parts.hostname or "").rstrip("."), parts.port or USUAL_PORTS.get(parts.scheme))
    return server, parts.path.rstrip("/") + "/"


def origin(scheme: str, host: str, port: int | None) -> str:
    """A server as URLs begin with it, without its port if that is the usual one."""
    shown = f"[{host}]" if ":" in host else host
    suffix = "" if port in (None, USUAL_PORTS.get(scheme)) else f":{port}"
    return f"{scheme}://{shown}{suffix}"


def matches(host: str, patterns: Iterable[Host]) -> bool:
    """Whether one of the patterns names this host."""
    return any(
        fnmatchcase(host, pattern) if isinstance(pattern, str) else pattern.fullmatch(host) is not None
        for pattern in patterns
    )


def ends_like(path: str, ends: Iterable[str]) -> bool:
    """Whether a path ends like one of these, in which `*` stands for any text."""
    return any(fnmatchcase(path, "*" + end) for end in ends)


def is_loopback(host: str) -> bool:
    """Whether a host is this machine."""
    return host in ("localhost", "::1", *OWN) or host.startswith("127.") or host.endswith(".localhost")


#: Addresses of this machine in its network, by which its own processes may find each other.
OWN: list[str] = []


def find_own_addresses() -> None:
    """Finds them out, once; nothing is sent."""
    if not OWN:
        with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
            one.connect(("192.0.2.1", 9))
            OWN.append(one.getsockname()[0])
