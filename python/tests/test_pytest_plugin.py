"""The plugin, as a project would use it."""

from __future__ import annotations

from pathlib import Path

import pytest

from retold._program import program

SUITE = """
    import openai
    import pytest

    # Made at import, without a key of its own in CI.
    client = openai.OpenAI(base_url={url!r})

    def ask(text):
        answer = client.chat.completions.create(model="m", messages=[{{"role": "user", "content": text}}])
        return answer.choices[0].message.content

    @pytest.mark.retold
    def test_one():
        assert ask("one").endswith("one")

    @pytest.mark.retold
    @pytest.mark.parametrize("word", ["a", "b/c", "x" * 150])
    def test_words(word):
        assert ask(word).endswith(word)

    def test_samples(retold):
        with retold.call("sample"):
            assert ask("same") != ask("same")

    def test_without_a_model():
        assert True
"""


@pytest.fixture
def suite(pytester: pytest.Pytester, model, monkeypatch) -> pytest.Pytester:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    pytester.makepyfile(test_suite=SUITE.format(url=f"{model.url}/v1"))
    return pytester


def run(suite: pytest.Pytester, *arguments: str, key: bool = False) -> pytest.RunResult:
    if key:
        suite._env_run_update["OPENAI_API_KEY"] = "sk-real"  # type: ignore[attr-defined]
    return suite.runpytest_subprocess("-p", "no:cacheprovider", *arguments)


def recorded(suite: pytest.Pytester, monkeypatch, *arguments: str) -> pytest.RunResult:
    with monkeypatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "sk-real")
        return run(suite, "--retold=once", *arguments)


def cassettes(suite: pytest.Pytester) -> dict[str, str]:
    folder = suite.path / "cassettes"
    return {str(path.relative_to(folder)): path.read_text() for path in sorted(folder.rglob("*.yaml"))}


def test_a_suite_is_recorded_once_and_replayed_strictly(suite, model, monkeypatch):
    # Without cassettes, tests that want one fail, and say what to do.
    result = run(suite)
    result.assert_outcomes(passed=1, failed=5, errors=5)
    result.stdout.fnmatch_lines(["*there is no cassette*pytest --retold=once*"])
    # The summary has the reason.
    result.stdout.fnmatch_lines(["ERROR test_suite.py::test_one - ReplayMismatch: there is no cassette*"])
    recorded(suite, monkeypatch).assert_outcomes(passed=6)
    first = cassettes(suite)
    assert len(first) == 5 and all(len(Path(name).name) <= 110 for name in first)
    assert "sk-real" not in "".join(first.values())
    asked = len(model.asked)
    # In CI: no key, no network.
    run(suite).assert_outcomes(passed=6)
    recorded(suite, monkeypatch).assert_outcomes(passed=6)
    assert len(model.asked) == asked and cassettes(suite) == first


def test_a_changed_prompt_fails_that_test_alone_with_the_difference(suite, model, monkeypatch):
    recorded(suite, monkeypatch).assert_outcomes(passed=6)
    module = suite.path / "test_suite.py"
    module.write_text(module.read_text().replace('ask("one")', 'ask("number one")'))
    result = run(suite)
    result.assert_outcomes(passed=5, failed=1)
    result.stdout.fnmatch_lines(["*first difference at messages.0.content*", "*recorded*one*", "*asked now*number one*"])
    with monkeypatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "sk-real")
        run(suite, "--retold=new").assert_outcomes(passed=6)
    assert "number one" in cassettes(suite)["test_suite/test_one.yaml"]


def test_an_answer_that_a_test_does_not_ask_for(suite, model, monkeypatch):
    recorded(suite, monkeypatch).assert_outcomes(passed=6)
    module = suite.path / "test_suite.py"
    module.write_text(module.read_text().replace('assert ask("same") != ask("same")', 'ask("same")'))
    result = run(suite, "-k", "samples")
    result.assert_outcomes(passed=1, errors=1, deselected=5)
    result.stdout.fnmatch_lines(["*1 recorded request was never asked: sample*"])
    run(suite, "-k", "samples", "-o", "retold_unused=warn").assert_outcomes(passed=1, warnings=1, deselected=5)


