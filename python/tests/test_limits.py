"""Limits of a client hold inside a block as they do outside: at the server, and for open files."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import aiohttp
import asking
import httpx
import pytest
import requests

import retold


class Crowd:
    """A server that counts how many requests it has at once."""

    def __init__(self) -> None:
        self.now = self.most = self.asked = 0
        self._loop = asyncio.new_event_loop()
        ready = threading.Event()
        threading.Thread(target=self._run, args=(ready,), daemon=True).start()
        ready.wait()

    def _run(self, ready: threading.Event) -> None:
        async def start() -> None:
            # More than wait in a queue of the usual length.
            server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=4096)
            self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1/chat/completions"
            ready.set()

        self._loop.run_until_complete(start())
        self._loop.run_forever()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while head := await self._head(reader):
            length = next(line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
            await reader.readexactly(int(length.split(b":")[1]))
            self.now, self.asked = self.now + 1, self.asked + 1
            self.most = max(self.most, self.now)
            await asyncio.sleep(0.05)
            self.now -= 1
            choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "yes"}}
            body = json.dumps({"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}).encode()
            writer.write(
                b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
            )
            await writer.drain()
        writer.close()

    async def _head(self, reader: asyncio.StreamReader) -> bytes:
        try:
            return await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, ConnectionError):
            return b""


@pytest.fixture
def crowd() -> Crowd:
    return Crowd()


def by_httpx(url):
    with httpx.Client(limits=httpx.Limits(max_connections=3), timeout=60) as client, ThreadPoolExecutor(20) as threads:
        return list(threads.map(lambda _: client.post(url, json=asking.BODY).status_code, range(20)))


def by_streams(url):
    def ask(client):
        with client.stream("POST", url, json=asking.BODY) as answer:
            return sum(map(len, answer.iter_bytes()))

    with httpx.Client(limits=httpx.Limits(max_connections=3), timeout=60) as client, ThreadPoolExecutor(20) as threads:
        return list(threads.map(lambda _: ask(client), range(20)))


def by_requests(url):
    with requests.Session() as session, ThreadPoolExecutor(16) as threads:
        session.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=3, pool_block=True))
        return list(threads.map(lambda _: session.post(url, json=asking.BODY).status_code, range(16)))




def by_httpx_async(url):
    async def all_at_once():
        async with httpx.AsyncClient(limits=httpx.Limits(max_connections=3), timeout=60) as client:
            return await asyncio.gather(*[client.post(url, json=asking.BODY) for _ in range(20)])

    return [answer.status_code for answer in asyncio.run(all_at_once())]


def by_aiohttp(url, **limits):
    async def ask(session):
        async with session.post(url, json=asking.BODY) as answer:
            return (await answer.read())[:1]

    async def all_at_once():
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(**limits)) as session:
            return await asyncio.gather(*[ask(session) for _ in range(20)])

    return asyncio.run(all_at_once())


@pytest.mark.parametrize(
    "ask",
    [by_httpx, by_streams, by_httpx_async, by_requests, lambda url: by_aiohttp(url, limit=3), lambda url: by_aiohttp(url, limit_per_host=3)],
    ids=["httpx", "streams", "httpx in asyncio", "requests", "aiohttp", "aiohttp per host"],
)
def test_a_limit_of_three_is_three_at_the_server(crowd, log, ask):
    outside = ask(crowd.url)
    assert crowd.most == 3
    with retold.record(log):
        assert ask(crowd.url) == outside
    assert crowd.most == 3 and crowd.asked == 2 * len(outside)
    with retold.replay(log):
        assert ask(crowd.url) == outside


def test_servers_have_a_limit_each(log):
    one, other = Crowd(), Crowd()

    async def ask(session, url):
        async with session.post(url, json=asking.BODY) as answer:
            return await answer.read()

    async def all_at_once():
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit_per_host=2)) as session:
            await asyncio.gather(*[ask(session, crowd.url) for crowd in (one, other) for _ in range(10)])

    with retold.record(log):
        started = time.monotonic()
        asyncio.run(all_at_once())
    assert one.most == other.most == 2, time.monotonic() - started


def test_waiting_for_a_connection_has_its_time_limit(crowd, log):
    with httpx.Client(limits=httpx.Limits(max_connections=1), timeout=httpx.Timeout(60, pool=0.01)) as client:
        with retold.record(log), client.stream("POST", crowd.url, json=asking.BODY):
            with pytest.raises(httpx.PoolTimeout):
                client.post(crowd.url, json=asking.BODY)


def test_a_proxy_of_the_client_s_own_is_refused_unless_retold_has_it_too(crowd, log, monkeypatch):
    monkeypatch.setenv("no_proxy", "")
    with retold.record(log):
        with httpx.Client(proxy="http://user:secret@proxy.example.org:3128") as client:
            with pytest.raises(retold.BlockError, match="has a proxy of its own") as refused:
                client.post("http://models.example.org/v1/chat/completions", json=asking.BODY)
        with pytest.raises(retold.BlockError, match="has a proxy of its own"):
            requests.post("http://models.example.org/v1/chat/completions", proxies={"http": "http://proxy.example.org:3128"})
    assert "secret" not in str(refused.value)
    proxy = crowd.url.removesuffix("/v1/chat/completions")
    monkeypatch.setenv("http_proxy", proxy)
    with retold.record(log) as run, httpx.Client(proxy=proxy) as client:
        assert client.post("http://models.example.org/v1/chat/completions", json=asking.BODY).status_code == 200
    assert run.summary["recorded"] == 1 and crowd.asked == 1


#: 1,500 calls at once, by clients that have 900 connections, where 1,024 files may be open.
CALLS = """
import contextlib, resource, sys
from concurrent.futures import ThreadPoolExecutor
import requests, retold, asking

resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
url, log = sys.argv[1:]
session = requests.Session()
session.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=900, pool_block=True))

def ask(_):
    try:
        return session.post(url, json=asking.BODY).status_code
    except Exception as error:
        return repr(error)

with retold.record(log) if log else contextlib.nullcontext(), ThreadPoolExecutor(1500) as threads:
    failures = [answer for answer in threads.map(ask, range(1500)) if answer != 200]
print(len(failures), failures[:1])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there, files have no such limit")
def test_as_many_calls_fail_as_outside_where_few_files_may_be_open(crowd, log):
    for name in ("", log):
        here = Path(asking.__file__).parent
        done = subprocess.run([sys.executable, "-c", CALLS, crowd.url, name], capture_output=True, text=True, cwd=here)
        assert done.stdout == "0 []\n", done.stderr
    assert crowd.asked == 3000


def test_the_same_with_httpx(crowd, log):
    async def ask(client):
        return (await client.post(crowd.url, json=asking.BODY)).status_code

    async def study():
        async with httpx.AsyncClient(limits=httpx.Limits(max_connections=150), timeout=60) as client:
            return await asyncio.gather(*[ask(client) for _ in range(300)])

    with retold.record(log):
        assert asyncio.run(study()) == [200] * 300
    assert crowd.most <= 150


def hooked(seen: list[tuple[str, object]]) -> dict[str, list]:
    """Event hooks that note what they see, and change a request as some clients do."""

    def request(asked: httpx.Request) -> None:
        asked.headers["x-hook"] = "was here"
        seen.append(("request", str(asked.url)))

    def response(answer: httpx.Response) -> None:
        answer.read()
        seen.append(("response", (str(answer.request.url), answer.status_code, answer.request.headers["x-hook"])))

    return {"request": [request], "response": [response]}


@pytest.mark.parametrize("http2", [False, True])
def test_event_hooks_and_http2_of_a_client_hold_inside_a_block_as_outside(model, log, http2):
    def ask() -> tuple[list[tuple[str, object]], list[tuple[str, object]]]:
        seen: list[tuple[str, object]] = []
        seen_async: list[tuple[str, object]] = []
        body = {"model": "m", "messages": [{"role": "user", "content": "q"}]}
        with httpx.Client(http2=http2, event_hooks=hooked(seen)) as client:
            client.post(f"{model.url}/v1/chat/completions", json=body)
        hooks = hooked(seen_async)

        async def request(asked: httpx.Request) -> None:
            hooks["request"][0](asked)

        async def response(answer: httpx.Response) -> None:
            await answer.aread()
            hooks["response"][0](answer)

        async def once() -> None:
            async with httpx.AsyncClient(http2=http2, event_hooks={"request": [request], "response": [response]}) as client:
                await client.post(f"{model.url}/v1/chat/completions", json=body)

        asyncio.run(once())
        return seen, seen_async

    outside = ask()
    assert len(outside[0]) == len(outside[1]) == 2
    with retold.record(log):
        assert ask() == outside
    with retold.replay(log):
        assert ask() == outside
