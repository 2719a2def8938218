"""Ways in which a program can ask a model. Those of the standard library are in `asking.py`, which child processes run, too."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import multiprocessing
import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asking

#: A host that is not this machine. A test that lets something be reached there has a proxy.
ELSEWHERE = "models.example.org"

SCRIPT = str(Path(__file__).with_name("asking.py"))


@dataclass
class Way:
    """A way, in words, and how it asks a server for something; `around` is opened before the block."""

    words: str
    ask: Callable[..., Any]
    around: Callable[[], Any] = contextlib.nullcontext
    needs: Callable[[], bool] = lambda: True


#: By the title of their part of the table.
WAYS: dict[str, list[Way]] = {"In the process": [], "In a process that is started": [], "In a pool of processes": []}
WAYS["Past all of that"] = []


def _way(part: str, words: str, **more: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def add(ask: Callable[..., Any]) -> Callable[..., Any]:
        WAYS[part].append(Way(words, ask, **more))
        return ask

    return add


# -- in the process

_here = "In the process"


@_way(_here, "`httpx`, and what stands on it: `openai`, `anthropic`, `google-genai`, LangChain, LiteLLM")
def by_httpx(url: str) -> Any:
    import httpx

    return httpx.post(url, json=asking.BODY).json()


@_way(_here, "`httpx` in asyncio")
def by_httpx_async(url: str) -> Any:
    import httpx

    async def ask() -> Any:
        async with httpx.AsyncClient() as client:
            return (await client.post(url, json=asking.BODY)).json()

    return asyncio.run(ask())


@_way(_here, "`requests`, `urllib3`, `botocore`")
def by_requests(url: str) -> Any:
    import requests

    return requests.post(url, json=asking.BODY).json()


@_way(_here, "`aiohttp`")
def by_aiohttp(url: str) -> Any:
    import aiohttp

    async def ask() -> Any:
        async with aiohttp.ClientSession() as session, session.post(url, json=asking.BODY) as answer:
            return await answer.json()

    return asyncio.run(ask())


@_way(_here, "`httpcore`")
def by_httpcore(url: str) -> Any:
    import httpcore

    return asking.read(httpcore.request("POST", url, headers=asking.HEADERS, content=asking.SENT).content)


_way(_here, "`urllib.request`, `http.client`, also to a model on this machine")(asking.ask)


@_way(_here, "a library in C or Rust that reads the variables of its provider")
def by_variables_of_c(url: str) -> Any:
    import ctypes

    read = ctypes.CDLL(None).getenv
    read.restype = ctypes.c_char_p
    base = read(b"OPENAI_BASE_URL").decode()
    return asking.ask(f"{base}/chat/completions")


# -- in a process that is started

_started = "In a process that is started"
_python = [sys.executable, SCRIPT]


def _can(name: str) -> Callable[[], bool]:
    return lambda: hasattr(os, name)


@_way(_started, "`os.fork`", needs=_can("fork"))
def by_fork(url: str) -> Any:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(writing, str(asking.ask(url)).encode())
        os._exit(0)
    os.close(writing)
    os.waitpid(pid, 0)
    with open(reading) as said:
        return said.read()


@_way(_started, "`subprocess`")
def by_subprocess(url: str) -> Any:
    return subprocess.check_output([*_python, url])


@_way(_started, "`subprocess`, with an environment of its own")
def by_environment(url: str) -> Any:
    return subprocess.check_output([*_python, url], env={"PATH": os.environ["PATH"]})


@_way(_started, "`asyncio.create_subprocess_exec`")
def by_asyncio(url: str) -> Any:
    async def ask() -> Any:
        child = await asyncio.create_subprocess_exec(*_python, url, stdout=subprocess.PIPE)
        return (await child.communicate())[0]

    return asyncio.run(ask())


@_way(_started, "`os.system`")
def by_system(url: str) -> Any:
    return os.system(shlex.join([*_python, url]))


@_way(_started, "`os.popen`")
def by_popen(url: str) -> Any:
    return os.popen(shlex.join([*_python, url])).read()


@_way(_started, "`os.spawnv`")
def by_spawnv(url: str) -> Any:
    return os.spawnv(os.P_WAIT, sys.executable, [*_python, url])


@_way(_started, "`os.spawnve`")
def by_spawnve(url: str) -> Any:
    return os.spawnve(os.P_WAIT, sys.executable, [*_python, url], dict(os.environ))


@_way(_started, "`os.posix_spawn`", needs=_can("posix_spawn"))
def by_posix_spawn(url: str) -> Any:
    return os.waitpid(os.posix_spawn(sys.executable, [*_python, url], os.environ), 0)[1]


@_way(_started, "`os.fork` and `os.execv`", needs=_can("fork"))
def by_exec(url: str) -> Any:
    pid = os.fork()
    if pid == 0:
        os.execv(sys.executable, [*_python, url])
    return os.waitpid(pid, 0)[1]


@_way(_started, "`pexpect`")
def by_pexpect(url: str) -> Any:
    import pexpect

    return pexpect.spawn(sys.executable, [SCRIPT, url], timeout=60).read()


@_way(_started, "`!python` in a notebook")
def by_notebook(url: str) -> Any:
    from IPython.utils.process import getoutput, system

    return system(shlex.join([*_python, url])), getoutput(shlex.join([*_python, url, "again"]))


@_way(_started, "`multiprocessing.Process`")
def by_process(url: str) -> Any:
    for how in multiprocessing.get_all_start_methods():
        process = multiprocessing.get_context(how).Process(target=asking.ask, args=(url, how))
        process.start()
        process.join()


@_way(_started, "a program that is not Python and asks below `$OPENAI_BASE_URL`")
def by_curl(url: str) -> Any:
    words = ["-sS", "--json", asking.SENT.decode()]
    return subprocess.check_output(f'curl {shlex.join(words)} "$OPENAI_BASE_URL/chat/completions"', shell=True)


# -- in a pool of processes

_pools = "In a pool of processes"


@_way(_pools, "`multiprocessing.Pool`")
def by_pool(url: str) -> Any:
    for how in multiprocessing.get_all_start_methods():
        with multiprocessing.get_context(how).Pool(1) as pool:
            pool.starmap(asking.ask, [(url, how)])


_older: list[Any] = []


@contextlib.contextmanager
def _made_before() -> Iterator[None]:
    for how in multiprocessing.get_all_start_methods():
        context = multiprocessing.get_context(how)
        pool, executor = context.Pool(1), concurrent.futures.ProcessPoolExecutor(1, mp_context=context)
        # Their workers are running.
        pool.apply(os.getpid)
        executor.submit(os.getpid).result()
        _older.extend([pool, executor])
    yield
    while _older:
        _older.pop().shutdown()
        _older.pop().terminate()


@_way(_pools, "`multiprocessing.Pool` and `ProcessPoolExecutor` that were made before the block", around=_made_before)
def by_older_pools(url: str) -> Any:
    for number, (pool, executor) in enumerate(zip(_older[::2], _older[1::2])):
        pool.apply_async(asking.ask, (url, f"pool {number}")).get()
        executor.submit(asking.ask, url, f"executor {number}").result()


@_way(_pools, "`joblib.Parallel`, whose workers are used again")
def by_joblib(url: str) -> Any:
    import joblib

    return joblib.Parallel(n_jobs=2)(joblib.delayed(asking.ask)(url, str(n)) for n in range(4))


# -- past all of that

_past = "Past all of that"


@_way(_past, "a program that is not Python, or `python -I`, with the URL of a model elsewhere written into it")
def by_curl_elsewhere(url: str) -> Any:
    return subprocess.check_output(["curl", "-fsS", "--json", asking.SENT.decode(), f"http://{ELSEWHERE}/v1/chat/completions"])


@_way(_past, "`pycurl`, and other libraries that read `HTTPS_PROXY` from the environment of C")
def by_pycurl(url: str) -> Any:
    import pycurl

    curl = pycurl.Curl()
    curl.setopt(pycurl.URL, f"http://{ELSEWHERE}/v1/chat/completions")
    curl.setopt(pycurl.POSTFIELDS, asking.SENT)
    curl.setopt(pycurl.WRITEFUNCTION, lambda piece: None)
    curl.perform()
    if curl.getinfo(pycurl.RESPONSE_CODE) >= 400:
        raise OSError("refused")


@_way(_past, "sockets of Python: WebSockets, databases")
def by_socket(url: str) -> Any:
    with socket.socket() as one:
        one.settimeout(0.1)
        with contextlib.suppress(TimeoutError, ConnectionRefusedError):
            one.connect(("192.0.2.1", 443))


@_way(_past, "gRPC, if its channel was opened inside the block")
def by_grpc(url: str) -> Any:
    import grpc

    grpc.insecure_channel(f"{ELSEWHERE}:443").close()


@contextlib.contextmanager
def _dask() -> Iterator[None]:
    import distributed

    with distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            _older.append(client)
            yield
            _older.clear()


@_way(_past, "workers of Dask or Ray that were started before the block", around=_dask)
def by_dask(url: str) -> Any:
    return _older[0].submit(asking.ask, url).result()
