"""What the tests of a suite ask, compared with their cassettes: the plugin that `retold.drift` adds to pytest."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import pytest

from ._errors import ReplayMismatch
from ._vcr import COMPARED, RUN

@dataclass
class Difference:
    """A request that is not recorded."""

    #: Method, upstream and path.
    request: str
    #: The first field that differs, and how many do; none if no field does, or there is nothing to compare with.
    field: str | None
    fields: int
    #: Values in the form in which they are shown, from shortly before the difference; `None` if there is none.
    recorded: str | None
    asked: str | None
    #: In words.
    report: str


@dataclass
class Compared:
    """A test that was run."""

    test: str
    has_cassette: bool = False
    was_skipped: bool = False
    #: The error of the test, or of its fixtures, in one line.
    error: str | None = None
    differences: list[Difference] = field(default_factory=list)
    #: How many requests are not recorded, which may be more than those that are compared.
    not_recorded: int = 0
    #: How many recorded answers the test did not ask for, if it came to its end ..
    never_asked: int = 0
    #: .. and how many there are.
    recorded: int = 0

    @property
    def result(self) -> str:
        """What became of the comparison."""
        if not self.has_cassette and (self.not_recorded or self.error is None and not self.was_skipped):
            return "no cassette"
        if self.not_recorded or self.never_asked:
            return "differs"
        if self.was_skipped:
            return "skipped"
        return "as recorded" if self.error is None else "failed"

    def add(self, run: Any, has_cassette: bool) -> None:
        """Adds what the run of the test was."""
        self.has_cassette, summary = has_cassette, run.summary
        if summary is None:
            return
        self.not_recorded = summary["not_recorded"]
        self.recorded = summary["replayed"] + summary["replayed_failed_attempts"] + summary["left"]
        # A changed request takes the place of one that is recorded.
        if self.error is None and not self.was_skipped and summary["left"] > self.not_recorded:
            self.never_asked = summary["left"]
        for miss in summary["misses"]:
            one = _difference(miss)
            if one not in self.differences:
                self.differences.append(one)


def _difference(miss: dict[str, Any]) -> Difference:
    request, field, fields = str(miss["asked"]), miss["field"], int(miss["fields"])
    if field is None:
        said = str(miss["report"]).partition("\n")[0].replace(str(miss["call"]), request, 1)
        return Difference(request, None, 0, None, None, said)
    more = f" ({fields} fields differ)" if fields > 1 else ""
    said = f"{request}: {field} is {_shown(miss['now'])}, recorded {_shown(miss['recorded'])}{more}"
    return Difference(request, field, fields, miss["recorded"], miss["now"], said)


def _shown(value: str | None) -> str:
    if value is None:
        return "not given"
    is_plain = re.fullmatch(r"-?\d[\d.eE+-]*|true|false|null|[\[{\"].*", value, re.S) is not None
    return value if is_plain else f'"{value}"'


class Comparison:
    """A plugin that replays the tests with a cassette of vcrpy, and notes what they ask. Others are not run."""

    def __init__(self) -> None:
        self.tests: dict[str, Compared] = {}
        #: How many tests have no cassette of vcrpy.
        self.unmarked = 0
        #: Whether files could not be collected.
        self.has_errors = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        config.stash[COMPARED] = True
        # What the suite's own configuration may ask for: other processes, an end at the first failure, no cassettes.
        alone = {"dist": "no", "tx": [], "numprocesses": 0}
        for name, value in {**alone, "maxfail": 0, "disable_recording": False}.items():
            if hasattr(config.option, name):
                setattr(config.option, name, value)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self.has_errors |= report.failed

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        left = [item for item in items if item.get_closest_marker("vcr") is None]
        if left:
            config.hook.pytest_deselected(items=left)
            items[:] = [item for item in items if item not in left]
        self.unmarked = len(left)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        if call.when == "setup":
            self.tests[item.nodeid] = Compared(item.nodeid)
        test = self.tests[item.nodeid]
        error = call.excinfo.value if call.excinfo is not None else None
        if isinstance(error, pytest.skip.Exception):
            test.was_skipped = True
        elif error is not None and not isinstance(error, ReplayMismatch) and test.error is None:
            test.error = f"{type(error).__name__}: {error}".partition("\n")[0].removesuffix(": ")
        if call.when == "teardown" and RUN in item.stash:
            test.add(*item.stash[RUN])