def test_recording_twice_gives_the_same_bytes_if_the_answers_are_the_same(suite, model, monkeypatch):
    recorded(suite, monkeypatch).assert_outcomes(passed=6)
    first = cassettes(suite)
    with monkeypatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "sk-real")
        model.numbers = iter(range(1000))
        run(suite, "--retold=all").assert_outcomes(passed=6)
    assert cassettes(suite) == first


def test_a_failing_test_writes_nothing(suite, model, monkeypatch):
    module = suite.path / "test_suite.py"
    module.write_text(module.read_text().replace('.endswith("one")', '.endswith("two")'))
    recorded(suite, monkeypatch).assert_outcomes(passed=5, failed=1)
    assert "test_suite/test_one.yaml" not in cassettes(suite)


def test_drift_asks_and_writes_nothing(suite, model, monkeypatch):
    recorded(suite, monkeypatch).assert_outcomes(passed=6)
    first = cassettes(suite)
    with monkeypatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "sk-real")
        model.numbers = iter(range(1000))
        run(suite, "--retold=drift").assert_outcomes(passed=6)
        # Another answer than before.
        result = run(suite, "--retold=drift", "-k", "test_one")
        result.assert_outcomes(passed=1, errors=1, deselected=5)
        result.stdout.fnmatch_lines(["*-*made-up answer 0 to one*", "*+*made-up answer*to one*"])
        result.stdout.no_fnmatch_line("*id: chat-*")
    assert cassettes(suite) == first


def test_what_drifted_waits_for_a_review(suite, model, monkeypatch):
    recorded(suite, monkeypatch).assert_outcomes(passed=6)
    first = cassettes(suite)
    with monkeypatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "sk-real")
        result = suite.runpytest_subprocess("--retold=drift", "-k", "test_one or samples")
        result.assert_outcomes(passed=2, errors=2, deselected=4)
        result.stdout.fnmatch_lines(["`retold cassette review` shows all that differs, and accepts it"])
    assert cassettes(suite) == first
    reviewed = suite.run(program(), "cassette", "review", "--accept")
    assert reviewed.ret == 0
    reviewed.stdout.fnmatch_lines(["2 cassettes: 2 accepted, 0 rejected, 0 left"])
    assert cassettes(suite) != first
    run(suite).assert_outcomes(passed=6)


@pytest.mark.parametrize(("per", "file"), [("module", "test_suite.yaml"), ("session", "session.yaml")])
def test_one_cassette_for_a_module_or_for_all(suite, model, monkeypatch, per, file):
    recorded(suite, monkeypatch, f"--retold-cassette-per={per}").assert_outcomes(passed=6)
    assert list(cassettes(suite)) == [file]
    asked = len(model.asked)
    run(suite, f"--retold-cassette-per={per}").assert_outcomes(passed=6)
    run(suite, f"--retold-cassette-per={per}", "-k", "samples").assert_outcomes(passed=1, deselected=5)
    assert len(model.asked) == asked


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_at_the_end_pytest_says_what_differs(suite, monkeypatch, workers):
    recorded(suite, monkeypatch).assert_outcomes(passed=6)
    module = suite.path / "test_suite.py"
    # The first fails by the error of its client, and the second swallows it.
    code = module.read_text().replace('ask("one")', 'ask("number one")')
    module.write_text(code.replace('assert ask(word).endswith(word)', 'swallowed(word)').replace(
        "@pytest.mark.retold\ndef test_one", """def swallowed(word):
    try:
        ask(word + "?")
    except openai.APIError:
        pass

@pytest.mark.retold
def test_one"""))
    result = run(suite, *workers)
    assert result.ret == 1
    end = "\n".join(result.outlines).partition("retold: what differs from the cassettes")[2]
    assert "test_suite.py::test_one\n" in end and "asked now number one" in end
    assert "test_suite.py::test_words[a]\n" in end and "asked now a?" in end
    assert "test_samples" not in end and "pytest --retold=all TEST" in end


def test_in_parallel(suite, model, monkeypatch):
    recorded(suite, monkeypatch, "-n", "2").assert_outcomes(passed=6)
    assert len(cassettes(suite)) == 5
    run(suite, "-n", "2").assert_outcomes(passed=6)


