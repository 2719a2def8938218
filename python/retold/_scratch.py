"""Temporary folders for what people said to models: only their owner may read them, and none stays.

A file beside each folder is locked as long as its process lives. The system releases the lock of a process that was killed,
and the next command of `retold` removes its folder.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import weakref
from types import TracebackType

try:
    import fcntl
except ImportError:  # On Windows, nobody removes the folder of a process that was killed.
    fcntl = None  # type: ignore[assignment]

#: The names that the program knows.
_PREFIX, _LOCK = "retold-scratch-", ".lock"


class ScratchFolder:
    """A folder that is removed by :meth:`cleanup`, or when its process ends."""

    def __init__(self) -> None:
        while True:
            handle, lock = tempfile.mkstemp(prefix=_PREFIX, suffix=_LOCK)
            if _lock(handle):
                break
            os.close(handle)
        self.name = lock.removesuffix(_LOCK)
        self._remove = weakref.finalize(self, _remove, self.name, lock, handle, os.getpid())
        os.mkdir(self.name, 0o700)

    def cleanup(self) -> None:
        """Removes the folder; more than once does no harm."""
        self._remove()

    def __enter__(self) -> str:
        return self.name

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.cleanup()


def _lock(handle: int) -> bool:
    """Whether a new file was locked before anybody took it for left."""
    if fcntl is None:
        return True
    fcntl.flock(handle, fcntl.LOCK_EX)
    return os.fstat(handle).st_nlink > 0


def _remove(folder: str, lock: str, handle: int, pid: int) -> None:
    # A process that was forked has the folder of its parent.
    if os.getpid() == pid:
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            os.unlink(lock)
    os.close(handle)
