"""Connections that no transport has caught: named while recording, refused in a replay."""

from __future__ import annotations

import socket
from typing import Any

from .._hosts import is_loopback
from .._session import active

#: The name that was looked up for an address. Addresses are few: those of the hosts that a program asks.
_names: dict[str, str] = {}
_MOST_NAMES = 10_000


def patch() -> None:
    """Patches the lookup of names, and the two ways to connect, unless they are patched.

    Tools that block the network put back what they found when they were imported, which takes ours away.
    """
    if getattr(socket.socket.connect, "__module__", None) == __name__:
        return
    look_up = socket.getaddrinfo
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex

    def getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        session = active()
        if session is None or host is None:
            return look_up(host, *args, **kwargs)
        name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host)
        session.check(name)
        found = look_up(host, *args, **kwargs)
        if len(_names) < _MOST_NAMES and not is_loopback(name):
            for one in found:
                _names[str(one[4][0])] = name
        return found

    def noted(self: socket.socket, address: Any) -> None:
        session = active()
        if session is None or self.family not in (socket.AF_INET, socket.AF_INET6):
            return
        host = str(address[0])
        name = _names.get(host, host)
        session.check(name)
        # A datagram socket that is connected has sent nothing; libraries do so to find out their own address.
        if self.type & socket.SOCK_STREAM:
            session.pass_by(name)

    def connect_noted(self: socket.socket, address: Any) -> None:
        noted(self, address)
        connect(self, address)

    def connect_ex_noted(self: socket.socket, address: Any) -> int:
        noted(self, address)
        return connect_ex(self, address)

    if getattr(look_up, "__module__", None) != __name__:
        socket.getaddrinfo = getaddrinfo
    socket.socket.connect = connect_noted  # type: ignore[method-assign, assignment]
    socket.socket.connect_ex = connect_ex_noted  # type: ignore[method-assign, assignment]
