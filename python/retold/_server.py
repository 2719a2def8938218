"""The child process that records or replays.

Threads do not survive a fork, so everything that needs them is in a process of its own. It ends with this one, also
after ``kill -9``, because it reads from a pipe whose other end only this process has.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ._errors import RetoldError, StartFailed
from ._program import program

_running: set[Server] = set()


@dataclass(frozen=True)
class Address:
    """Where a child process listens, and what it takes."""

    run: str
    url: str
    token: str = field(repr=False)
    #: It takes requests below these URLs ..
    bases: tuple[str, ...]
    #: .. to these hosts, in which `*` stands for any text ..
    hosts: tuple[str, ...]
    #: .. and those that are posted to a path that ends with one of these, in which `*` stands for any text.
    paths: tuple[str, ...]
    #: What child processes find in their environment, and what they do not.
    environment: dict[str, str] = field(repr=False)
    unset: tuple[str, ...]
    #: The seed of the program's own draws, if they are the run's.
    chance: str | None
    #: An earlier run of the same name that is not finished.
    unfinished: str | None


class Server:
    """A process ``retold record --stdio``, or of another verb."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self.pid = os.getpid()
        # Not a pipe: nobody would read it while the block runs.
        self._said = tempfile.TemporaryFile()
        try:
            self._process = subprocess.Popen(
                [program(), *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                # Ctrl-C is for this program, which says what becomes of the run.
                start_new_session=True,
            )
        except OSError as error:
            raise StartFailed(f"cannot start {program()}: {error}") from error
        _running.add(self)
        greeting = self._line()
        if greeting is None:
            self._process.wait()
            raise StartFailed(self._closed())
        self.address = Address(
            run=greeting["run"],
            url=greeting["url"],
            token=greeting["token"],
            bases=tuple(greeting["bases"]),
            hosts=tuple(greeting["hosts"]),
            paths=tuple(greeting["paths"]),
            environment=greeting["environment"],
            unset=tuple(greeting["unset"]),
            chance=greeting["chance"],
            unfinished=greeting["unfinished"],
        )

    def end(self, exit_code: int) -> dict[str, Any]:
        """Says that the program has ended, and returns what happened."""
        stdin = self._process.stdin
        assert stdin is not None
        try:
            stdin.write(json.dumps({"exit_code": exit_code}).encode() + b"\n")
            stdin.close()
        except OSError:
            # It has ended already, and says why.
            pass
        summary = self._line()
        status, said = self._process.wait(), self._closed()
        if summary is None:
            said = said or f"retold ended with exit code {status} and said nothing"
            raise RetoldError(said)
        return summary

    def forget(self) -> None:
        """Closes this process's copies of the pipes, in a child that was forked."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                # Another thread of the parent may have held the lock of the buffer.
                pipe.raw.close()  # type: ignore[attr-defined]
        # The parent waits for it, not we.
        self._process.returncode = 0

    def _line(self) -> dict[str, Any] | None:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        return json.loads(line) if line.endswith(b"\n") else None

    def _closed(self) -> str:
        """Closes everything; what the program wrote for people, without the word `error`."""
        _running.discard(self)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                pipe.close()
        with self._said as file:
            file.seek(0)
            return file.read().decode("utf-8", "replace").strip().removeprefix("error: ")


def _after_fork() -> None:
    for server in _running:
        server.forget()
    _running.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
