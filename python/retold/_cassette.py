"""Cassettes: the exchanges of a test as text, beside the test."""

from __future__ import annotations

import os
import shutil
import subprocess
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from ._asked import Rewrite
from ._block import Block
from ._errors import BlockError, ReplayMismatch, RetoldError, UnusedAnswers
from ._hosts import Host
from ._program import program
from ._rules import Replacements, rules
from ._run import Run
from ._scratch import ScratchFolder

#: What is done with a cassette: replayed strictly; recorded if there is none; replayed, and what is new is recorded;
#: recorded anew.
MODES = ("none", "once", "new", "all")


class Cassette:
    """A block whose exchanges are in a text file.

    With ``mode="none"``, the default, they are replayed strictly. ``once`` records if the file is missing, ``new``
    replays and adds what is new, ``all`` records everything again. The file is written at the end of the block, whole
    or not at all, and only if the block ended without an error. Cassettes of vcrpy in ``also`` are read as well, and
    never written.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        mode: str = "none",
        *,
        hosts: Sequence[Host] = (),
        exclude: Sequence[Host] = (),
        allow_hosts: Sequence[Host] = (),
        ignore: Sequence[str] = (),
        replace: Replacements = (),
        unused: str = "error",
        also: Sequence[str | os.PathLike[str]] = (),
        _rewrite: Rewrite | None = None,
        _attempt: Path | None = None,
    ) -> None:
        if mode not in MODES:
            raise ValueError(f"mode is one of {', '.join(MODES)}, not {mode!r}")
        self.path, self.mode = Path(path), mode
        self._also = [Path(other) for other in also]
        self._options: dict[str, Any] = {"hosts": hosts, "exclude": exclude, "rewrite": _rewrite}
        self._allow_hosts, self._unused = allow_hosts, unused
        self._rules = rules(ignore, replace)
        #: Where a log is kept while the block is active.
        self._folder: ScratchFolder | None = None
        self._block: Block | None = None
        self._is_written = False
        #: Whether it has the answers of several tests.
        self.is_of_several = False
        #: Where the log of an attempt waits that came to no cassette.
        self._attempt = _attempt

    def __enter__(self) -> Run:
        files = self._files()
        if not self.records:
            options = {"allow_hosts": self._allow_hosts, "unused": self._unused, **self._options}
            if len(files) == 1:
                return self._begin(Block(["replay", files[0], *self._rules], offline=True, **options))
            log = self._log()
            if files:
                _run([*log, "import", *files])
            else:
                # A test that asks nothing needs no cassette, and one that asks gets the same refusal as any other.
                with Block([*log, "record"], offline=False):
                    pass
            return self._begin(Block([*log, "replay", "latest", *self._rules], offline=True, **options))
        self._is_written, log = True, self._log()
        if self._attempt is not None and self._attempt.exists():
            # A copy: they wait on if this process is killed.
            shutil.copytree(self._attempt, Path(self._folder.name if self._folder else ""), dirs_exist_ok=True)
            return self._begin(Block([*log, "fork", "latest", *self._rules], offline=False, **self._options))
        if self.mode == "new" and files:
            _run([*log, "import", *files])
            return self._begin(Block([*log, "fork", "latest", *self._rules], offline=False, **self._options))
        return self._begin(Block([*log, "record", *self._rules], offline=False, **self._options))

    def _files(self) -> list[str]:
        # Each once, in order.
        return [str(path) for path in dict.fromkeys([self.path, *self._also]) if path.exists()]

    @property
    def exists(self) -> bool:
        """Whether there is anything to replay."""
        return bool(self._files())

    @property
    def records(self) -> bool:
        """Whether requests reach the model: the mode says so, and for ``once`` a file is missing."""
        return self.mode in ("new", "all") or (self.mode == "once" and not self.exists)

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
        try:
            self.end(error)
        except BaseException:
            self.discard()
            raise
        if error is None:
            self.keep()
        else:
            self.discard()

    def end(self, error: BaseException | None) -> None:
        """Ends the block. What it recorded is kept by `keep` or `discard`, one of which has to follow."""
        block = self._block
        if block is None:
            raise BlockError("retold: this cassette is not in use: it has ended, or was never entered")
        try:
            block.__exit__(type(error) if error is not None else None, error, None)
        except ReplayMismatch as mismatch:
            if self.mode in ("none", "once") and not self.exists:
                missing = ReplayMismatch(
                    f"there is no cassette {self.path}: record it once, with `pytest --retold=once` or "
                    f'mode="once"\n\n{mismatch.report}',
                    mismatch.summary,
                )
                missing.is_of_cassette = True
                raise missing from error
            raise
        left = block.left
        if self._is_written and error is None and left:
            warnings.warn(
                f"{self.path}: {left} of the answers that were recorded before were not asked for again, and are left out",
                UnusedAnswers,
                stacklevel=3,
            )

    def keep(self) -> None:
        """Writes the cassette, if anything was recorded for it."""
        try:
            if self._is_written and self._block is not None and self._block.requests + self._block.tool_calls:
                self._write()
            if self._is_written:
                self._forget_attempt()
        finally:
            self._clean()

    def discard(self) -> None:
        """Leaves the file as it is. The answers wait for the next attempt, which gets them first.

        Not if this attempt got them and asked nothing else: they have failed a test twice. Those of several tests always wait.
        """
        block = self._block
        try:
            is_kept = block is not None and (
                block.recorded + block.tool_results > 0
                or (self.is_of_several and block.requests + block.tool_calls > 0)
            )
            if self._attempt and self._folder and is_kept:
                _move(Path(self._folder.name), self._attempt)
            elif self._is_written:
                self._forget_attempt()
        finally:
            self._clean()

    async def __aenter__(self) -> Run:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)

    def _log(self) -> list[str]:
        """The options that name a log in a folder of its own."""
        if self._folder is None:
            self._folder = ScratchFolder()
        return ["--log", os.path.join(self._folder.name, "log.db")]

    def _write(self) -> None:
        path = self.path.resolve()
        path.parent.mkdir(parents=True, exist_ok=True)
        # The name of a cassette may be as long as a name can be.
        written = path.parent / f".retold-{os.getpid()}.yaml"
        try:
            _run([*self._log(), "export", "latest", str(written), "--as", "cassette", "--force"])
            written.replace(path)
        finally:
            written.unlink(missing_ok=True)

    def _forget_attempt(self) -> None:
        if self._attempt is not None:
            shutil.rmtree(self._attempt, ignore_errors=True)

    def _clean(self) -> None:
        self._block = None
        self._is_written = False
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None


def _move(source: Path, to: Path) -> None:
    """Moves the files of a folder into another one, whose files they replace."""
    to.mkdir(parents=True, exist_ok=True)
    for file in to.iterdir():
        file.unlink()
    for file in source.iterdir():
        shutil.move(file, to / file.name)
    source.rmdir()


def _run(arguments: Sequence[str]) -> None:
    done = subprocess.run([program(), *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise RetoldError(done.stderr.strip().removeprefix("error: "))
