"""A request before it is sent, and what may be made of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlsplit

#: Headers that say how long a body is: another body has others.
SIZES = ("content-length", "transfer-encoding")


@dataclass(frozen=True)
class Asked:
    """A request as an HTTP library has it, before it is sent."""

    method: str
    url: str
    headers: dict[str, str]
    #: `None` if the library has no body; some have an empty one.
    body: bytes | None

    @property
    def place(self) -> str:
        """Method and URL without what may be a key: the query, and a user with a password."""
        parts = urlsplit(self.url)
        return f"{self.method} {parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


#: Gets a request, and whether it is replayed. Returns the request that the child process gets instead, or `None` if this
#: one goes past retold.
Rewrite = Callable[[Asked, bool], Asked | None]
