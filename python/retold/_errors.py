"""What can go wrong, as exceptions that say what, where and what to do."""

from __future__ import annotations

from typing import Any


class RetoldError(Exception):
    """The base of all errors of this package."""


class ProgramNotFound(RetoldError):
    """The program ``retold``, which comes with this package, is not where it was installed."""


class StartFailed(RetoldError):
    """The program ``retold`` refused to start: a run that does not exist, a log in use, no permission."""


class BlockError(RetoldError):
    """A block was used in a way that has no meaning: inside another, or in a forked process."""


class ReportError(RetoldError):
    """A decision, a fact or a mark was refused, or differs from what is recorded."""


class CheckError(RetoldError):
    """Decisions of a function could not be compared or accepted: a run that does not exist, a name without a version."""


class NotCaught(RetoldError, ConnectionError):
    """A connection that a replay does not allow, because nothing of its host is recorded."""


class NotRecorded(RetoldError):
    """A tool was called that has no recorded result, and a replay runs none."""


class ToolError(RetoldError):
    """A tool raised an error when it was recorded, whose class this program has not imported. ``type`` is its name."""

    def __init__(self, message: str, type: str = "") -> None:
        super().__init__(message)
        self.type = type


class OverBudget(RetoldError):
    """The run reached ``max_cost``, or what it costs is not known; requests were not asked. It can be resumed."""


class ReplayMismatch(RetoldError, AssertionError):
    """A program asked something that is not recorded, or reported something else than was recorded.

    ``report`` names each request with the nearest recorded one and the first field that differs. ``summary`` is
    what happened, as ``retold replay --json`` says it.
    """

    def __init__(self, report: str, summary: dict[str, Any]) -> None:
        super().__init__(report)
        self.report = report
        self.summary = summary
        #: Whether there is no cassette at all.
        self.is_of_cassette = False


class RetoldWarning(UserWarning):
    """The base of all warnings of this package."""


class UnusedAnswers(RetoldWarning):
    """Recorded answers that nobody asked for, where ``unused="warn"``."""
