"""aiohttp, which reads no proxy variables unless it is told to."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from .._asked import Asked
from .._errors import BlockError
from .._session import ANSWER, TOKEN, Session, active
from ._tls import check_context, check_proxy


def patch(aiohttp: ModuleType) -> None:
    """Patches the connector that opens TCP connections, and the answers, which name themselves."""
    from yarl import URL

    connect = aiohttp.TCPConnector.connect

    async def rewrite(session: Session, req: Any) -> bool:
        """Changes a request into the one that is sent instead; false if it goes past retold."""
        asked = Asked(req.method, str(req.url), dict(req.headers), await _read(req.body))
        now = session.rewritten(asked)
        if now is not None and now is not asked:
            req.method, req.url = now.method, URL(now.url, encoded=True)
            for name in set(req.headers) - set(now.headers):
                del req.headers[name]
            req.headers.update(now.headers)
            await req.update_body(now.body)
        return now is not None

    async def connect_here(self: Any, req: Any, *args: Any, **kwargs: Any) -> Any:
        session, url = active(), req.url
        host = url.host or ""
        if session is None or session.is_own(host, url.port):
            return await connect(self, req, *args, **kwargs)
        if not session.takes(req.method, url.scheme, host, url.port, url.path):
            session.check(host)
            return await connect(self, req, *args, **kwargs)
        if session.rewrite is not None:
            if not await rewrite(session, req):
                return await connect(self, req, *args, **kwargs)
            url, host = req.url, req.url.host or ""
        if url.scheme == "https":
            check_context(getattr(req, "ssl", None), host)
        for name, value in session.headers(url.scheme, host, url.port):
            req.headers[name] = value.encode("latin-1").decode()
        check_proxy(session, req.proxy, host)
        proxy, req.proxy = req.proxy, None
        # By them connections are told apart: each server keeps a limit of its own. Nothing is sent to a proxy.
        headers, req.proxy_headers = req.proxy_headers, {"server": f"{url.scheme}://{url.authority}"}
        # Only for the connection: the program sees its own address in the answer and in errors.
        req.url = URL.build(scheme="http", host=session.host, port=session.port, path="/")
        try:
            return await connect(self, req, *args, **kwargs)
        finally:
            req.url, req.proxy, req.proxy_headers = url, proxy, headers

    start = aiohttp.ClientResponse.start

    async def start_here(self: Any, *args: Any, **kwargs: Any) -> Any:
        response, session = await start(self, *args, **kwargs), active()
        # Not of a request that went past retold.
        if session is not None and TOKEN in self.request_info.headers:
            session.note_answer(self.headers.get(ANSWER))
        return response

    aiohttp.TCPConnector.connect = connect_here
    aiohttp.ClientResponse.start = start_here


async def _read(body: Any) -> bytes | None:
    """The whole of a body, which can still be sent."""
    if not body or isinstance(body, bytes):
        return body or None
    if not hasattr(body, "as_bytes"):
        raise BlockError("retold: functions of vcr_config get the body of a request of aiohttp 3.12 or later: upgrade it")
    whole: bytes = await body.as_bytes()
    return whole
