"""Functions and filters of vcr_config, in a suite of pytest-recording that runs on retold."""

from __future__ import annotations

import pytest

TAPE = """interactions:
- request:
    body: '{{"user": "{user}", "text": "hello"}}'
    headers:
      content-type: [application/json]
    method: {method}
    uri: {uri}
  response:
    body:
      string: '{{"said": "Hello."}}'
    headers:
      content-type: [application/json]
    status: {{code: 200, message: OK}}
version: 1
"""

SUITE = """
    import asyncio, io, json

    import aiohttp, httpx, pytest, requests

    URL = {url!r}
    BODY = {{"user": "me-7", "text": "hello"}}

    def by_httpx():
        return httpx.post(URL, json=BODY).json()

    def by_httpx_async():
        async def ask():
            async with httpx.AsyncClient() as client:
                return (await client.post(URL, json=BODY)).json()
        return asyncio.run(ask())

    def by_requests():
        return requests.post(URL, json=BODY).json()

    def by_requests_from_a_file():
        headers = {{"Content-Type": "application/json"}}
        return requests.post(URL, data=io.BytesIO(json.dumps(BODY).encode()), headers=headers).json()

    def by_aiohttp():
        async def ask():
            async with aiohttp.ClientSession() as session, session.post(URL, json=BODY) as answer:
                assert str(answer.url) == URL
                return await answer.json(content_type=None)
        return asyncio.run(ask())

    WAYS = [by_httpx, by_httpx_async, by_requests, by_requests_from_a_file, by_aiohttp]

    {function}

    @pytest.fixture(scope="module")
    def vcr_config():
        return {config}

    @pytest.mark.vcr
    @pytest.mark.default_cassette("one.yaml")
    @pytest.mark.parametrize("way", WAYS)
    def test_it(way):
        {test}
"""

SAYS_HELLO = 'assert way() == {"said": "Hello."}'
#: A client that keeps errors to itself.
KEEPS_QUIET = """
        try:
            way()
        except Exception:
            pass
"""
FUNCTION = """
    def change(request):
        assert request.headers["content-type"] == "application/json"
        body = json.loads(request.body)
        body["user"] = "someone"
        request.body = json.dumps(body)
        request.method = "PUT"
        request.uri = request.uri.replace("/v1/", "/v2/")
        return request
"""


def suite(pytester, config, *, url="https://api.example.org/v1/say", function="", test=SAYS_HELLO, tape=None):
    """Five tests, one for each way to ask, with one cassette."""
    pytester.makeini("[pytest]\nretold_vcr = true\nasyncio_default_fixture_loop_scope = function")
    if tape is not None:
        folder = pytester.mkdir("cassettes") / "test_suite"
        folder.mkdir()
        (folder / "one.yaml").write_text(TAPE.format(**{"user": "me-7", "method": "POST", "uri": url, **tape}))
    pytester.makepyfile(test_suite=SUITE.format(url=url, config=config, function=function.strip(), test=test.strip()))


def run(pytester, *arguments):
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", *arguments)


def cassettes(pytester):
    return sorted(path.read_text() for path in (pytester.path / "cassettes").rglob("*.yaml"))


@pytest.mark.parametrize(
    ("config", "tape"),
    [
        ("{'before_record_request': change}", {"user": "someone", "method": "PUT", "uri": "https://api.example.org/v2/say"}),
        ("{'before_record': change}", {"user": "someone", "method": "PUT", "uri": "https://api.example.org/v2/say"}),
        ("{'filter_post_data_parameters': [('user', 'X')]}", {"user": "X"}),
        ("{'filter_post_data_parameters': [('user', lambda key, value, request: value[:2])]}", {"user": "me"}),
    ],
)
def test_a_replay_looks_up_what_the_filters_return(pytester, config, tape):
    suite(pytester, config, function=FUNCTION, tape=tape)
    run(pytester).assert_outcomes(passed=5)


def test_a_replay_looks_up_urls_as_filters_of_the_query_leave_them(pytester):
    # vcrpy sorts the parameters, and writes them in its own form.
    url = "https://api.example.org/v1/say?to=me,you&id=7&lang=en"
    stored = {"uri": "https://api.example.org/v1/say?lang=en&to=me%2Cyou"}
    suite(pytester, "{'filter_query_parameters': ['id']}", url=url, tape=stored)
    run(pytester).assert_outcomes(passed=5)


def test_a_request_that_a_function_leaves_out_goes_past_the_cassette(pytester, model):
    function = "def leave_out(request):\n        return None if request.host == '127.0.0.1' else request"
    body = '{"messages": [{"content": "q"}]}'
    test = "assert httpx.post(%r, content=%r).json()['id'].startswith('chat-')" % (f"{model.url}/v1/x", body)
    suite(pytester, "{'before_record_request': leave_out}", function=function, test=test)
    run(pytester, "--record-mode=once").assert_outcomes(passed=5)
    # Nothing was recorded, and this machine may be asked in a replay.
    run(pytester).assert_outcomes(passed=5)
    assert len(model.asked) == 10 and not (pytester.path / "cassettes").exists()


