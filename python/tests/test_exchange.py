"""The way to the child process, against servers that are slow, break off, or are gone."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from retold._exchange import BrokenOff, Connections

HEAD = b"HTTP/1.1 200 OK\r\n"


@pytest.fixture
def server() -> Iterator[Callable[..., Connections]]:
    """Makes a server that sends these pieces, one for each request; those of one connection are in one list."""
    listening = socket.create_server(("127.0.0.1", 0))
    silent = threading.Event()

    def serve(connections: list[list[bytes]]) -> None:
        for pieces in connections:
            peer, _ = listening.accept()
            with peer:
                for piece in pieces:
                    request = b""
                    while b"\r\n\r\n" not in request:
                        request += peer.recv(65536)
                    peer.sendall(piece)
                if pieces and pieces[-1].endswith(b".."):
                    silent.wait(10)

    def started(*connections: list[bytes]) -> Connections:
        threading.Thread(target=serve, args=(list(connections),), daemon=True).start()
        return Connections(*listening.getsockname())

    yield started
    silent.set()
    listening.close()


def ask(connections: Connections, method: bytes = b"GET", timeout: float = 10) -> tuple[int, list[bytes]]:
    answer = connections.ask(method, b"/", [(b"Host", b"x")], b"", timeout)
    return answer.status, list(answer)


def test_one_connection_serves_requests_one_after_the_other(server):
    chunks = HEAD + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nx-trailer: 1\r\n\r\n"
    empty = b"HTTP/1.1 204 No Content\r\n\r\n"
    head = HEAD + b"content-length: 5\r\n\r\n"
    connections = server([head + b"hello", chunks, empty, head, head + b"again"])
    assert ask(connections) == (200, [b"hello"])
    assert ask(connections) == (200, [b"abc", b"de"])
    assert ask(connections) == (204, [])
    assert ask(connections, b"HEAD") == (200, [])
    assert ask(connections) == (200, [b"again"])


def test_a_connection_that_was_closed_meanwhile_is_replaced(server):
    hello = HEAD + b"content-length: 5\r\n\r\nhello"
    connections = server([hello], [hello], [HEAD + b"connection: close\r\ncontent-length: 1\r\n\r\nx"], [hello])
    assert ask(connections) == (200, [b"hello"])
    assert ask(connections) == (200, [b"hello"])
    assert ask(connections) == (200, [b"x"])
    assert ask(connections) == (200, [b"hello"])


@pytest.mark.parametrize("begun", [b"content-length: 9\r\n\r\nhel", b"transfer-encoding: chunked\r\n\r\n9\r\nhel"])
def test_an_answer_that_breaks_off(server, begun):
    connections = server([HEAD + begun])
    with pytest.raises(BrokenOff, match="without sending complete message body"):
        ask(connections)


def test_an_answer_that_does_not_come(server):
    for begun in (HEAD + b"content-length: 9\r\n\r\n..", HEAD + b".."):
        with pytest.raises(TimeoutError):
            ask(server([begun]), timeout=0.1)


def test_an_answer_that_is_given_up_leaves_no_connection_to_be_used_again(server):
    hello = HEAD + b"content-length: 5\r\n\r\nhello"
    connections = server([hello], [hello])
    connections.ask(b"GET", b"/", [], b"", 10).close()
    assert ask(connections) == (200, [b"hello"])


def test_nobody_listens():
    with socket.create_server(("127.0.0.1", 0)) as unused:
        address = unused.getsockname()
    with pytest.raises(ConnectionRefusedError):
        ask(Connections(*address))
