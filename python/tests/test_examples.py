"""The examples in examples/python: snapshots of decisions, replayed from cassettes that are committed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: Each with the lines that show how a decision of the changed parser differs from the snapshot.
SUITES = {
    "test_inline_snapshot.py": ["{'Ben': 'yes'} != {'Ben': 'no'}", "{'Cleo': 'no'} != {'Cleo': 'yes'}"],
    "test_syrupy.py": ["-   'Ben': 'no',", "+   'Ben': 'yes',"],
}


@pytest.fixture(params=SUITES)
def suite(request, tmp_path) -> tuple[str, Path]:
    folder = tmp_path / "python"
    shutil.copytree(ROOT / "examples" / "python", folder, ignore=shutil.ignore_patterns("__pycache__"))
    return request.param, folder


def replayed(suite: tuple[str, Path], *arguments: str) -> subprocess.CompletedProcess[str]:
    name, folder = suite
    # Not what the workers of pytest-xdist have.
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("OPENAI_", "PYTEST_"))}
    command = [sys.executable, "-m", "pytest", "-vv", "-p", "no:cacheprovider", *arguments, name]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def replace(folder: Path, name: str, before: str, after: str) -> None:
    text = (folder / name).read_text()
    assert text.count(before) == 1
    (folder / name).write_text(text.replace(before, after))


def test_the_decisions_are_those_of_the_snapshot(suite):
    done = replayed(suite)
    assert done.returncode == 0, done.stdout


def test_a_changed_parser_fails_and_shows_the_decisions_that_change(suite):
    name, folder = suite
    replace(folder, "votes.py", "found[-1]", "found[0]")
    done = replayed(suite)
    assert done.returncode == 1
    for line in SUITES[name]:
        assert line in done.stdout, done.stdout
    assert "'Ada': 'no'" not in done.stdout


def test_a_change_that_is_meant_is_accepted(suite):
    name, folder = suite
    replace(folder, "votes.py", "found[-1]", "found[0]")
    option = {"test_inline_snapshot.py": "--inline-snapshot=fix", "test_syrupy.py": "--snapshot-update"}[name]
    assert option in (folder / name).read_text()
    replayed(suite, option)
    done = replayed(suite)
    assert done.returncode == 0, done.stdout
