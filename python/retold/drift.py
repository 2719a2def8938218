"""What the tests of a suite of vcrpy ask that is not what was recorded: `python -m retold.drift PATH`.

The tests that are marked with ``vcr`` are replayed strictly, by pytest in this process: nothing is asked and nothing is
written. That is about requests. `pytest --retold=drift` asks the model, and is about its answers.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import io
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._scratch import ScratchFolder

if TYPE_CHECKING:
    from ._compared import Compared, Comparison

#: The longest line of a test's error.
_LONGEST = 300
#: Tests that are not compared, in words for one and for several.
_NOT_COMPARED = {
    "failed": ("failed for another reason", "failed for another reason"),
    "no cassette": ("has no cassette", "have no cassette"),
    "skipped": ("was skipped", "were skipped"),
    "unmarked": ("has no marker vcr", "have no marker vcr"),
}


class _BadInput(Exception):
    """Why nothing could be compared."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Compares a suite, and prints what differs. Returns 0 if nothing does, 1 if something does, 2 for bad input."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    end = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(
        "python -m retold.drift",
        description="Lists the tests of a suite of vcrpy that ask something else than was recorded.",
        epilog="What follows -- is passed on to pytest, such as -k NAME.",
    )
    parser.add_argument("path", nargs="+", metavar="PATH", help="a file or folder of tests, as pytest takes it")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    try:
        given = parser.parse_args(arguments[:end])
    except SystemExit as ended:
        # 0 for --help.
        return int(ended.code or 0)
    try:
        found = _compare(given.path, arguments[end + 1 :])
        counts = _counts(found)
        if given.json:
            _say(json.dumps(_object(found, counts)), sys.stdout)
        else:
            for test in found.tests.values():
                _say("".join(f"{line}\n" for line in _lines(test)), sys.stdout, "")
        _refuse_nothing(counts, given.path)
        if not given.json:
            _say(_last_line(counts), sys.stdout)
    except _BadInput as error:
        _say(f"error: {error}", sys.stderr)
        return 2
    return 1 if counts["differs"] else 0


def _compare(paths: Sequence[str], others: Sequence[str]) -> Comparison:
    for path in paths:
        # As in tests/test_a.py::test_b.
        if not Path(path.partition("::")[0]).exists():
            raise _BadInput(f"there is no {_inert(path)}: name a file or folder of tests")
    try:
        import pytest

        from ._compared import Comparison
    except ImportError as error:
        raise _BadInput(
            f"pytest cannot be imported by {_inert(sys.executable)} ({_inert(str(error))}): install it with "
            "`pip install pytest`, or start this with the Python that runs the suite"
        ) from error
    found, said = Comparison(), io.StringIO()
    with ScratchFolder() as folder:
        settings = ["retold_vcr=true", "retold_unused=ignore", f"cache_dir={folder}"]
        options = ["-p", "retold", "--retold=none", "--capture=fd", "--color=no"]
        options += [word for setting in settings for word in ("-o", setting)]
        # This package is imported already.
        options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            try:
                code = pytest.main([*others, *options, *paths], plugins=[found])
            except Exception as error:
                # Of another plugin; the exit code of a traceback would say that something differs.
                print(f"{type(error).__name__}: {error}")
                code = pytest.ExitCode.INTERNAL_ERROR
    expected = (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.NO_TESTS_COLLECTED)
    if found.has_errors or code not in expected:
        raise _BadInput(f"pytest could not run these tests:\n{_inert_lines(said.getvalue().strip())}")
    return found


def _counts(found: Comparison) -> dict[str, int]:
    counts = {"as recorded": 0, "differs": 0, **dict.fromkeys(_NOT_COMPARED, 0), "unmarked": found.unmarked}
    for test in found.tests.values():
        counts[test.result] += 1
    return counts


def _refuse_nothing(counts: dict[str, int], paths: Sequence[str]) -> None:
    """Refuses to say that nothing differs where nothing was compared."""
    if counts["as recorded"] + counts["differs"]:
        return
    where = _inert(", ".join(paths))
    if counts["unmarked"] == sum(counts.values()):
        raise _BadInput(
            f"none of the tests in {where} ({counts['unmarked']}) has the marker vcr: mark those with a cassette with "
            "@pytest.mark.vcr, or name another path"
            if counts["unmarked"]
            else f"there are no tests in {where}: name a path with tests, or check what was given after --"
        )
    raise _BadInput(f"not one test in {where} could be compared: {_others(counts)}; run pytest to see why")


def _lines(test: Compared) -> list[str]:
    lines = []
    if test.result == "differs":
        lines = [one.report for one in test.differences]
        if test.never_asked:
            lines.append(f"never asked: {test.never_asked} of {_counted(test.recorded, 'recorded answer')}")
        if test.not_recorded > len(test.differences):
            lines.append(f"{_counted(test.not_recorded, 'request')} in all")
    elif test.result == "failed":
        lines = [f"failed for another reason: {str(test.error)[:_LONGEST]}"]
    return [_inert(test.test), *(f"  {_inert(line)}" for line in lines)] if lines else []


def _last_line(counts: dict[str, int]) -> str:
    differ, compared = counts["differs"], counts["as recorded"] + counts["differs"]
    ask = "asks" if differ == 1 else "ask"
    text = f"{differ} of {compared} tests {ask} something else than was recorded."
    others = _others(counts)
    return f"{text} Not compared: {others}." if others else text


def _others(counts: dict[str, int]) -> str:
    words = [(counts[kind], _NOT_COMPARED[kind][counts[kind] > 1]) for kind in _NOT_COMPARED]
    return ", ".join(f"{count} {said}" for count, said in words if count)


def _object(found: Comparison, counts: dict[str, int]) -> dict[str, Any]:
    tests = [{**dataclasses.asdict(test), "result": test.result} for test in found.tests.values()]
    return {**{name.replace(" ", "_"): count for name, count in counts.items()}, "tests": tests}


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _inert(text: str) -> str:
    """The text on one line, without what could control a terminal or reorder what it shows."""
    return "".join(c if c.isprintable() else f"\\u{{{ord(c):x}}}" for c in text)


def _inert_lines(text: str) -> str:
    return "\n".join(_inert(line) for line in text.splitlines())


def _say(text: str, stream: Any, end: str = "\n") -> None:
    # A console may not have every character.
    encoding = getattr(stream, "encoding", None) or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding), file=stream, end=end)


if __name__ == "__main__":
    sys.exit(main())
