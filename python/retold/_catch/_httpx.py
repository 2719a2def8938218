"""httpx, and httpx2, which continues it: what `openai`, `anthropic`, `google-genai` and many others use."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from .._asked import SIZES, Asked
from .._exchange import Exchange
from .._session import ANSWER, Session, active
from ._seats import Seats, seats_of, within_room
from ._tls import check_context, check_proxy

#: The attribute of a transport with its own connections to the child process.
_TWIN = "_retold_twin"

#: A request goes to the child process whole.
_SIZES = tuple(name.encode() for name in SIZES)


def patch(httpx: ModuleType) -> None:
    """Patches the two transports that open connections."""

    def limits(transport: Any) -> Any:
        """As many connections to the child process as the transport may have to a server."""
        pool = transport._pool
        # One connection of HTTP/2 takes many requests, and one to the child process takes one.
        most = None if pool._http2 else pool._max_connections
        return httpx.Limits(
            max_connections=within_room(most),
            max_keepalive_connections=pool._max_keepalive_connections,
            keepalive_expiry=pool._keepalive_expiry,
        )

    async def async_twin(session: Session, transport: Any) -> Any:
        """A transport that belongs to this process, to an event loop and to this session."""
        key, (of, made) = (os.getpid(), _loop(), session.port), getattr(transport, _TWIN, (None, None))
        if of != key:
            # What belongs to a loop that has ended cannot be closed any more.
            if of is not None and of[:2] == key[:2]:
                await aclose(made)
            made = httpx.AsyncHTTPTransport(trust_env=False, limits=limits(transport))
            setattr(transport, _TWIN, (key, made))
        return made

    def rewritten(session: Session, request: Any) -> Any:
        """The request that is sent instead of this one, whose body was read; `None` if it goes past retold."""
        asked = Asked(request.method, str(request.url), dict(request.headers.items()), request.content)
        now = session.rewritten(asked)
        if now is None or now is asked:
            return now and request
        headers = {name: value for name, value in now.headers.items() if name.lower() not in SIZES}
        return httpx.Request(now.method, now.url, headers=headers, content=now.body, extensions=request.extensions)

    def head(session: Session, request: Any, transport: Any) -> list[tuple[bytes, bytes]]:
        """The headers of the request as the child process gets it."""
        url = request.url
        check_proxy(session, getattr(getattr(transport, "_pool", None), "_proxy_url", None), url.host)
        if url.scheme == "https":
            check_context(getattr(getattr(transport, "_pool", None), "_ssl_context", None), url.host)
        told = [(name.encode(), value.encode("latin-1")) for name, value in session.headers(url.scheme, url.host, url.port)]
        names = {name.lower() for name, _ in told}
        return told + [(name, value) for name, value in request.headers.raw if name.lower() not in names]

    def sent(session: Session, request: Any, transport: Any) -> Any:
        """The request as the child process gets it."""
        return httpx.Request(
            request.method,
            request.url.copy_with(scheme="http", host=session.host, port=session.port),
            headers=head(session, request, transport),
            stream=request.stream,
            extensions=request.extensions,
        )

    class Body(httpx.SyncByteStream):  # type: ignore[misc, name-defined]
        """The body of an answer, as it comes."""

        def __init__(self, exchange: Exchange, seats: Seats) -> None:
            self._exchange, self._seats, self._is_open = exchange, seats, True

        def __iter__(self) -> Iterator[bytes]:
            with as_errors_of_httpx(httpx.RemoteProtocolError):
                yield from self._exchange

        def close(self) -> None:
            self._exchange.close()
            if self._is_open:
                self._is_open = False
                self._seats.leave()

    @contextlib.contextmanager
    def as_errors_of_httpx(otherwise: type[Exception]) -> Iterator[None]:
        try:
            yield
        except TimeoutError as error:
            raise httpx.ReadTimeout("timed out") from error
        except OSError as error:
            raise otherwise(str(error)) from error

    def asked(session: Session, request: Any, transport: Any) -> Any:
        """The answer of the child process."""
        headers = [header for header in head(session, request, transport) if header[0].lower() not in _SIZES]
        body, patience = b"".join(request.stream), request.extensions.get("timeout", {})
        seats = seats_of(transport, limits)
        if not seats.take(patience.get("pool")):
            raise httpx.PoolTimeout("no connection of the pool became free")
        try:
            with as_errors_of_httpx(httpx.ConnectError):
                exchange = session.connections.ask(
                    request.method.encode(), request.url.raw_path, headers, body, patience.get("read")
                )
        except BaseException:
            seats.leave()
            raise
        extensions = {"http_version": b"HTTP/1.1", "reason_phrase": exchange.reason}
        return httpx.Response(exchange.status, headers=exchange.headers, stream=Body(exchange, seats), extensions=extensions)

    def taken(session: Session, request: Any) -> bool:
        url = request.url
        if session.is_own(url.host, url.port):
            return False
        if not session.takes(request.method, url.scheme, url.host, url.port, url.path):
            session.check(url.host)
            return False
        return True

    handle, handle_async = httpx.HTTPTransport.handle_request, httpx.AsyncHTTPTransport.handle_async_request
    aclose = httpx.AsyncHTTPTransport.aclose

    def handle_request(self: Any, request: Any) -> Any:
        session = active()
        if session is None or not taken(session, request):
            return handle(self, request)
        now = request
        if session.rewrite is not None:
            request.read()
            now = rewritten(session, request)
        if now is None:
            return handle(self, request)
        response = asked(session, now, self)
        session.note_answer(response.headers.get(ANSWER))
        return response

    async def handle_async_request(self: Any, request: Any) -> Any:
        session = active()
        if session is None or not taken(session, request):
            return await handle_async(self, request)
        now = request
        if session.rewrite is not None:
            await request.aread()
            now = rewritten(session, request)
        if now is None:
            return await handle_async(self, request)
        response = await handle_async(await async_twin(session, self), sent(session, now, self))
        session.note_answer(response.headers.get(ANSWER))
        return response

    async def aclose_both(self: Any) -> None:
        of, made = self.__dict__.pop(_TWIN, (None, None))
        if of is not None and of[:2] == (os.getpid(), _loop()):
            await aclose(made)
        await aclose(self)

    httpx.HTTPTransport.handle_request = handle_request
    httpx.AsyncHTTPTransport.handle_async_request = handle_async_request
    httpx.AsyncHTTPTransport.aclose = aclose_both


def _loop() -> object:
    """The event loop of this code; `None` where there is none of asyncio, as under trio."""
    # Not imported for those who do not use it.
    asyncio = sys.modules.get("asyncio")
    if asyncio is None:
        return None
    try:
        loop: object = asyncio.get_running_loop()
    except RuntimeError:
        return None
    return loop
