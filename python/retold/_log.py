"""A log as tables.

The native module is imported where it is needed: recording and replaying do without it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from typing import Any, NamedTuple, overload

from ._answer import Answer
from ._ask import ask
from ._check import Checked, check
from ._figure import Agreement, Figure
from ._html import table

Row = dict[str, Any]

#: A run, or several.
Runs = str | Sequence[str]


class Table:
    """A table of one or more runs, which is read when it is used.

    polars, pandas, DuckDB and pyarrow take it as it is: ``polars.DataFrame(table)``. It can also be used like a list of rows,
    in which JSON is what it stands for. It is no ``Sequence``, whose columns these libraries would guess from its rows.
    """

    def __init__(
        self, log: str, name: str, runs: Runs | None, *, prompts: bool = False, recorded: bool = False
    ) -> None:
        from . import _retold

        self.name = name
        names = None if runs is None else _names(runs)
        # Which run is the latest is decided now.
        self._of = (log, _retold.run_ids(log, names), name, prompts, recorded)
        self._read: list[Row] | None = None

    def _rows(self) -> list[Row]:
        from . import _retold

        if self._read is None:
            self._read = _retold.rows(*self._of)
        return self._read

    def __len__(self) -> int:
        return len(self._rows())

    @overload
    def __getitem__(self, at: int) -> Row: ...

    @overload
    def __getitem__(self, at: slice) -> list[Row]: ...

    def __getitem__(self, at: int | slice) -> Row | list[Row]:
        return self._rows()[at]

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The table as Arrow's C stream (the PyCapsule interface); no other schema than its own can be requested."""
        from . import _retold

        return _retold.stream(*self._of)

    def __repr__(self) -> str:
        return f"<retold.Table {self.name}>"

    def _repr_html_(self) -> str:
        return table(self._rows(), self.name)


class Log:
    """A log, which is read anew by each call. A run is given by its name, its id or ``latest``; several as a list."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)

    def runs(self) -> Table:
        """The runs, in the order in which they began."""
        return Table(self.path, "runs", None)

    def exchanges(self, run: Runs = "latest", *, prompts: bool = False) -> Table:
        """The questions of a run with their answers; each label of a call is a column.

        With ``prompts``, there are two more columns: the text of the last message, and the whole request.
        """
        return Table(self.path, "exchanges", run, prompts=prompts)

    def decisions(self, run: Runs = "latest", *, recorded: bool = False) -> Table:
        """The decisions in force about the answers of a run, each with the call and the labels of its answer.

        They are the run's own, or were accepted since. With ``recorded``, they are the run's own, whether they are in force
        or not.
        """
        return Table(self.path, "decisions", run, recorded=recorded)

    def facts(self, run: Runs = "latest") -> Table:
        """The facts of a run."""
        return Table(self.path, "facts", run)

    def attempts(self, run: Runs = "latest") -> Table:
        """The attempts that failed."""
        return Table(self.path, "attempts", run)

    def messages(self, run: Runs = "latest") -> Table:
        """The messages of a run's requests, each once, with the one before it."""
        return Table(self.path, "messages", run)

    def contents(self, run: Runs = "latest") -> Table:
        """The texts of these messages, by their hashes."""
        return Table(self.path, "contents", run)

    def figure(self, figure: str, run: Runs = "latest") -> Figure:
        """A figure with its intervals, such as ``share of vote = yes by condition``, of one run or of several, which are compared.

        It is the object that ``retold stats --json`` has, and a picture in a notebook.
        """
        return Figure(self.path, ["stats", *_names(run), f"--figure={figure}"])

    def diff(self, one: str, other: str) -> dict[str, Any]:
        """How two runs differ, as ``retold diff --json`` says it.

        ``changes`` has each change of a prompt once: ``words`` that were removed and added, and the number of ``calls`` that have it.
        """
        return ask(self.path, ["diff", "--", one, other])

    def report(self, path: str | os.PathLike[str], run: Runs = "latest", *, figures: Sequence[str] = ()) -> str:
        """Writes a page about a run, or several side by side, with figures and plots; returns its path.

        A file that ends with ``.pdf`` is printed by a browser. A file that exists is replaced.
        """
        named = [f"--figure={figure}" for figure in ([figures] if isinstance(figures, str) else figures)]
        ask(self.path, ["report", *_names(run), *named, "--force", f"--output={os.fspath(path)}"])
        return os.fspath(path)

    def agreement(self, *names: str, run: str = "latest", level: str = "nominal") -> Agreement:
        """How far the decisions of these names agree, such as those of a parser and of people: Krippendorff's alpha and Cohen's kappa.

        It is the object that ``retold score agreement --json`` has. Without names, those who decided under one name are compared.
        In a notebook, it is a picture.
        """
        return Agreement(self.path, ["score", "agreement", f"--level={level}"], [run, *names])

    def run(self, run: str = "latest") -> RecordedRun:
        """A recorded run, to decide about its answers."""
        return RecordedRun(self, run)

    def __repr__(self) -> str:
        return f"<retold.Log {self.path}>"

    def _repr_html_(self) -> str:
        return table(self.runs()._rows(), f"runs of {self.path}")


class RecordedRun:
    """A run in a log."""

    def __init__(self, log: Log, name: str) -> None:
        from . import _retold

        self.log = log
        #: Its id.
        (self.id,) = _retold.run_ids(log.path, [name])

    def answers(self) -> list[Answer]:
        """The answers of the run, in the order in which they were asked for."""
        rows = (row for row in self.log.exchanges(self.id) if row["status"] == "answered")
        return [Answer._of(row, _labels(row)) for row in rows]

    def check(
        self, function: Callable[[Answer], Any], *, name: str, call: str | None = None, executor: Executor | None = None
    ) -> Checked:
        """Decides about each answer with a function, and compares with the decisions of the same name that are in force.

        ``name`` is what is decided, with the version of the function: ``vote@4``. The function gets the answer, a ``str`` with
        the call, its labels and more, and returns a value that JSON can hold, or a `Decision`; ``None`` means that it
        found nothing. If it raises an exception, that is a failure of this answer: see ``failures`` of the result.

        Several answers are decided about at once, in threads, or in what ``executor`` offers: a ``ProcessPoolExecutor`` uses all
        cores and needs a function that can be pickled. ``call`` limits it to the answers of this call and of calls below it.
        Nothing is recorded before ``accept`` of the result is called.
        """
        answers = self.answers()
        if call is not None:
            answers = [answer for answer in answers if answer.call == call or answer.call.startswith(f"{call}/")]
        return check(self.log.path, self.id, answers, function, name, executor)

    def __repr__(self) -> str:
        return f"<retold.RecordedRun {self.id} of {self.log.path}>"

    def _repr_html_(self) -> str:
        return table(self.log.exchanges(self.id, prompts=True)._rows(), f"run {self.id}")


def _names(runs: Runs) -> list[str]:
    return [runs] if isinstance(runs, str) else list(runs)


def _labels(row: Row) -> Row:
    """The labels of a call: they are the columns between the call and its answer."""
    columns = list(row)
    labels = columns[columns.index("call") + 1 : columns.index("answer")]
    return {label: row[label] for label in labels if row[label] is not None}


def open(log: str | os.PathLike[str]) -> Log:
    """A log to be read. It is not changed."""
    return Log(log)


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
