"""Functions that decide about recorded answers."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ._answer import Answer
from ._ask import ask
from ._errors import CheckError

#: How many answers a process of an executor gets at once.
_AT_ONCE = 64

#: How many flips and failures are printed.
_SHOWN = 10


@dataclass(frozen=True)
class Decision:
    """What a function decides about an answer, where the value alone does not say it all."""

    value: Any
    method: str = "returned"
    reasoning: str | None = None
    warnings: Sequence[str] = ()


@dataclass(frozen=True)
class Flip:
    """A decision with another value than the one in force."""

    answer: Answer
    before: Any
    after: Any

    def __str__(self) -> str:
        return f"{self.answer.call}#{self.answer.sample}: {self.before!r} -> {self.after!r}\n  {_short(self.answer)}"


@dataclass(frozen=True)
class Failure:
    """An answer for which the function raised an exception."""

    answer: Answer
    #: The exception as one line, and with its traceback.
    error: str
    traceback: str = field(repr=False)

    def __str__(self) -> str:
        return f"{self.answer.call}#{self.answer.sample}: {self.error}\n  {_short(self.answer)}"


@dataclass(frozen=True, repr=False)
class Checked:
    """What a function decided about the answers of a run, compared with the decisions of the same name in force."""

    run: str
    #: The name of what was decided, with its version.
    name: str
    #: Each decision with its answer, in the order of the run.
    decisions: list[tuple[Answer, Decision]]
    #: Those with another value than the one in force.
    flips: list[Flip]
    #: How many have the value that is in force, and how many are about answers without a decision of this name.
    same: int
    new: int
    #: The answers for which the function raised an exception. There is no decision about them.
    failures: list[Failure]
    _accept: Callable[[], dict[str, Any]] = field(repr=False, compare=False)

    @property
    def unread(self) -> int:
        """For how many answers the function found nothing: it returned ``None``, which is recorded as such."""
        return sum(decision.value is None for _, decision in self.decisions)

    def accept(self, *, without_failures: bool = False) -> str:
        """Records the decisions as a run that cites its answers; returns the id of this run, or of the one that has them already.

        They take the place of the decisions with the same name. If the function failed for some answers, nothing is recorded
        unless ``without_failures`` says that these answers keep the decisions that they have.
        """
        if self.failures and not without_failures:
            raise CheckError(
                f"the function failed for {len(self.failures)} of {len(self.decisions) + len(self.failures)} answers, and "
                f"nothing was recorded: {self.failures[0].error}. Mend it, or leave these answers out with "
                "accept(without_failures=True)"
            )
        if not self.decisions:
            raise CheckError(f"there are no decisions to accept about run {self.run}")
        accepted = self._accept()
        return str(accepted["accepted"] or accepted["accepted_before"])

    def __repr__(self) -> str:
        return f"<retold.Checked {str(self).partition(chr(10))[0]}>"

    def __str__(self) -> str:
        parts = [f"{self.same} the same", _counted(len(self.flips), "flip"), f"{self.new} new", f"{self.unread} unread"]
        if self.failures:
            parts.append(f"{len(self.failures)} failed")
        lines = [f"{_counted(len(self.decisions), 'decision')} {self.name}: {', '.join(parts)}"]
        for title, found in (("flips", self.flips), ("failures", self.failures)):
            shown: Sequence[Flip | Failure] = found[:_SHOWN]
            if shown:
                lines += [f"{title}:", *map(str, shown)]
            if len(found) > _SHOWN:
                lines.append(f"and {len(found) - _SHOWN} more in .{title}")
        return "\n".join(lines)


def check(
    log: str,
    run: str,
    answers: Sequence[Answer],
    function: Callable[[Answer], Any],
    name: str,
    executor: Executor | None,
) -> Checked:
    """Decides about the answers of a run, and compares."""
    decisions: list[tuple[Answer, Decision]] = []
    failures: list[Failure] = []
    for answer, outcome in zip(answers, _decided(answers, function, executor), strict=True):
        if isinstance(outcome, Decision):
            decisions.append((answer, outcome))
        else:
            failures.append(Failure(answer, *outcome))
    lines = [_line(answer, decision) for answer, decision in decisions]
    asked = partial(_program, log, run, name, _named(function), "".join(lines))
    compared: dict[str, Any] = asked(accept=False) if lines else {"same": 0, "new": 0, "flipped": []}
    by_seq = {answer.seq: answer for answer in answers}
    flips = [Flip(by_seq[flip["seq"]], flip["from"], flip["to"]) for flip in compared["flipped"]]
    named = f"{compared['name']}@{compared['version']}" if lines else name
    return Checked(
        run, named, decisions, flips, compared["same"], compared["new"], failures, partial(asked, accept=True)
    )


def _decided(
    answers: Sequence[Answer], function: Callable[[Answer], Any], executor: Executor | None
) -> Iterator[Decision | tuple[str, str]]:
    decide = partial(_decide, function)
    if executor is not None:
        yield from executor.map(decide, answers, chunksize=_AT_ONCE)
        return
    with ThreadPoolExecutor() as threads:
        yield from threads.map(decide, answers)


def _decide(function: Callable[[Answer], Any], answer: Answer) -> Decision | tuple[str, str]:
    """A decision, or the exception that the function raised."""
    try:
        given = function(answer)
        decision = given if isinstance(given, Decision) else Decision(given)
        # What is no JSON is a failure of this answer too.
        json.dumps(decision.value, allow_nan=False)
        return decision
    except Exception as error:
        return traceback.format_exception_only(error)[-1].strip(), traceback.format_exc()


def _line(answer: Answer, decision: Decision) -> str:
    what: dict[str, Any] = {"answer_seq": answer.seq, "value": decision.value, "method": decision.method}
    if decision.reasoning is not None:
        what["reasoning"] = decision.reasoning
    if decision.warnings:
        what["warnings"] = list(decision.warnings)
    return json.dumps(what, ensure_ascii=False, allow_nan=False) + "\n"


def _named(function: Callable[[Answer], Any]) -> str:
    """Where the function is, for those who read the decisions later."""
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    return f"{module}.{name}" if module and name else type(function).__qualname__


def _program(log: str, run: str, name: str, function: str, lines: str, *, accept: bool) -> dict[str, Any]:
    arguments = ["check", run, "--decisions", "-", "--name", name, "--function", function]
    return ask(log, [*arguments, "--accept"] if accept else arguments, lines, CheckError)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _short(answer: Answer) -> str:
    """The text of an answer on one line, inert."""
    text = str.__repr__(answer)
    return text if len(text) <= 120 else f"{text[:119]}…"
