"""Exchanges with the child process, for code that waits for them: reports, and requests of clients that are not async.

Both ends are ours, and on this machine, so little of HTTP/1.1 is needed: a request goes out whole, in one piece, and an
answer has a length or chunks. A general client takes as long for its part as the SDK does for its own.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Iterator
from io import BufferedReader
from typing import cast

Headers = Iterable[tuple[bytes, bytes]]

#: Answers without a body, whatever their headers say.
_WITHOUT_BODY = (204, 304)

#: As many as an SDK keeps itself; each is an open file.
_MOST_IDLE = 100

#: The most that is read at once.
_PIECE = 65536


class BrokenOff(ConnectionError):
    """The connection ended before the answer did."""


class Connections:
    """Connections to the child process; idle ones are used again."""

    def __init__(self, host: str, port: int) -> None:
        self._address = (host, port)
        self._idle: list[_Connection] = []
        self._pid = os.getpid()

    def ask(
        self, method: bytes, target: bytes, headers: Headers, body: bytes, timeout: float | None
    ) -> Exchange:
        """Sends a request, and reads the head of its answer.

        Raises ``TimeoutError`` if nothing comes for ``timeout`` seconds, and another ``OSError`` if the connection fails.
        """
        head = [b"%b %b HTTP/1.1\r\n" % (method, target)]
        head += [b"%b: %b\r\n" % header for header in headers]
        head.append(b"Content-Length: %d\r\n\r\n" % len(body))
        request = b"".join([*head, body])
        while True:
            connection, is_new = self._connection()
            try:
                return Exchange(self, connection, method, request, timeout)
            except TimeoutError:
                connection.close()
                raise
            except OSError:
                connection.close()
                # One that was idle may have been closed meanwhile.
                if is_new:
                    raise

    def _connection(self) -> tuple[_Connection, bool]:
        if self._pid != os.getpid():
            # Those of the parent of a forked process are not ours.
            self._idle, self._pid = [], os.getpid()
        try:
            return self._idle.pop(), False
        except IndexError:
            return _Connection(self._address), True

    def put_back(self, connection: _Connection) -> None:
        """Keeps a connection for the next request, unless there are many."""
        if len(self._idle) < _MOST_IDLE:
            self._idle.append(connection)
        else:
            connection.close()

    def close(self) -> None:
        """Closes the idle connections."""
        while self._idle:
            self._idle.pop().close()


class _Connection:
    def __init__(self, address: tuple[str, int]) -> None:
        self.socket = socket.create_connection(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.reader = cast(BufferedReader, self.socket.makefile("rb", _PIECE))

    def close(self) -> None:
        self.reader.close()
        self.socket.close()


class Exchange:
    """An answer: its status and headers, and its body piece by piece."""

    def __init__(
        self, home: Connections, connection: _Connection, method: bytes, request: bytes, timeout: float | None
    ) -> None:
        connection.socket.settimeout(timeout)
        connection.socket.sendall(request)
        self._home, self._connection, reader = home, connection, connection.reader
        version, _, rest = self._line(reader).partition(b" ")
        if not version.startswith(b"HTTP/1."):
            raise BrokenOff("this is not HTTP")
        status, _, self.reason = rest.partition(b" ")
        self.status = int(status)
        self.headers: list[tuple[bytes, bytes]] = []
        #: How much of the body is to come; `None` if it has chunks.
        self._left: int | None = 0
        is_kept, is_whole = True, method == b"HEAD" or self.status in _WITHOUT_BODY
        while line := self._line(reader):
            name, _, value = line.partition(b":")
            value = value.strip()
            self.headers.append((name, value))
            lower = name.lower()
            if lower == b"content-length" and not is_whole:
                self._left = int(value)
            elif lower == b"transfer-encoding" and not is_whole:
                self._left = None
            elif lower == b"connection":
                is_kept = value.lower() != b"close"
        self._is_kept, self._is_open = is_kept, True

    @staticmethod
    def _line(reader: BufferedReader) -> bytes:
        line = reader.readline()
        if not line.endswith(b"\r\n"):
            raise BrokenOff("peer closed connection without sending complete message body")
        return line[:-2]

    def __iter__(self) -> Iterator[bytes]:
        reader = self._connection.reader
        if self._left is not None:
            while self._left:
                piece = reader.read1(min(self._left, _PIECE))
                if not piece:
                    raise BrokenOff("peer closed connection without sending complete message body")
                self._left -= len(piece)
                yield piece
        else:
            while size := int(self._line(reader).partition(b";")[0], 16):
                piece = reader.read(size + 2)
                if len(piece) < size + 2:
                    raise BrokenOff(
                        "peer closed connection without sending complete message body (incomplete chunked read)"
                    )
                yield piece[:-2]
            while self._line(reader):
                pass
            self._left = 0
        self._end()

    def _end(self) -> None:
        if self._is_open:
            self._is_open = False
            if self._is_kept:
                self._home.put_back(self._connection)
            else:
                self._connection.close()

    def close(self) -> None:
        """Ends the exchange; what has not been read of the answer is given up."""
        if self._is_open:
            self._is_open = False
            self._connection.close()
