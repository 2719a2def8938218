"""The code in docs/python is run as it stands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs" / "python"
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str) -> list[tuple[str, str, str]]:
    return BLOCK.findall((DOCS / page).read_text(encoding="utf-8"))


def run(code: str, folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def environment(model) -> dict[str, str]:
    return {**os.environ, "OPENAI_BASE_URL": f"{model.url}/v1", "OPENAI_API_KEY": "x"}


@pytest.mark.parametrize("page", ["study.md", "parsers.md", "tools.md"])
def test_a_page_runs(page, environment, tmp_path):
    code = "\n".join(text for language, _, text in blocks(page) if language == "python")
    if page == "study.md":
        # The run that it records has ended, and is not continued.
        assert "retold.resume(" in code
        code = code.replace('retold.resume("study.db", "pilot-1")', 'retold.fork("study.db", "pilot-1")')
    assert run(code, tmp_path, environment).count("\n") >= 2


def test_the_study_is_replayed_without_a_key_a_variable_or_a_network(environment, model, tmp_path):
    recording, replay = [text for language, _, text in blocks("study.md") if language == "python"][:2]
    run(recording, tmp_path, environment)
    model.stop()
    definitions, _, _ = recording.partition("with retold.record(")
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        del environment[name]
    run(definitions + replay, tmp_path, environment)


def test_the_first_screen_of_the_readme(environment, tmp_path):
    ((_, _, code),) = [block for block in BLOCK.findall((ROOT / "README.md").read_text()) if block[0] == "python"]
    run(code, tmp_path, environment)
    assert (tmp_path / "study.db").exists()


def test_the_page_about_tests(environment, tmp_path):
    named = {name: text for language, name, text in blocks("tests.md") if language == "python" and name}
    name = "test_capital.py"
    suite = named.pop(name)
    # The others are the examples, which have a test of their own.
    for example, text in named.items():
        assert text in (ROOT / "examples" / "python" / example).read_text()
    # The made-up model repeats the question.
    (tmp_path / name).write_text(suite.replace("What is the capital of", "What is Paris the capital of"))
    commands = [text.split() for language, _, text in blocks("tests.md") if language == "sh" for text in text.splitlines()]
    assert len(commands) == 2
    for command in commands:
        done = subprocess.run(
            [sys.executable, "-m", *command, "-p", "no:cacheprovider"], cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout
        environment.pop("OPENAI_API_KEY", None)
    assert (tmp_path / "cassettes" / "test_capital" / "test_the_capital_of_france.yaml").exists()