def test_an_unknown_option_of_the_marker(pytester):
    pytester.makepyfile(
        """
        import pytest

        @pytest.mark.retold(hostes=["x"])
        def test_it():
            pass
        """
    )
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*has no option 'hostes'; it has path, hosts*"])


def test_async_tests(pytester, model, monkeypatch):
    pytester.makeini("[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function")
    pytester.makepyfile(
        f"""
        import openai, pytest

        client = openai.AsyncOpenAI(base_url="{model.url}/v1", api_key="x")

        @pytest.mark.retold
        @pytest.mark.parametrize("n", [1, 2])
        async def test_it(n):
            answer = await client.chat.completions.create(model="m", messages=[{{"role": "user", "content": f"q{{n}}"}}])
            assert answer.choices[0].message.content.endswith(f"q{{n}}")
        """
    )
    pytester.runpytest_subprocess("--retold=once").assert_outcomes(passed=2)
    pytester.runpytest_subprocess().assert_outcomes(passed=2)


def test_nothing_is_left_open(pytester, model):
    pytester.makepyfile(
        f"""
        import openai, pytest

        @pytest.mark.retold
        def test_it():
            with openai.OpenAI(base_url="{model.url}/v1", api_key="x") as client:
                client.chat.completions.create(model="m", messages=[{{"role": "user", "content": "q"}}])
        """
    )
    pytester.runpytest_subprocess("-p", "no:asyncio", "-W", "error", "--retold=once").assert_outcomes(passed=1)
    pytester.runpytest_subprocess("-p", "no:asyncio", "-W", "error").assert_outcomes(passed=1)


def test_an_edited_cassette_names_the_request(suite, monkeypatch):
    recorded(suite, monkeypatch).assert_outcomes(passed=6)
    path = suite.path / "cassettes" / "test_suite" / "test_one.yaml"
    path.write_text(path.read_text().replace("content: one", "content: two"))
    result = run(suite, "-k", "test_one")
    result.assert_outcomes(errors=1, deselected=5)
    result.stdout.fnmatch_lines(["*test_one.yaml, exchanges.0 (line *): the request was edited*"])


VCR = """
    import httpx
    import pytest

    @pytest.fixture(scope="module")
    def vcr_config():
        return {{"filter_headers": ["authorization"], "match_on": ["method", "uri"], "before_record_response": print}}

    def ask(text):
        body = {{"model": "m", "messages": [{{"role": "user", "content": text}}]}}
        answer = httpx.post("https://api.example.org/v1/chat/completions", json=body)
        return answer.json()["choices"][0]["message"]["content"]

    @pytest.mark.vcr
    def test_one():
        assert ask({asked!r}) == "Hello."

    class TestMore:
        @pytest.mark.vcr
        def test_two(self):
            assert ask("hello") == "Hello."
"""

TAPE = """interactions:
- request:
    body: '{"model": "m", "messages": [{"role": "user", "content": "hello"}]}'
    headers:
      content-type: [application/json]
    method: POST
    uri: https://api.example.org/v1/chat/completions
  response:
    body:
      string: '{"id": "a", "object": "chat.completion", "created": 1, "model": "m", "choices": [{"index": 0,
        "finish_reason": "stop", "message": {"role": "assistant", "content": "Hello."}}]}'
    headers:
      content-type: [application/json]
    status: {code: 200, message: OK}
version: 1
"""


def test_a_suite_of_pytest_recording_is_replayed_as_it_is_but_strictly(pytester):
    pytester.makeini("[pytest]\nretold_vcr = true\nasyncio_default_fixture_loop_scope = function")
    folder = pytester.mkdir("cassettes") / "test_vcr"
    folder.mkdir()
    for name in ("test_one", "TestMore.test_two"):
        (folder / f"{name}.yaml").write_text(TAPE)
    pytester.makepyfile(test_vcr=VCR.format(asked="hello"))
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(passed=2, warnings=2)
    result.stdout.fnmatch_lines(["*does not apply before_record_response of vcr_config*"])
    # vcrpy, matching method and URL, plays the old answer to another question.
    pytester.makepyfile(test_vcr=VCR.format(asked="goodbye"))
    result = pytester.runpytest_subprocess()
    assert result.parseoutcomes()["passed"] == 1 and result.ret == 1
    result.stdout.fnmatch_lines(["*first difference at messages.0.content*"])
    assert (folder / "test_one.yaml").read_text() == TAPE


