"""A good cassette survives everything, and what was paid for is not paid again."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import pytest

#: Ways in which a test does not pass, of which each has asked for two of three answers; what follows asks for the third.
MISHAPS = {
    "a failure": "assert not mishap()",
    "an exit": "if mishap(): raise SystemExit(0)",
    "an exception": "if mishap(): raise OSError()",
    "a group": "if mishap(): raise BaseExceptionGroup('several', [KeyError(), asyncio.CancelledError()])",
    "a cancellation": "if mishap(): raise asyncio.CancelledError()",
    "Ctrl-C": "if mishap(): os.kill(os.getpid(), signal.SIGINT)",
    "pytest.exit": "if mishap(): pytest.exit('enough')",
    "pytest.fail": "if mishap(): pytest.fail('mine')",
}

HEAD = """
import asyncio, os, signal, unittest
import openai, pytest

client = openai.OpenAI(base_url={url!r}, api_key="x")

def ask(text):
    answer = client.chat.completions.create(model="m", messages=[{{"role": "user", "content": text}}])
    return answer.choices[0].message.content

def mishap():
    return not os.path.exists("good")
"""

PLAIN = HEAD + """
@pytest.mark.retold
def test_it():
    assert ask("one") != ask("one")
    {way}
    ask("two")
"""

UNITTEST = HEAD + """
class Test(unittest.TestCase):
    @pytest.mark.retold
    def test_it(self):
        ask("one")
        ask("one")
        {way}
        ask("two")
"""

FIXTURES = HEAD + """
@pytest.fixture
def other():
    {before}
    yield
    ask("one")
    {after}

@pytest.mark.retold
def test_it(other):
    ask("one")
    ask("two")
"""

MISHAP = "if not os.path.exists('good'): raise OSError('mine')"

CODES = {
    **{name: PLAIN.replace("{way}", way) for name, way in MISHAPS.items()},
    "a subtest": PLAIN.replace("def test_it():", "def test_it(subtests):").replace(
        "{way}", "with subtests.test('part'): assert not mishap()\n    with subtests.test('other'): pass"
    ),
    "a failure of unittest": UNITTEST.replace("{way}", "self.assertFalse(mishap())"),
    "a subtest of unittest": UNITTEST.replace("{way}", "with self.subTest('part'): self.assertFalse(mishap())"),
    "an error of another fixture": FIXTURES.replace("{before}", f"ask('one')\n    {MISHAP}").replace("{after}", "pass"),
    "an error when another fixture is torn down": FIXTURES.replace("{before}", "pass").replace("{after}", MISHAP),
}


def run(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest_subprocess(*arguments)


@pytest.mark.parametrize("code", CODES.values(), ids=CODES)
def test_a_test_that_does_not_pass_leaves_the_cassette_and_its_answers_wait(pytester, model, code):
    pytester.makepyfile(test_it=code.format(url=f"{model.url}/v1"))
    good = pytester.path / "good"
    good.touch()
    assert run(pytester, "--retold=once").ret == 0
    (cassette,) = pytester.path.glob("cassettes/**/*.yaml")
    before, paid = cassette.read_bytes(), len(model.asked)
    good.unlink()
    assert run(pytester, "--retold=all").ret != 0
    assert cassette.read_bytes() == before
    failed = len(model.asked) - paid
    assert failed >= 1
    # What was paid for is not paid again.
    good.touch()
    assert run(pytester, "--retold=all").ret == 0
    assert len(model.asked) == 2 * paid and cassette.read_bytes() != before
    assert run(pytester).ret == 0
    assert len(model.asked) == 2 * paid
    # Nothing waits any more.
    assert run(pytester, "--retold=all").ret == 0
    assert len(model.asked) == 3 * paid


def test_answers_that_failed_a_test_twice_are_asked_again(pytester, model):
    pytester.makepyfile(test_it=PLAIN.replace("{way}", "assert not mishap()").format(url=f"{model.url}/v1"))
    for paid in (2, 2, 4):
        assert run(pytester, "--retold=once").ret == 1
        assert len(model.asked) == paid


def test_what_waits_is_still_there_after_a_kill(pytester, model):
    way = "if mishap(): os.kill(os.getpid(), signal.SIGKILL if os.path.exists('killed') else signal.SIGINT)"
    pytester.makepyfile(test_it=PLAIN.replace("{way}", way).format(url=f"{model.url}/v1"))
    for name in ("killed", "good"):
        assert run(pytester, "--retold=once").ret != 0
        assert len(model.asked) == 2
        (pytester.path / name).touch()
    assert run(pytester, "--retold=once").ret == 0
    assert len(model.asked) == 3


def test_a_test_that_passes_at_its_second_attempt_writes_what_that_asked(pytester, model):
    way = "open('good', 'w').close() if mishap() and os.path.exists('first') else open('first', 'w').close()\n    assert not mishap()"
    pytester.makepyfile(test_it=PLAIN.replace("{way}", way).format(url=f"{model.url}/v1"))
    result = run(pytester, "--retold=once", "--reruns=1")
    result.assert_outcomes(passed=1)
    # A rerun asks for other answers.
    assert len(model.asked) == 2 + 3
    assert run(pytester).ret == 0
    assert len(model.asked) == 5


def test_a_recording_that_asks_less_than_before_is_told(pytester, model):
    code = PLAIN.replace("{way}", "pass").format(url=f"{model.url}/v1")
    pytester.makepyfile(test_it=code)
    assert run(pytester, "--retold=once").ret == 0
    pytester.makepyfile(test_it=code.replace('ask("two")', 'ask("three")'))
    result = run(pytester, "--retold=new")
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*test_it.yaml: 1 of the answers that were recorded before*"])


@pytest.mark.parametrize("per", ["test", "module"])
def test_a_suite_that_is_interrupted_at_any_time_has_whole_cassettes(pytester, model, per):
    code = """
import openai, pytest
client = openai.OpenAI(base_url={url!r}, api_key="x")

@pytest.mark.retold
@pytest.mark.parametrize("n", range(40))
def test_it(n):
    for part in range(3):
        client.chat.completions.create(model="m", messages=[{{"role": "user", "content": f"{{n}} {{part}}"}}])
"""
    pytester.makepyfile(test_it=code.format(url=f"{model.url}/v1"))
    words = [sys.executable, "-m", "pytest", "-q", f"--retold-cassette-per={per}"]
    whole = 3 if per == "test" else 120
    chance = random.Random(51)
    # RETOLD_INTERRUPTIONS=100 takes ten minutes.
    for number in range(int(os.environ.get("RETOLD_INTERRUPTIONS", "3"))):
        how = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)[number % 3]
        suite = subprocess.Popen([*words, "--retold=all"], cwd=pytester.path, stdout=subprocess.DEVNULL)
        begun = len(model.asked)
        while len(model.asked) == begun and suite.poll() is None:
            time.sleep(0.01)
        time.sleep(chance.random())
        suite.send_signal(how)
        suite.wait()
        for cassette in pytester.path.glob("cassettes/**/*.yaml"):
            assert cassette.read_text().count("made-up answer") == whole
    assert subprocess.run([*words, "--retold=once"], cwd=pytester.path).returncode == 0
    asked = len(model.asked)
    assert subprocess.run(words, cwd=pytester.path).returncode == 0
    assert len(model.asked) == asked
