"""One cassette for several tests: each gets its own answers, whichever of the others are run with it."""

from __future__ import annotations

import random

import pytest

#: Tests that ask the same, in as many ways as there are, and keep what they were told when it was recorded.
SUITE = """
import os, pathlib, shutil, subprocess, sys
import openai, pytest
from concurrent.futures import ProcessPoolExecutor

client = openai.OpenAI(base_url={url!r}, api_key="x")
pool = ProcessPoolExecutor(1)

def ask(text="the same"):
    answer = client.chat.completions.create(model="m", messages=[{{"role": "user", "content": text}}])
    return answer.choices[0].message.content

def check(name, *answers):
    kept = pathlib.Path({kept!r}, name)
    if os.environ.get("RECORDING"):
        kept.write_text(repr(answers))
    assert repr(answers) == kept.read_text()

CODE = "import test_{module}; print(test_{module}.ask())"
CURL = [shutil.which("curl"), "-s", "{url}/chat/completions", "-d", '{{"model": "m", "messages": [{{"role": "user", "content": "curl"}}]}}']

@pytest.fixture(scope="module", params=["a", "b"])
def wide(request):
    made = ask()
    yield request.param, made
    check("{module} wide end " + request.param, made, ask())

@pytest.fixture
def narrow():
    yield ask()
    ask()

@pytest.mark.retold
@pytest.mark.parametrize("n", range(4))
def test_n(n):
    check(f"{module} {{n}}", ask(), ask())

def test_fixtures(retold, wide, narrow):
    name, made = wide
    check("{module} fixtures " + name, made, narrow, ask())

class TestNamed:
    @pytest.mark.parametrize("who", ["Ada", "Ben/Cleo", "x" * 150])
    def test_n(self, retold, who):
        with retold.call("vote", participant=who):
            said = ask()
        retold.decide("vote", "yes", response=f"vote/{{who.replace('/', '%2F')}}")
        check("{module} named " + who[:5].replace("/", "-"), said)

@pytest.mark.retold
@pytest.mark.parametrize("n", range(2))
def test_child(n):
    command = [sys.executable, "-c", CODE]
    check(f"{module} child {{n}}", subprocess.run(command, capture_output=True, text=True, check=True).stdout)

@pytest.mark.retold
@pytest.mark.parametrize("n", range(2))
def test_pool(n):
    check(f"{module} pool {{n}}", pool.submit(ask).result())

@pytest.mark.retold
@pytest.mark.skipif(not CURL[0], reason="no curl")
@pytest.mark.parametrize("n", range(2))
def test_another_program(n):
    # It knows nothing of retold but its address.
    base = os.environ.get("OPENAI_BASE_URL") or "{url}"
    code = "echo $OPENAI_BASE_URL"
    base = subprocess.run(["sh", "-c", code], capture_output=True, text=True).stdout.strip() or base
    command = [*CURL[:2], f"{{base}}/chat/completions", "-H", "content-type: application/json", *CURL[3:]]
    check(f"{module} other {{n}}", subprocess.run(command, capture_output=True, text=True, check=True).stdout)
"""


@pytest.mark.parametrize("per", ["module", "session"])
def test_every_subset_gets_its_own_answers(pytester, model, monkeypatch, per):
    kept = pytester.mkdir("kept")
    for module in ("one", "two"):
        code = SUITE.format(url=f"{model.url}/v1", kept=str(kept), module=module)
        pytester.makepyfile(**{f"test_{module}": code})
    monkeypatch.setenv("OPENAI_BASE_URL", f"{model.url}/v1")
    option = f"--retold-cassette-per={per}"
    with monkeypatch.context() as patch:
        patch.setenv("RECORDING", "yes")
        assert pytester.runpytest_subprocess(option, "--retold=once").ret == 0
    said = [file.read_text() for file in kept.iterdir()]
    assert len(set(said)) == len(said)
    model.stop()
    assert pytester.runpytest_subprocess(option).ret == 0
    assert pytester.runpytest_subprocess(option, "-n", "3").ret == 0
    listed = pytester.runpytest_subprocess(option, "--collect-only", "-q").outlines
    tests = [line for line in listed if "::" in line]
    assert len(tests) == 30
    chance = random.Random(51)
    # Whatever comes first.
    fixtures = [test for test in tests if "fixtures" in test]
    for subset in [fixtures[1:], *(chance.sample(tests, size) for size in (1, 3, 8))]:
        assert pytester.runpytest_subprocess(option, *subset).ret == 0, subset


def test_a_test_that_is_not_recorded_does_not_get_the_answer_of_another(pytester, model):
    code = """
import openai, pytest
client = openai.OpenAI(base_url={url!r}, api_key="x")

@pytest.mark.retold
@pytest.mark.parametrize("n", range({count}))
def test_n(n):
    client.chat.completions.create(model="m", messages=[{{"role": "user", "content": "the same"}}])
"""
    pytester.makepyfile(test_it=code.format(url=f"{model.url}/v1", count=1))
    assert pytester.runpytest_subprocess("--retold-cassette-per=module", "--retold=once").ret == 0
    pytester.makepyfile(test_it=code.format(url=f"{model.url}/v1", count=2))
    result = pytester.runpytest_subprocess("--retold-cassette-per=module", "-k", "1]")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*X-Retold-Call*", "*test_n[[]0]*", "*test_n[[]1]*"])