def test_a_test_that_asks_nothing_needs_no_cassette(pytester, model):
    pytester.makepyfile(
        """
        import pytest
        pytestmark = pytest.mark.retold

        def test_it():
            assert 1 + 1 == 2
        """
    )
    pytester.runpytest_subprocess("--retold=once").assert_outcomes(passed=1)
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_two_tests_do_not_share_a_cassette(pytester, model):
    pytester.makepyfile(
        """
        import pytest
        pytestmark = pytest.mark.retold(path="shared.yaml")

        def test_one():
            pass

        def test_two():
            pass
        """
    )
    result = pytester.runpytest_subprocess("--retold=once")
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*test_two and *test_one have the same cassette*"])


def test_a_marker_that_names_two_cassettes_is_replayed_from_both(pytester):
    pytester.makeini("[pytest]\nretold_vcr = true\nasyncio_default_fixture_loop_scope = function")
    (pytester.path / "one.yaml").write_text(TAPE)
    (pytester.path / "two.yaml").write_text(TAPE.replace("hello", "goodbye").replace("Hello.", "Goodbye."))
    pytester.makepyfile(
        """
        import httpx
        import pytest

        def ask(text):
            body = {"model": "m", "messages": [{"role": "user", "content": text}]}
            answer = httpx.post("https://api.example.org/v1/chat/completions", json=body)
            return answer.json()["choices"][0]["message"]["content"]

        @pytest.fixture(scope="module")
        def vcr_cassette_dir():
            return "."

        pytestmark = pytest.mark.vcr("one.yaml")

        @pytest.mark.vcr("two.yaml", "one.yaml")
        def test_both():
            assert [ask("goodbye"), ask("hello")] == ["Goodbye.", "Hello."]

        @pytest.mark.default_cassette("two.yaml")
        def test_one_that_is_named(default_cassette_name):
            assert default_cassette_name == "two.yaml"
            assert [ask("goodbye"), ask("hello")] == ["Goodbye.", "Hello."]
        """
    )
    pytester.runpytest_subprocess().assert_outcomes(passed=2)


def test_a_suite_of_pytest_recording_records_whatever_it_asks(pytester, model):
    pytester.makeini("[pytest]\nretold_vcr = true\nasyncio_default_fixture_loop_scope = function")
    name = "n" * 200
    pytester.makepyfile(
        f"""
        import httpx
        import pytest

        @pytest.mark.vcr
        @pytest.mark.parametrize("n", [1], ids=["{name}"])
        def test_it(n):
            body = {{"messages": [{{"content": "q"}}]}}
            assert httpx.post("{model.url}/anything", json=body).status_code == 200
        """
    )
    pytester.runpytest_subprocess("--record-mode=once").assert_outcomes(passed=1)
    (cassette,) = (pytester.path / "cassettes").rglob("*.yaml")
    assert "/anything" in cassette.read_text()
    model.stop()
    pytester.runpytest_subprocess().assert_outcomes(passed=1)


def test_block_network_of_pytest_recording_still_blocks_tests_without_a_cassette(pytester, model):
    pytester.makeini("[pytest]\nretold_vcr = true\nasyncio_default_fixture_loop_scope = function")
    folder = pytester.mkdir("cassettes") / "test_blocked"
    folder.mkdir()
    (folder / "test_with_a_cassette.yaml").write_text(TAPE)
    pytester.makepyfile(
        test_blocked=f"""
        import httpx
        import pytest
        import socket

        def test_without_one():
            with pytest.raises(RuntimeError, match="Network is disabled"):
                httpx.get("{model.url}/x")

        @pytest.mark.vcr
        def test_with_a_cassette():
            body = {{"model": "m", "messages": [{{"role": "user", "content": "hello"}}]}}
            assert httpx.post("https://api.example.org/v1/chat/completions", json=body).status_code == 200
            # What blocked the first test has not taken this away.
            with pytest.raises(ConnectionError, match="a replay asks nobody"):
                socket.create_connection(("192.0.2.1", 80), timeout=1)
        """
    )
    pytester.runpytest_subprocess("--block-network").assert_outcomes(passed=2)
