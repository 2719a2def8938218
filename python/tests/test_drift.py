"""`python -m retold.drift` over suites of pytest-recording."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest


ROOT = Path(__file__).resolve().parents[2]
CASSETTES = ROOT.parent / "shared" / "data" / "cassettes"

SUITE = """
import httpx
import pytest

def ask(*texts, **more):
    said = []
    for text in texts:
        body = {"model": "m", "messages": [{"role": "user", "content": text}], **more}
        answer = httpx.post("https://api.openai.com/v1/chat/completions", json=body)
        said.append(answer.json()["choices"][0]["message"]["content"] if answer.status_code == 200 else None)
    return said
"""


def exchange(text):
    asked = json.dumps({"model": "m", "messages": [{"role": "user", "content": text}]})
    message = {"role": "assistant", "content": f"to {text}"}
    choices = [{"index": 0, "finish_reason": "stop", "message": message}]
    answer = json.dumps({"id": "a", "object": "chat.completion", "created": 1, "model": "m", "choices": choices})
    return {
        "request": {
            "method": "POST",
            "uri": "https://api.openai.com/v1/chat/completions",
            "body": asked,
            "headers": {"content-type": ["application/json"]},
        },
        "response": {
            "status": {"code": 200, "message": "OK"},
            "headers": {"content-type": ["application/json"]},
            "body": {"string": answer},
        },
    }


class Suite:
    """A suite whose cassettes answer the texts that are named."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "tests").mkdir()
        (folder / "pytest.ini").write_text("[pytest]\nasyncio_default_fixture_loop_scope = function\n")

    def add(self, name, tests, **cassettes):
        (self.folder / "tests" / f"{name}.py").write_text(SUITE + tests)
        for test, texts in cassettes.items():
            path = self.folder / "tests" / "cassettes" / name / f"{test}.yaml"
            path.parent.mkdir(parents=True, exist_ok=True)
            # JSON is YAML.
            path.write_text(json.dumps({"interactions": [exchange(text) for text in texts], "version": 1}))

    def files(self):
        # Not what Python itself keeps.
        found = (path for path in self.folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
        return {str(path): path.read_bytes() for path in found}

    def drift(self, *arguments, **environment):
        before = self.files()
        done = drift(*(arguments or ("tests",)), cwd=self.folder, **environment)
        assert self.files() == before
        return done


def drift(*arguments, cwd, **environment):
    command = [sys.executable, "-m", "retold.drift", *arguments]
    env = {**os.environ, **environment}
    return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, encoding="utf-8")


@pytest.fixture
def suite(tmp_path):
    return Suite(tmp_path)


def test_it_names_the_request_and_the_field_of_each_test_that_asks_something_else(suite):
    tests = """
@pytest.mark.vcr
def test_same():
    assert ask("one") == ["to one"]

@pytest.mark.vcr
def test_changed():
    ask("one", "number two")

@pytest.mark.vcr
def test_two_fields():
    ask("number one", temperature=0.5)
    ask("number one", temperature=0.5)

@pytest.mark.vcr
def test_stops_early():
    ask("one")

@pytest.mark.vcr
def test_asks_more():
    ask("one", "one")
"""
    recorded = {"test_same": ["one"], "test_changed": ["one", "two"], "test_two_fields": ["one", "one"]}
    suite.add("test_a", tests, **recorded, test_stops_early=["one", "two", "three"], test_asks_more=["one"])
    done = suite.drift()
    assert done.returncode == 1 and done.stderr == ""
    url = "POST openai/chat/completions"
    assert done.stdout.splitlines() == [
        "tests/test_a.py::test_changed",
        f'  {url}: messages.0.content is "number two", recorded "two"',
        "tests/test_a.py::test_two_fields",
        f'  {url}: messages.0.content is "number one", recorded "one" (2 fields differ)',
        "  2 requests in all",
        "tests/test_a.py::test_stops_early",
        "  never asked: 2 of 3 recorded answers",
        "tests/test_a.py::test_asks_more",
        f"  {url} is recorded once, and was asked again",
        "4 of 5 tests ask something else than was recorded.",
    ]
    done = suite.drift("--json", "tests", "--", "-k", "two_fields")
    said = json.loads(done.stdout)
    assert done.returncode == 1
    (test,) = said.pop("tests")
    assert said == {"as_recorded": 0, "differs": 1, "failed": 0, "no_cassette": 0, "skipped": 0, "unmarked": 0}
    assert test["result"] == "differs" and test["not_recorded"] == 2 and test["recorded"] == 2
    (one,) = test["differences"]
    assert one["request"] == url and (one["field"], one["fields"]) == ("messages.0.content", 2)
    assert (one["asked"], one["recorded"]) == ("number one", "one")


