"""Asks again what a cassette has, and reports how the answers differ (`pytest --retold=drift`). The cassette is left as it is.

`drift.py` compares requests, and asks nobody.
"""

from __future__ import annotations

import difflib
import os
import re
import shutil
from pathlib import Path
from types import TracebackType
from typing import Any

from ._cassette import Cassette
from ._errors import RetoldError, StartFailed
from ._run import Run
from ._scratch import ScratchFolder

#: How many lines of a difference are shown.
_LINES = 200


class DriftError(RetoldError, AssertionError):
    """The answers, or the requests, are not those of the cassette any more."""


#: What differs whenever the same is asked again: ids, times and costs are in the last line of each exchange.
_FLEETING = re.compile(r"^\s*(varying|layout): ")


def _lasting(text: str) -> list[str]:
    """The lines of a cassette without what always differs."""
    return [line for line in text.splitlines() if not _FLEETING.match(line)]


class Drift:
    """A block that asks, and compares with a cassette.

    If they differ, what was recorded now is put into ``pending``, a file, for `retold cassette review`.
    """

    def __init__(self, path: str | os.PathLike[str], *, pending: Path | None = None, **options: Any) -> None:
        self._path, self._pending = Path(path), pending
        if not self._path.exists():
            raise StartFailed(f"there is no cassette {self._path} to compare with: record it with `pytest --retold=once`")
        options.pop("unused", None)
        options.pop("allow_hosts", None)
        self._folder = ScratchFolder()
        self._now = Path(self._folder.name) / "now.yaml"
        self._cassette = Cassette(self._now, "all", **options)

    def __enter__(self) -> Run:
        return self._cassette.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._cassette.__exit__(kind, error, trace)
            if error is None:
                self._compare()
        finally:
            self._folder.cleanup()

    def _compare(self) -> None:
        before = _lasting(self._path.read_text(encoding="utf-8"))
        now = _lasting(self._now.read_text(encoding="utf-8")) if self._now.exists() else []
        lines = list(difflib.unified_diff(before, now, str(self._path), "asked now", lineterm=""))
        if self._pending is not None:
            # What an earlier run left is out of date.
            self._pending.unlink(missing_ok=True)
        if lines:
            review = ""
            if self._pending is not None and self._now.exists():
                self._pending.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(self._now, self._pending)
                review = "\n`retold cassette review` shows all that differs, and accepts it"
            shown = "\n".join(lines[:_LINES])
            more = f"\n.. and {len(lines) - _LINES} more lines" if len(lines) > _LINES else ""
            raise DriftError(f"what was asked or answered now is not what {self._path} has:\n{shown}{more}{review}")
