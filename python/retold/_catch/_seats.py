"""How many requests are under way at once: as many as the limit of a client says, and as the child process serves."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

#: The attribute of a transport with its seats.
_SEATS = "_retold_seats"

#: Connections that the child process serves at once if it may open enough files, two for each and 96 besides, and the fewest.
_MOST, _FEWEST = 1024, 4

#: Places that are left to reports, and to child processes.
_SPARE = 16

_making = threading.Lock()


def within_room(most: int | None) -> int:
    """A limit, or what the child process serves at once: it closes idle connections, which others would use again, for more."""
    try:
        import resource
    except ImportError:  # On Windows, there is no limit on open files.
        room = _MOST
    else:
        _, files = resource.getrlimit(resource.RLIMIT_NOFILE)
        room = _MOST if files == resource.RLIM_INFINITY else min(_MOST, (files - 96) // 2)
    room = max(_FEWEST, room - _SPARE)
    return room if most is None else min(most, room)


class Seats:
    """As many requests as a transport may have under way."""

    def __init__(self, most: int) -> None:
        self._free = threading.BoundedSemaphore(most)
        self._pid = os.getpid()

    def take(self, patience: float | None) -> bool:
        """Waits for a seat, for so many seconds at most."""
        return self._free.acquire(timeout=patience)

    def leave(self) -> None:
        """Frees a seat that was taken, unless it was that of a parent process."""
        if self._pid == os.getpid():
            self._free.release()

    @property
    def is_ours(self) -> bool:
        """Whether they were made in this process; those of a parent may be taken for ever."""
        return self._pid == os.getpid()


def seats_of(transport: Any, limits: Callable[[Any], Any]) -> Seats:
    """The seats of a transport, which are made once."""
    found: Seats | None = getattr(transport, _SEATS, None)
    if found is None or not found.is_ours:
        with _making:
            found = getattr(transport, _SEATS, None)
            if found is None or not found.is_ours:
                found = Seats(limits(transport).max_connections)
                setattr(transport, _SEATS, found)
    return found
