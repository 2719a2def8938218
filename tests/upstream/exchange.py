"""What dialects get and return: a request, and a whole answer, a stream or a refusal."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Request:
    method: str
    path: str
    query: dict[str, list[str]]
    headers: Mapping[str, str]
    """Names in lower case."""
    raw: bytes
    number: int
    """Counts the requests of this server; every answer has it somewhere."""

    def __post_init__(self) -> None:
        try:
            self.body: Any = json.loads(self.raw) if self.raw else None
        except ValueError:
            self.body = None
        self.text = "\n".join(texts(self.body)) if self.body is not None else self.raw.decode("utf-8", "replace")


@dataclass
class Whole:
    """An answer that is sent at once. A body that is not bytes is sent as JSON."""

    body: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "application/json"

    def bytes(self) -> bytes:
        return self.body if isinstance(self.body, bytes) else written(self.body).encode()


@dataclass
class Stream:
    """An answer in events. The dialect says what a comment and an error in the midst of its streams look like."""

    events: list[bytes]
    error: bytes
    content_type: str = "text/event-stream"
    comment: bytes = b""


def written(value: Any) -> str:
    """JSON with its letters as they are, as the APIs send it: a cut can come inside a letter."""
    return json.dumps(value, ensure_ascii=False)


class Refused(Exception):
    """The API does not accept the request, and says so with this answer."""

    def __init__(self, answer: Whole) -> None:
        super().__init__(answer.body)
        self.answer = answer


def server_sent(data: Any, event: str | None = None) -> bytes:
    """An event of a stream of server-sent events (the HTML standard, section 9.2)."""
    named = f"event: {event}\n" if event else ""
    return f"{named}data: {data if isinstance(data, str) else written(data)}\n\n".encode()


COMMENT = b": keep-alive\n\n"
"""A line that begins with a colon is to be ignored (the same section)."""


def texts(value: Any) -> Iterator[str]:
    """What people wrote in a request: all strings, except those in declarations of tools and forms of answers."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            if key not in ("tools", "toolConfig", "response_format", "text_format"):
                yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)
