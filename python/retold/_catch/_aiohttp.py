"""aiohttp, which reads no proxy variables unless it is told to."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from .._session import ANSWER, active
from ._tls import check_context


def patch(aiohttp: ModuleType) -> None:
    """Patches the connector that opens TCP connections, and the answers, which name themselves."""
    from yarl import URL

    connect = aiohttp.TCPConnector.connect

    async def connect_here(self: Any, req: Any, *args: Any, **kwargs: Any) -> Any:
        session, url = active(), req.url
        host = url.host or ""
        if session is None or session.is_own(host, url.port):
            return await connect(self, req, *args, **kwargs)
        if not session.takes(req.method, url.scheme, host, url.port, url.path):
            session.check(host)
            return await connect(self, req, *args, **kwargs)
        if url.scheme == "https":
            check_context(getattr(req, "ssl", None), host)
        for name, value in session.headers(url.scheme, host, url.port):
            req.headers[name] = value.encode("latin-1").decode()
        proxy, req.proxy = req.proxy, None
        # Only for the connection: the program sees its own address in the answer and in errors.
        req.url = URL.build(scheme="http", host=session.host, port=session.port, path="/")
        try:
            return await connect(self, req, *args, **kwargs)
        finally:
            req.url, req.proxy = url, proxy

    start = aiohttp.ClientResponse.start

    async def start_here(self: Any, *args: Any, **kwargs: Any) -> Any:
        response, session = await start(self, *args, **kwargs), active()
        if session is not None:
            session.note_answer(self.headers.get(ANSWER))
        return response

    aiohttp.TCPConnector.connect = connect_here
    aiohttp.ClientResponse.start = start_here
