"""Cassettes: the exchanges of a test as text, beside the test."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from ._block import Block
from ._errors import RetoldError, StartFailed
from ._program import program
from ._run import Run

#: What is done with a cassette: replayed strictly; recorded if there is none; replayed, and what is new is recorded;
#: recorded anew.
MODES = ("none", "once", "new", "all")


class Cassette:
    """A block whose exchanges are in a text file.

    With ``mode="none"``, the default, they are replayed strictly. ``once`` records if the file is missing, ``new``
    replays and adds what is new, ``all`` records everything again. The file is written at the end of the block, whole
    or not at all, and only if the block ended without an error.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        mode: str = "none",
        *,
        hosts: Sequence[str] = (),
        exclude: Sequence[str] = (),
        allow_hosts: Sequence[str] = (),
        ignore: Sequence[str] = (),
        replace: Sequence[tuple[str, str]] = (),
        unused: str = "error",
    ) -> None:
        if mode not in MODES:
            raise ValueError(f"mode is one of {', '.join(MODES)}, not {mode!r}")
        self.path, self.mode = Path(path), mode
        self._hosts: dict[str, Any] = {"hosts": hosts, "exclude": exclude}
        self._allow_hosts, self._unused = allow_hosts, unused
        self._rules = [word for field in ignore for word in ("--ignore", field)]
        self._rules += [word for regex, text in replace for word in ("--replace", f"{regex}={text}")]
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._block: Block | None = None

    def __enter__(self) -> Run:
        exists = self.path.exists()
        if self.mode == "none" or (self.mode == "once" and exists):
            if not exists:
                raise StartFailed(
                    f"there is no cassette {self.path}: record it once, with `pytest --retold=once` or mode=\"once\""
                )
            return self._begin(
                Block(
                    ["replay", str(self.path)],
                    offline=True,
                    allow_hosts=self._allow_hosts,
                    unused=self._unused,
                    **self._hosts,
                )
            )
        self._folder = tempfile.TemporaryDirectory(prefix="retold-")
        log = ["--log", os.path.join(self._folder.name, "log.db")]
        if self.mode == "new" and exists:
            _run([*log, "import", str(self.path)])
            return self._begin(Block([*log, "fork", "latest"], offline=False, **self._hosts))
        return self._begin(Block([*log, "record", *self._rules], offline=False, **self._hosts))

    def _begin(self, block: Block) -> Run:
        self._block = block
        try:
            return block.__enter__()
        except BaseException:
            self._clean()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        block = self._block
        assert block is not None
        try:
            block.__exit__(kind, error, trace)
            if self._folder is not None and error is None and block.requests:
                self._write(os.path.join(self._folder.name, "log.db"))
        finally:
            self._clean()

    async def __aenter__(self) -> Run:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)

    def _write(self, log: str) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        _run(["--log", log, "export", "latest", str(self.path), "--as", "cassette", "--force"])

    def _clean(self) -> None:
        self._block = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


def _run(arguments: Sequence[str]) -> None:
    done = subprocess.run([program(), *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise RetoldError(done.stderr.strip().removeprefix("error: "))
