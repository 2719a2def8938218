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
        self._name: str | None = None

    def enter(self, name: str) -> None:
        """Begins a part."""
        self._name = name
        self._tell()

    @contextmanager
    def fixture(self, name: str, finalize: Callable[[Callable[[], None]], None]) -> Iterator[None]:
        """A part within another one: a fixture is made, and what it does at its end belongs to it as well."""
        outer = self._name
        self.enter(name)
        try:
            yield
        finally:
            self._name = outer
            self._tell()
        finalize(lambda: self.enter(name))

    def share(self, run: Run | None) -> None:
        """Begins or ends a cassette of several tests."""
        self._run = run
        self._tell()

    def _tell(self) -> None:
        if self._run is not None:
            self._run._session.report("part", {"name": self._name})