def test_tests_that_cannot_be_compared_are_counted(suite):
    tests = """
@pytest.mark.vcr
def test_same():
    assert ask("one") == ["to one"]

@pytest.mark.vcr
def test_fails_by_itself():
    ask("one")
    raise ValueError("its own\\nreason")

@pytest.mark.vcr
def test_without_a_cassette():
    ask("one")

@pytest.mark.vcr
def test_skipped():
    pytest.skip("not here")

@pytest.fixture
def broken():
    raise KeyError("fixture")

@pytest.mark.vcr
def test_with_a_broken_fixture(broken):
    pass

def test_of_something_else():
    raise SystemExit("this was run")
"""
    suite.add("test_a", tests, test_same=["one"], test_fails_by_itself=["one", "two"], test_with_a_broken_fixture=["one"])
    done = suite.drift()
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "tests/test_a.py::test_fails_by_itself",
        "  failed for another reason: ValueError: its own",
        "tests/test_a.py::test_with_a_broken_fixture",
        "  failed for another reason: KeyError: 'fixture'",
        "0 of 1 tests ask something else than was recorded. Not compared: 2 failed for another reason, "
        "1 has no cassette, 1 was skipped, 1 has no marker vcr.",
    ]


def test_a_suite_that_would_record_and_stop_at_the_first_failure_is_replayed_whole(suite, model):
    tests = f"""
@pytest.fixture(scope="module")
def vcr_config():
    return {{"record_mode": "new_episodes"}}

@pytest.mark.vcr
def test_changed():
    assert ask("number one") == ["to one"]

@pytest.mark.vcr
def test_asks_another_server():
    httpx.post("{model.url}/v1/chat/completions", json={{"messages": []}})

@pytest.mark.vcr
def test_asks_past_retold():
    import socket
    with pytest.raises(ConnectionError, match="a replay asks nobody"):
        socket.create_connection(("192.0.2.1", 80), timeout=1)
"""
    suite.add("test_a", tests, test_changed=["one"], test_asks_another_server=["one"], test_asks_past_retold=["one"])
    options = "addopts = -x -s -n 2 --record-mode=all --disable-recording --retold=all -W error\nretold_unused = error\n"
    with (suite.folder / "pytest.ini").open("a") as file:
        file.write(options)
    done = suite.drift()
    assert (done.returncode, done.stderr) == (1, "") and not model.asked
    assert done.stdout.splitlines()[-1] == "3 of 3 tests ask something else than was recorded."
    assert '/v1/chat/completions: model is not given, recorded "m" (3 fields differ)' in done.stdout


def test_requests_at_the_same_time_are_told_apart(suite):
    tests = """
@pytest.mark.vcr
def test_gathered():
    import asyncio
    async def both():
        async with httpx.AsyncClient() as client:
            await asyncio.gather(*(
                client.post(f"https://api.openai.com/v1/{path}", json={"model": "m", "messages": [], "input": "x"})
                for path in ("chat/completions", "embeddings", "chat/completions", "embeddings")
            ))
    asyncio.run(both())
"""
    suite.add("test_a", tests, test_gathered=["one"])
    done = suite.drift()
    assert done.returncode == 1
    assert "  POST openai/chat/completions: " in done.stdout and "  POST openai/embeddings: " in done.stdout


