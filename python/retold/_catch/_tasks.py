"""Tasks of pools of processes: each brings its block, so that it does not matter when the pool was made."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType
from typing import Any

from .._context import Call, current_call
from .._session import Session, active
from ._children import join


def patch_executor(process: ModuleType) -> None:
    """Patches an executor as `concurrent.futures` has it."""
    _patch(process.ProcessPoolExecutor, "submit")


def patch_pool(pool: ModuleType) -> None:
    """Patches a pool as `multiprocessing` has it; pools of threads are subclasses."""
    for name in ("apply_async", "_map_async", "imap", "imap_unordered"):
        _patch(pool.Pool, name)


def _patch(cls: Any, name: str) -> None:
    begin = getattr(cls, name)

    @functools.wraps(begin)
    def begin_inside(self: Any, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        session = active()
        if session is None or not session.reaches_children:
            return begin(self, function, *args, **kwargs)
        call = current_call()
        named = None if call is None else (call.name, call.labels)
        return begin(self, _Task(session, named, function), *args, **kwargs)

    setattr(cls, name, begin_inside)


class _Task:
    """A function that runs inside the block, and the call, in which it was handed to a pool."""

    def __init__(self, session: Session, call: tuple[str, dict[str, str]] | None, function: Callable[..., Any]) -> None:
        self._session, self._call, self._function = session, call, function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        session = active()
        if session is None or session.folder != self._session.folder:
            join(self._session)
        if self._call is None:
            return self._function(*args, **kwargs)
        name, labels = self._call
        with Call(name, labels):
            return self._function(*args, **kwargs)
