"""Threads and executors that are started inside a call are inside it, too."""

from __future__ import annotations

import concurrent.futures
import contextvars
import threading
from collections.abc import Callable
from typing import Any

from .._context import current_call


def patch() -> None:
    """Patches `Thread.start` and `ThreadPoolExecutor.submit`."""
    start = threading.Thread.start
    submit = concurrent.futures.ThreadPoolExecutor.submit

    def start_inside(self: threading.Thread) -> None:
        if current_call() is not None:
            context, run = contextvars.copy_context(), self.run
            self.run = lambda: context.run(run)  # type: ignore[method-assign]
        start(self)

    def submit_inside(self: Any, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        if current_call() is None:
            return submit(self, fn, *args, **kwargs)
        return submit(self, contextvars.copy_context().run, fn, *args, **kwargs)

    threading.Thread.start = start_inside  # type: ignore[method-assign]
    concurrent.futures.ThreadPoolExecutor.submit = submit_inside  # type: ignore[method-assign]
