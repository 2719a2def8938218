"""httpcore, and httpcore2, for those who use it without httpx: its pools send requests to the child process."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from .._errors import BlockError
from .._session import ANSWER, Session, active
from ._tls import check_context


def patch(httpcore: ModuleType) -> None:
    """Patches the two pools. The connections to the child process are theirs, so that their limits hold."""

    def redirected(pool: Any, session: Session, request: Any) -> Any:
        """The request as the child process gets it; itself if that is none of its own."""
        url = request.url
        scheme, host, target = url.scheme.decode(), url.host.decode(), url.target.decode("latin-1")
        method = request.method.decode()
        if session.is_own(host, url.port) or session.rewrite is not None:
            return request
        if not session.takes(method, scheme, host, url.port, target):
            session.check(host)
            return request
        if isinstance(pool, (httpcore.HTTPProxy, httpcore.AsyncHTTPProxy)):
            raise BlockError(
                f"retold: the pool of httpcore that asks {host} has a proxy, through which retold is not reached: take the "
                "host out with exclude="
            )
        if scheme == "https":
            check_context(getattr(pool, "_ssl_context", None), host)
        told = [(name.encode(), value.encode("latin-1")) for name, value in session.headers(scheme, host, url.port)]
        names = {name.lower() for name, _ in told}
        return httpcore.Request(
            request.method,
            httpcore.URL(scheme=b"http", host=session.host.encode(), port=session.port, target=url.target),
            headers=told + [(name, value) for name, value in request.headers if name.lower() not in names],
            content=request.stream,
            extensions=request.extensions,
        )

    handle, handle_async = httpcore.ConnectionPool.handle_request, httpcore.AsyncConnectionPool.handle_async_request

    def handle_request(self: Any, request: Any) -> Any:
        session = active()
        now = request if session is None else redirected(self, session, request)
        response = handle(self, now)
        if session is not None and now is not request:
            session.note_answer(_answer(response))
        return response

    async def handle_async_request(self: Any, request: Any) -> Any:
        session = active()
        now = request if session is None else redirected(self, session, request)
        response = await handle_async(self, now)
        if session is not None and now is not request:
            session.note_answer(_answer(response))
        return response

    httpcore.ConnectionPool.handle_request = handle_request
    httpcore.AsyncConnectionPool.handle_async_request = handle_async_request


def _answer(response: Any) -> str | None:
    found = (value for name, value in response.headers if name.lower() == ANSWER.lower().encode())
    return next((value.decode("latin-1") for value in found), None)
