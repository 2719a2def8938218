"""Records what a program asks models, and replays it: strictly, offline, byte for byte.

    with retold.record("study.db", name="pilot-1") as run:
        answer = client.chat.completions.create(...)

    with retold.replay("study.db"):
        ...  # the same code: the same answers, and an error if it asks anything else
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ._answer import Answer
from ._block import Block
from ._cassette import Cassette
from ._check import Checked, Decision, Failure, Flip
from ._context import Call
from ._errors import (
    BlockError,
    CheckError,
    NotCaught,
    NotRecorded,
    OverBudget,
    ProgramNotFound,
    ReplayMismatch,
    ReportError,
    RetoldError,
    RetoldWarning,
    StartFailed,
    ToolError,
    UnusedAnswers,
)
from ._log import Log, Parsed, RecordedRun, Table, open, parse
from ._plan import Plan, plan
from ._rules import Replacements, rules
from ._run import Decided, Run
from ._tools import call_tool, tool
from ._version import VERSION

__version__ = VERSION

__all__ = [
    "Answer",
    "Block",
    "BlockError",
    "Call",
    "Cassette",
    "CheckError",
    "Checked",
    "Decided",
    "Decision",
    "Failure",
    "Flip",
    "Log",
    "NotCaught",
    "NotRecorded",
    "OverBudget",
    "Parsed",
    "Plan",
    "ProgramNotFound",
    "RecordedRun",
    "ReplayMismatch",
    "ReportError",
    "RetoldError",
    "RetoldWarning",
    "Run",
    "StartFailed",
    "Table",
    "ToolError",
    "UnusedAnswers",
    "call_tool",
    "cassette",
    "fork",
    "open",
    "parse",
    "plan",
    "record",
    "replay",
    "resume",
    "tool",
]

Path = str | os.PathLike[str]


def record(
    log: Path,
    name: str | None = None,
    *,
    settings: Mapping[str, Any] | None = None,
    hosts: Sequence[str] = (),
    exclude: Sequence[str] = (),
    ignore: Sequence[str] = (),
    replace: Replacements = (),
    redact: Sequence[str] = (),
    shared: bool = False,
    chance: bool | str = False,
    max_cost: float | None = None,
    prices: Path | None = None,
    plan: Plan | None = None,
) -> Block:
    """Records what is asked inside the block as a new run of the log, which is created if it is missing.

    ``settings`` are recorded as the run's first fact. ``hosts`` are recorded besides known providers, ``exclude`` are
    left alone; `*` stands for any text. ``ignore`` are fields of requests that do not count, such as
    ``metadata.sent_at``; ``replace`` maps regular expressions to the text that counts in place of what they match;
    ``redact`` are regular expressions whose matches are not stored. With ``shared``, equal requests are asked once.

    With ``chance``, the draws of ``random`` and ``numpy.random`` come from a seed that the run records, and with
    ``chance="uuid"`` so does ``uuid4``: `replay`, `resume` and `fork` draw the same again. A seed in the program wins.

    ``max_cost`` are US dollars after which nothing more is asked: requests then get an error with HTTP status 402, and
    `OverBudget` is raised at the end of the block. The run can be resumed with a higher limit. ``prices`` is a file with what
    models cost, in place of the built-in prices.

    With a ``plan``, the run is recorded by it and gets its name, unless you give it another, which is an error.
    """
    arguments = ["--log", os.fspath(log), "record"]
    if plan is not None:
        name = plan.name if name is None else name
        arguments += ["--plan", plan.run]
    if name is not None:
        arguments += ["--name", name]
    arguments += rules(ignore, replace, redact)
    if shared:
        arguments.append("--shared")
    if chance:
        arguments.append("--chance" if chance is True else f"--chance={chance}")
    arguments += _budget(max_cost, prices)
    return Block(arguments, offline=False, settings=settings, hosts=hosts, exclude=exclude)


def replay(
    log: Path,
    run: str = "latest",
    *,
    settings: Mapping[str, Any] | None = None,
    hosts: Sequence[str] = (),
    exclude: Sequence[str] = (),
    allow_hosts: Sequence[str] = (),
    skip_errors: bool = False,
    shared: bool = False,
    ignore: Sequence[str] = (),
    replace: Replacements = (),
    unused: str = "error",
    live_tools: Sequence[str] = (),
) -> Block:
    """Answers what is asked inside the block from a run, by its name, its id or ``latest``, and asks nobody.

    A request that is not recorded, a decision or fact that differs, and an answer that nobody asked for raise
    `ReplayMismatch` at the end of the block; the request itself gets an error that says the same. Connections beyond
    this machine are refused, but for ``allow_hosts``. ``skip_errors`` leaves out recorded failures. ``ignore`` and
    ``replace`` are added to those of the run: with them, a recording can be replayed whose program puts the time into its
    prompts. ``unused`` is what becomes of answers that nobody asked for: ``error``, ``warn`` or ``ignore``. Tools are not run,
    but for ``live_tools``, in which `*` stands for any text.
    """
    arguments = ["--log", os.fspath(log), "replay", run]
    if skip_errors:
        arguments.append("--skip-errors")
    if shared:
        arguments.append("--shared")
    arguments += rules(ignore, replace)
    return Block(
        arguments,
        offline=True,
        settings=settings,
        hosts=hosts,
        exclude=exclude,
        allow_hosts=allow_hosts,
        unused=unused,
        live_tools=live_tools,
    )


def resume(
    log: Path,
    run: str = "latest",
    *,
    settings: Mapping[str, Any] | None = None,
    hosts: Sequence[str] = (),
    exclude: Sequence[str] = (),
    retry_failed: bool = False,
    ignore: Sequence[str] = (),
    replace: Replacements = (),
    max_cost: float | None = None,
    prices: Path | None = None,
) -> Block:
    """Continues a run that was cut off: recorded answers first, then the model, whose answers are recorded.

    ``max_cost`` counts what the run has cost so far, too. ``ignore`` and ``replace`` are added to those of the run.
    """
    arguments = ["--log", os.fspath(log), "record", "--resume", run]
    if retry_failed:
        arguments.append("--retry-failed")
    arguments += rules(ignore, replace)
    arguments += _budget(max_cost, prices)
    return Block(arguments, offline=False, settings=settings, hosts=hosts, exclude=exclude)


def fork(
    log: Path,
    run: str = "latest",
    name: str | None = None,
    *,
    settings: Mapping[str, Any] | None = None,
    hosts: Sequence[str] = (),
    exclude: Sequence[str] = (),
    retry_failed: bool = False,
    ignore: Sequence[str] = (),
    replace: Replacements = (),
    max_cost: float | None = None,
    prices: Path | None = None,
    at: str | int | None = None,
    without: str | int | None = None,
    live_tools: Sequence[str] = (),
) -> Block:
    """Records a new run that shares the answers of another, and asks what is new. ``name`` is that of the new run.

    ``at`` is a call, ``CALL#SAMPLE`` or a seq: only the answers before it are shared. ``without`` is one whose answer is taken
    back, and asked again. ``ignore`` and ``replace`` are added to those of the other run. ``live_tools`` are tools that run
    again although their results are recorded; `*` stands for any text.
    """
    arguments = ["--log", os.fspath(log), "fork", run]
    if name is not None:
        arguments += ["--name", name]
    if retry_failed:
        arguments.append("--retry-failed")
    if at is not None:
        arguments += ["--at", str(at)]
    if without is not None:
        arguments += ["--without", str(without)]
    arguments += rules(ignore, replace)
    arguments += _budget(max_cost, prices)
    return Block(arguments, offline=False, settings=settings, hosts=hosts, exclude=exclude, live_tools=live_tools)


def _budget(max_cost: float | None, prices: Path | None) -> list[str]:
    limit = [] if max_cost is None else ["--max-cost", repr(float(max_cost))]
    return limit if prices is None else [*limit, "--prices", os.fspath(prices)]


cassette = Cassette
