"""Clients of the official SDKs that are given the bytes of a stream in place of a server's answer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx2

#: The most bytes that an SDK is given at once.
PIECE = 61


class Given(httpx2.BaseTransport):
    """Answers every request with the stream that is set."""

    def __init__(self) -> None:
        self.body, self.breaks = b"", False

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        headers = {"content-type": "text/event-stream"}
        return httpx2.Response(200, headers=headers, content=self.pieces(), request=request)

    def pieces(self) -> Iterator[bytes]:
        for at in range(0, len(self.body), PIECE):
            yield self.body[at : at + PIECE]
        if self.breaks:
            raise httpx2.ReadError("broken")


GIVEN = Given()
CLIENT = httpx2.Client(transport=GIVEN)


def read(dialect: Any, body: bytes, breaks: bool = False) -> Any:
    GIVEN.body, GIVEN.breaks = body, breaks
    return dialect.read_by_sdk().tidy()
