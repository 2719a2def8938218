"""A line in a notebook that says how many requests a block has made so far."""

from __future__ import annotations

import sys
import threading
import time
import uuid
from typing import Any

#: The least time between two updates, in seconds.
_PAUSE = 0.2


class ProgressLine:
    """A line below the cell, which appears with the first request."""

    def __init__(self, display: Any, run: str) -> None:
        self._display, self._run, self._id = display, run, uuid.uuid4().hex
        self._lock = threading.Lock()
        self._requests, self._shown = 0, float("-inf")

    def add(self) -> None:
        """Counts a request."""
        with self._lock:
            self._requests += 1
            now = time.monotonic()
            if now - self._shown < _PAUSE:
                return
            is_first, self._shown = self._requests == 1, now
            self._show(is_first, f"{self._requests} so far")

    def end(self, summary: dict[str, Any]) -> None:
        """Shows what came of them."""
        with self._lock:
            if self._requests:
                recorded, replayed = summary["recorded"], summary["replayed"]
                self._show(False, f"{summary['requests']}, {recorded} recorded and {replayed} replayed")

    def _show(self, is_first: bool, requests: str) -> None:
        text = {"text/plain": f"retold: run {self._run[:8]}, requests: {requests}"}
        show = self._display.display if is_first else self._display.update_display
        show(text, raw=True, display_id=self._id)


def progress_line(run: str) -> ProgressLine | None:
    """The line of a run's block; `None` outside of notebooks."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    # A shell in a terminal has no kernel.
    if getattr(shell, "kernel", None) is None:
        return None
    return ProgressLine(sys.modules["IPython.display"], run)
