"""gRPC, whose calls go past Python's sockets: they are not recorded, so their hosts are counted, and a replay refuses them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from .._session import active


def patch(grpc: ModuleType) -> None:
    """Patches what opens channels, also for asyncio."""
    for module in (grpc, grpc.aio):
        for name in ("insecure_channel", "secure_channel"):
            setattr(module, name, _noted(getattr(module, name)))


def _noted(opened: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(opened)
    def open_channel(target: str, *args: Any, **kwargs: Any) -> Any:
        session, host = active(), _host(target)
        if session is not None and host is not None:
            session.check(host)
            session.pass_by(host)
        return opened(target, *args, **kwargs)

    return open_channel


def _host(target: str) -> str | None:
    """The host of a target such as `dns:///models.example.org:443`; none for a socket of this machine.

    https://github.com/grpc/grpc/blob/master/doc/naming.md
    """
    if target.startswith(("unix:", "unix-abstract:", "vsock:")):
        return None
    return urlsplit("//" + target.rpartition("/")[2].removeprefix("dns:")).hostname