def test_a_replay_refuses_a_request_that_a_function_leaves_out(pytester):
    test = """
        import retold
        with pytest.raises(Exception) as raised:
            way()
        causes = [raised.value]
        while causes[-1] is not None:
            causes.append(causes[-1].__cause__ or causes[-1].__context__)
        assert any(isinstance(one, retold.NotCaught) for one in causes)
    """
    suite(pytester, "{'before_record_request': lambda request: None}", test=test, tape={})
    run(pytester).assert_outcomes(passed=5, warnings=5)


@pytest.mark.parametrize(
    ("config", "changed"),
    [
        ("{'before_record_request': change}", "before_record_request of vcr_config changes the method"),
        ("{'filter_post_data_parameters': ['user']}", "filter_post_data_parameters of vcr_config changes the body"),
        ("{'filter_query_parameters': ['id']}", "filter_query_parameters of vcr_config changes the URL"),
    ],
)
@pytest.mark.parametrize("mode", ["once", "new_episodes", "all"])
def test_a_recording_refuses_a_changed_request_before_it_is_sent(pytester, model, mode, config, changed):
    url = f"{model.url}/v1/say?id=7"
    suite(pytester, config, url=url, function=FUNCTION, test=KEEPS_QUIET)
    result = run(pytester, f"--record-mode={mode}")
    result.assert_outcomes(passed=5, errors=5)
    result.stdout.fnmatch_lines([f"*{changed} of POST {model.url}/v1/say, and retold records what is sent*retold_vcr=false*"])
    assert not model.asked and not (pytester.path / "cassettes").exists()


def test_a_refused_request_fails_its_test_once(pytester, model):
    suite(pytester, "{'filter_post_data_parameters': ['user']}", url=f"{model.url}/v1/say")
    run(pytester, "--record-mode=once").assert_outcomes(failed=5)


def test_a_recording_takes_filters_that_change_nothing_that_is_kept(pytester, model):
    # Keys in queries and most headers are not recorded, and JSON is the same with other spaces.
    config = "{'filter_query_parameters': ['api_key'], 'filter_post_data_parameters': ['password'], 'before_record_request': mask}"
    mask = "def mask(request):\n        request.headers['x-trace'] = '-'\n        return request"
    url = f"{model.url}/v1/say?b=1&a=2&api_key=sk-real"
    suite(pytester, config, url=url, function=mask, test="assert way()")
    module = pytester.path / "test_suite.py"
    module.write_text(module.read_text().replace('"text": "hello"', '"messages": [{"content": "q"}]'))
    run(pytester, "--record-mode=all").assert_outcomes(passed=5)
    # What is sent is what the test asked.
    assert [path for path, _ in model.asked] == ["/v1/say?b=1&a=2&api_key=sk-real"] * 5
    assert "sk-real" not in "".join(cassettes(pytester))


def test_before_record_response_refuses_to_record(pytester, model):
    suite(pytester, "{'before_record_response': print}", url=f"{model.url}/v1/say")
    result = run(pytester, "--record-mode=once")
    result.assert_outcomes(errors=5)
    result.stdout.fnmatch_lines(["*before_record_response of vcr_config changes answers before they are recorded*"])
    assert not model.asked


def test_a_function_that_raises_is_seen_by_the_test(pytester):
    test = "with pytest.raises(ValueError, match='ours'):\n            way()"
    function = "def fail(request):\n        raise ValueError('ours')"
    suite(pytester, "{'before_record_request': fail}", function=function, test=test, tape={})
    run(pytester).assert_outcomes(passed=5, warnings=5)


def test_a_function_that_returns_something_else(pytester):
    suite(pytester, "{'before_record_request': lambda request: True}", test=KEEPS_QUIET, tape={})
    result = run(pytester)
    result.assert_outcomes(passed=5, errors=5)
    result.stdout.fnmatch_lines(["*before_record_request of vcr_config returned bool for POST https://api.example.org/v1/say*"])


def without_vcrpy(pytester, config, **options):
    suite(pytester, config, **options)
    pytester.makeconftest("import sys\nsys.modules['vcr'] = None")
    return run(pytester, "-p", "no:recording")


def test_without_vcrpy(pytester):
    result = without_vcrpy(pytester, "{'before_record_request': print}", tape={})
    result.assert_outcomes(errors=5)
    result.stdout.fnmatch_lines(["*before_record_request of vcr_config get* requests of vcrpy, which is not installed*pip install vcrpy*"])


def test_filters_of_keys_need_no_vcrpy(pytester):
    url = "https://api.example.org/v1/say?api_key=sk-real"
    config = "{'filter_query_parameters': ['api_key', ('token', 'X')]}"
    without_vcrpy(pytester, config, url=url, tape={"uri": "https://api.example.org/v1/say"}).assert_outcomes(passed=5)


def test_child_processes_are_not_recorded_while_requests_are_filtered(pytester, model, monkeypatch):
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    test = """
        import os, subprocess, sys
        show = "import os; print(os.environ.get('OPENAI_BASE_URL'))"
        assert subprocess.check_output([sys.executable, "-I", "-c", show], text=True) == "None\\n"
    """
    suite(pytester, "{'before_record_request': lambda request: request}", test=test)
    run(pytester, "--record-mode=once").assert_outcomes(passed=5)
    # Without a filter, they belong to the run.
    suite(pytester, "{}", test=test)
    run(pytester, "--record-mode=once").assert_outcomes(failed=5)
