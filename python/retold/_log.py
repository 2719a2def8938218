"""A log as rows of plain values, such as `pandas.DataFrame` takes.

The native module is imported where it is needed: recording and replaying do without it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

Row = dict[str, Any]


class Log:
    """A log, which is read anew by each call. A run is given by its name, its id or ``latest``."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)

    def runs(self) -> list[Row]:
        """The runs, in the order in which they began."""
        from . import _retold

        return _retold.runs(self.path)

    def exchanges(self, run: str = "latest") -> list[Row]:
        """The questions of a run with their answers; each label of a call is a column."""
        from . import _retold

        return _retold.exchanges(self.path, run)

    def decisions(self, run: str = "latest") -> list[Row]:
        """The decisions of a run, each with the call and the labels of its answer."""
        from . import _retold

        return _retold.decisions(self.path, run)

    def facts(self, run: str = "latest") -> list[Row]:
        """The facts of a run."""
        from . import _retold

        return _retold.facts(self.path, run)

    def __repr__(self) -> str:
        return f"<retold.Log {self.path}>"


def open(log: str | os.PathLike[str]) -> Log:
    """A log to be read. It is not changed."""
    return Log(log)


def run_named(log: str | os.PathLike[str], name: str) -> str:
    """A run as the program takes it: by its id where its name looks like a file's."""
    if not re.search(r"[/\\.]", name):
        return name
    named = [row["run"] for row in Log(log).runs() if row["name"] == name]
    return named[-1] if named else name


class Parsed(NamedTuple):
    """What a parser made of a text."""

    value: Any
    method: str
    reasoning: str | None
    warnings: list[str]
    verdict: str | None


def parse(parser: str, texts: Sequence[str], **settings: Any) -> list[Parsed]:
    """Parses texts with a parser of a study, by its name and version: ``parse("vote@1", texts, options=["A", "B"])``."""
    if isinstance(texts, str):
        raise TypeError("parse takes a list of texts: [text]")
    from . import _retold

    return [Parsed(*one) for one in _retold.parse(parser, list(texts), json.dumps(settings))]