def test_text_of_tests_and_cassettes_cannot_control_a_terminal(suite):
    tests = """
@pytest.mark.vcr
def test_a():
    ask("one\\x1b[2J\\u202e\\nmore", **{"k\\x1b[2J": 1})

@pytest.mark.vcr
def test_b():
    raise ValueError("\\x1b[2J")
"""
    suite.add("test_a", tests, test_a=["o\u202ene\x1b[31m"])
    for arguments in ((), ("--json", "tests")):
        done = suite.drift(*arguments)
        assert done.returncode == 1
        assert "\x1b" not in done.stdout and "\u202e" not in done.stdout and "u{1b}[2J" in done.stdout


def test_nothing_to_compare(suite):
    suite.add("test_a", "def test_it():\n    pass\n")
    done = suite.drift()
    assert (done.returncode, done.stdout) == (2, "")
    assert "error: none of the tests in tests (1) has the marker vcr" in done.stderr
    suite.add("test_a", "")
    done = suite.drift()
    assert done.returncode == 2 and "error: there are no tests in tests: name a path with tests" in done.stderr
    suite.add("test_a", "@pytest.mark.vcr\ndef test_it():\n    ask('one')\n")
    done = suite.drift()
    assert done.returncode == 2
    assert done.stderr == "error: not one test in tests could be compared: 1 has no cassette; run pytest to see why\n"


def test_bad_input(suite):
    suite.add("test_a", "import nothing_of_this_name\n")
    done = suite.drift()
    assert (done.returncode, done.stdout) == (2, "")
    assert "error: pytest could not run these tests:" in done.stderr
    assert "No module named 'nothing_of_this_name'" in done.stderr
    done = suite.drift("nowhere/test_a.py::test_b")
    assert done.stderr == "error: there is no nowhere/test_a.py::test_b: name a file or folder of tests\n"
    assert done.returncode == 2
    done = suite.drift("tests", "--", "--no-such-option")
    assert done.returncode == 2 and "unrecognized arguments: --no-such-option" in done.stderr
    suite.add("conftest", "def pytest_sessionfinish():\n    raise OSError('a hook')\n")
    suite.add("test_a", "@pytest.mark.vcr\ndef test_it():\n    pass\n")
    done = suite.drift()
    assert done.returncode == 2 and "OSError: a hook" in done.stderr
    assert suite.drift("tests", "--wrong").returncode == 2
    assert suite.drift("--help").returncode == 0


def test_without_pytest(suite):
    (suite.folder / "without").mkdir()
    (suite.folder / "without" / "pytest.py").write_text("raise ImportError('not here')\n")
    path = os.pathsep.join([str(suite.folder / "without"), os.environ.get("PYTHONPATH", "")])
    done = suite.drift(PYTHONPATH=path)
    assert done.returncode == 2
    assert "error: pytest cannot be imported by " in done.stderr and "pip install pytest" in done.stderr


@pytest.mark.skipif(not CASSETTES.exists(), reason="../shared/data is not here: its cassettes are others' work")
def test_one_edited_prompt_among_twenty_tests(tmp_path):
    source = (ROOT / "python" / "tests" / "shared" / "suite.py").read_text()
    edited = source.replace('prompt=["Tell me a joke about opentelemetry"]', 'prompt=["Tell me a joke about tracing"]')
    assert edited != source
    (tmp_path / "suite.py").write_text(edited)
    done = drift("suite.py", cwd=tmp_path, RETOLD_CASSETTES=str(CASSETTES))
    assert done.returncode == 1, done.stderr
    assert done.stdout.splitlines() == [
        "suite.py::test_completion_langchain_style",
        '  POST openai/completions: prompt.0 is "Tell me a joke about tracing", '
        'recorded "Tell me a joke about opentelemetry"',
        "1 of 20 tests asks something else than was recorded.",
    ]
