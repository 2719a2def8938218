"""A plugin for pytest that runs the tests of pytest-recording and of vcrpy on retold: `pytest -p as_retold`.

Those of pytest-recording run in folders of their own, which get the one line that a suite needs. Those of vcrpy open
their cassettes themselves: `use_cassette` is replaced by `retold.cassette`, with the options that the marker honours.

- A request that is not recorded raises vcrpy's exception, where retold gives the client an error answer and fails the
  block at its end, so that what is compared is which requests match.
- `urlopen` asks by urllib3, because retold does not catch the standard library's own client.
- A cassette knows its `len`, `play_count` and `all_played`, and nothing else of vcrpy's.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import urllib3
import vcr
from vcr.errors import CannotOverwriteExistingCassetteException

import retold
from retold._errors import ReplayMismatch
from retold._session import ANSWER, Session, active
from retold._vcr import _excluded, _mode_of
from retold._vcr_filters import FILTERS, request_filter

#: Named in an answer that was recorded.
REPLAYED = "X-Retold-Replayed"


@pytest.fixture(autouse=True)
def _the_line_that_a_suite_needs(request):
    if "testdir" in request.fixturenames:
        request.getfixturevalue("testdir").makeini("[pytest]\nretold_vcr = true\n")


class NotRecorded(CannotOverwriteExistingCassetteException):
    def __init__(self) -> None:
        Exception.__init__(self, "this request is not recorded")


class Tape:
    """What a test sees of a cassette."""

    def __init__(self, known: int) -> None:
        self.known, self.play_count, self.recorded, self.taken, self.has_raised = known, 0, 0, 0, False

    def __len__(self) -> int:
        return self.known + self.recorded

    @property
    def all_played(self) -> bool:
        return self.play_count == len(self)

    def note(self, headers: Any) -> None:
        if ANSWER not in headers:
            if self.taken:
                self.has_raised = True
                raise NotRecorded()
            return
        self.taken -= 1
        if REPLAYED in headers:
            self.play_count += 1
        else:
            self.recorded += 1


#: The tape of the block that is active.
tapes: list[Tape] = []


class Use:
    """`use_cassette` as a block and as a decorator."""

    def __init__(self, settings: Any, path: Any, options: dict[str, Any]) -> None:
        self.settings, self.path, self.options = settings, path, options

    def __enter__(self) -> Tape:
        # It checks the options, and finds the path.
        merged = self.settings.get_merged_config(**self.options)
        transform = merged["path_transformer"]
        path = Path(transform(self.path) if transform else self.path)
        known = len(re.findall(r"^- (?:hash|request):", path.read_text(), re.M)) if path.exists() else 0
        hosts = {name: self.options.get(name, getattr(self.settings, name)) for name in ("ignore_hosts", "ignore_localhost")}
        mode = _mode_of(merged["record_mode"].value)
        filtered = request_filter({name: self.options.get(name, getattr(self.settings, name, None)) for name in FILTERS})
        self.block = retold.cassette(
            path, mode, hosts=("*",), exclude=_excluded(hosts), unused="ignore", _rewrite=filtered
        )
        self.block.__enter__()
        tapes.append(Tape(0 if mode == "all" else known))
        return tapes[-1]

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        tape = tapes.pop()
        try:
            self.block.__exit__(kind, error, trace)
        except ReplayMismatch:
            # The test has that already, and may have expected it.
            if not tape.has_raised:
                raise NotRecorded() from None

    def __call__(self, function: Any) -> Any:
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def run_async(*args: Any, **kwargs: Any) -> Any:
                with Use(self.settings, self.path, self.options):
                    return await function(*args, **kwargs)

            return run_async

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            with Use(self.settings, self.path, self.options):
                return function(*args, **kwargs)

        return run


def use_cassette(self: Any, path: Any = None, **options: Any) -> Any:
    if path is None or not isinstance(path, (str, os.PathLike)):
        pytest.fail("retold.cassette needs a path")
    return Use(self, path, options)


def urlopen(request: Any, data: Any = None, **_: Any) -> Any:
    if isinstance(request, str):
        request = urllib.request.Request(request)
    data = request.data if data is None else data
    headers = {key: _header(value) for key, value in request.header_items()}
    if data is not None:
        headers.setdefault("Content-Type", "application/x-www-form-urlencoded")
    method = "GET" if data is None else "POST"
    pool = urllib3.PoolManager(ca_certs=os.environ.get("REQUESTS_CA_BUNDLE"))
    answer = pool.request(method, request.full_url, body=data, headers=headers, preload_content=False, retries=urllib3.Retry(5, connect=0, read=0))
    answer.getcode = lambda: answer.status
    if answer.status >= 400:
        raise urllib.error.HTTPError(request.full_url, answer.status, answer.reason, answer.headers, answer)
    return answer


def _header(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(value)
    return value.decode() if isinstance(value, bytes) else str(value)


def pytest_configure(config: pytest.Config) -> None:
    vcr.VCR.use_cassette = use_cassette
    vcr.use_cassette = vcr.default_vcr.use_cassette
    urllib.request.urlopen = urlopen
    _watch()


def _watch() -> None:
    """Tells the tape of each answer."""
    import aiohttp
    import httpx
    import httpx2

    from retold import _catch

    _catch.install()
    told = Session.headers

    def headers(self: Session, *args: Any) -> Any:
        # Only asked for a request that retold takes.
        if tapes:
            tapes[-1].taken += 1
        return told(self, *args)

    Session.headers = headers

    def noted(response: Any) -> Any:
        if tapes:
            tapes[-1].note(response.headers)
        return response

    send = urllib3.connectionpool.HTTPConnectionPool.urlopen

    def urlopen_noted(self: Any, *args: Any, **kwargs: Any) -> Any:
        session = active()
        response = send(self, *args, **kwargs)
        # The way to retold is a pool, too.
        return response if session is not None and session.is_own(self.host, self.port) else noted(response)

    urllib3.connectionpool.HTTPConnectionPool.urlopen = urlopen_noted
    for library in (httpx, httpx2):
        _watch_httpx(library, noted)
    start = aiohttp.ClientResponse.start

    async def start_noted(self: Any, *args: Any, **kwargs: Any) -> Any:
        return noted(await start(self, *args, **kwargs))

    aiohttp.ClientResponse.start = start_noted


def _watch_httpx(library: Any, noted: Any) -> None:
    handle, handle_async = library.HTTPTransport.handle_request, library.AsyncHTTPTransport.handle_async_request

    def handle_noted(self: Any, request: Any) -> Any:
        return noted(handle(self, request))

    async def handle_async_noted(self: Any, request: Any) -> Any:
        return noted(await handle_async(self, request))

    library.HTTPTransport.handle_request = handle_noted
    library.AsyncHTTPTransport.handle_async_request = handle_async_noted
