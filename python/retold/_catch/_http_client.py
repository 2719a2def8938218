"""http.client, under `urllib.request` and others: all but urllib3, whose pools catch requests before.

A request is sent to the child process over a connection of its own, which ends with the answer.
"""

from __future__ import annotations

import socket
from types import ModuleType
from typing import Any
from urllib.parse import urlsplit

from .._session import ANSWER, active
from ._tls import check_certificate, check_context

#: The attribute of a connection that leads to the child process: the headers that it has set.
_SET = "_retold_set"


def patch(client: ModuleType) -> None:
    """Patches what begins a request, sets its headers, and reads the answer."""
    plain = client.HTTPConnection
    begin, put, read = plain.putrequest, plain.putheader, plain.getresponse

    def putrequest(self: Any, method: str, url: str, skip_host: bool = False, skip_accept_encoding: bool = False) -> None:
        session, parts = active(), urlsplit(url)
        self.__dict__.pop(_SET, None)
        # For a proxy, the URL is whole, or the connection is a tunnel.
        host = parts.hostname or self._tunnel_host or self.host
        port = parts.port if parts.hostname else self._tunnel_port if self._tunnel_host else self.port
        scheme = parts.scheme or ("https" if isinstance(self, client.HTTPSConnection) else "http")
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "") if parts.hostname else url
        if (
            session is None
            # Whoever changes requests gets their bodies first, which come later here.
            or session.rewrite is not None
            or session.is_own(host, port)
            or not session.takes(method, scheme, host, port, path)
        ):
            begin(self, method, url, skip_host, skip_accept_encoding)
            return
        if scheme == "https":
            check_context(getattr(self, "_context", None), host)
            check_certificate(getattr(self, "cert_file", None), host)
        # What is open leads to the server itself.
        self.close()
        self.sock = socket.create_connection((session.host, session.port), self.timeout)
        begin(self, method, path, True, skip_accept_encoding)
        told = [*session.headers(scheme, host, port), ("Connection", "close")]
        for name, value in told:
            put(self, name, value)
        setattr(self, _SET, {name.lower() for name, _ in told})

    def putheader(self: Any, header: Any, *values: Any) -> None:
        name = header.decode("latin-1") if isinstance(header, bytes) else str(header)
        if name.lower() not in getattr(self, _SET, ()):
            put(self, header, *values)

    def getresponse(self: Any, *args: Any, **kwargs: Any) -> Any:
        response, session = read(self, *args, **kwargs), active()
        if session is not None and hasattr(self, _SET):
            session.note_answer(response.getheader(ANSWER))
        return response

    plain.putrequest, plain.putheader, plain.getresponse = putrequest, putheader, getresponse
