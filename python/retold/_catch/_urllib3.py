"""urllib3: under `requests` and `botocore`."""

from __future__ import annotations

import os
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from .._asked import SIZES, Asked
from .._hosts import origin
from .._session import ANSWER, active
from ._seats import within_room
from ._tls import check_certificate, check_context, check_proxy

#: The attribute of a pool with its own connections to the child process.
_TWIN = "_retold_twin"


def patch(urllib3: ModuleType) -> None:
    """Patches what all pools of connections send their requests with."""
    pools = urllib3.connectionpool
    send = pools.HTTPConnectionPool.urlopen

    def twin(pool: Any, host: str, port: int) -> Any:
        made = getattr(pool, _TWIN, None)
        if made is None or made[0] != (os.getpid(), port):
            # Its limits are those of the pool.
            most = within_room(getattr(pool.pool, "maxsize", 1))
            own = pools.HTTPConnectionPool(
                host, port, timeout=pool.timeout, maxsize=most, block=pool.block, retries=pool.retries
            )
            made = ((os.getpid(), port), own)
            setattr(pool, _TWIN, made)
        return made[1]

    def urlopen(
        self: Any, method: str, url: str, body: Any = None, headers: Any = None, *args: Any, **kwargs: Any
    ) -> Any:
        session = active()
        # For a proxy, the URL is whole.
        parts = urlsplit(url)
        host, port = parts.hostname or self.host, parts.port if parts.hostname else self.port
        scheme = parts.scheme or self.scheme
        if session is None or session.is_own(host, port):
            return send(self, method, url, body, headers, *args, **kwargs)
        path = url if not parts.hostname else (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        if not session.takes(method, scheme, host, port, path):
            session.check(host)
            return send(self, method, url, body, headers, *args, **kwargs)
        given = dict(self.headers if headers is None else headers)
        if session.rewrite is not None:
            body = _read(body)
            asked = Asked(method, origin(scheme, host, port) + path, given, body)
            now = session.rewritten(asked)
            if now is None:
                return send(self, method, url, body, headers, *args, **kwargs)
            if now is not asked:
                method, body, parts = now.method, now.body, urlsplit(now.url)
                scheme, host, port = parts.scheme, parts.hostname or host, parts.port
                path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
                given = {name: value for name, value in now.headers.items() if name.lower() not in SIZES}
        check_proxy(session, getattr(self, "proxy", None), host)
        if scheme == "https":
            if getattr(self, "cert_reqs", None) in ("CERT_NONE", 0):
                check_context(False, host)
            check_certificate(getattr(self, "cert_file", None), host)
        told = session.headers(scheme, host, port)
        names = {name.lower() for name, _ in told}
        kept = [(name, value) for name, value in given.items() if name.lower() not in names]
        own = twin(self, session.host, session.port)
        response = send(own, method, path, body, dict(told + kept), *args, **kwargs)
        session.note_answer(response.headers.get(ANSWER))
        return response

    pools.HTTPConnectionPool.urlopen = urlopen


def _read(body: Any) -> bytes | None:
    """The whole of a body, which may be a file or come in parts."""
    if body is None or isinstance(body, bytes):
        return body
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, (bytearray, memoryview)):
        return bytes(body)
    parts = [body.read()] if hasattr(body, "read") else body
    return b"".join(part.encode() if isinstance(part, str) else bytes(part) for part in parts)
