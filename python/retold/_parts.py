"""Which part of a test run asks, where one cassette has the answers of several tests: a test, or a fixture that is made for several.

The calls of all requests begin with its name, also those of other processes. So each gets its own answers, whichever of the others
are run with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ._run import Run


class Parts:
    """The part that is running, and the run of the cassette that has the answers of several."""

    def __init__(self) -> None:
        self._run: Run | None = None
        #: A test, and what runs in it: the last one is running.
        self._names: list[str] = []

    def begin(self, test: str) -> None:
        """Begins a test."""
        self._names = [test]
        self._tell()

    @contextmanager
    def fixture(self, name: str, finalize: Callable[[Callable[[], None]], None]) -> Iterator[None]:
        """A fixture is made, within a test or another fixture. What it does at its end belongs to it as well."""
        # Finalizers run in reverse, so that this is its last one ..
        finalize(lambda: self._leave(name))
        self._enter(name)
        try:
            yield
        finally:
            self._leave(name)
        # .. and this its first.
        finalize(lambda: self._enter(name))

    def share(self, run: Run | None) -> None:
        """Begins or ends a cassette of several tests."""
        self._run = run
        self._tell()

    def _enter(self, name: str) -> None:
        self._names.append(name)
        self._tell()

    def _leave(self, name: str) -> None:
        # One that failed has been left before its end.
        if self._names[-1:] == [name]:
            self._names.pop()
            self._tell()

    def _tell(self) -> None:
        if self._run is not None:
            self._run._session.report("part", {"name": self._names[-1] if self._names else None})
