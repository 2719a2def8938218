"""Catches requests in the transports of HTTP libraries, for the whole process, while a block is active.

A client that was made earlier keeps its address, whatever the environment says later; its transport is the one place
that all its requests pass. Only transports that open connections are patched, not those for tests and ASGI.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import ModuleType

from .._chance._imports import Waiting, is_imported
from . import _aiohttp, _children, _grpc, _http_client, _httpcore, _httpx, _sockets, _tasks, _threads, _urllib3

#: By the module whose import is waited for.
_PATCHES: dict[str, Callable[[ModuleType], None]] = {
    "httpx": _httpx.patch,
    "httpx2": _httpx.patch,
    "httpcore": _httpcore.patch,
    "httpcore2": _httpcore.patch,
    "http.client": _http_client.patch,
    "urllib3": _urllib3.patch,
    "aiohttp": _aiohttp.patch,
    "grpc": _grpc.patch,
    "multiprocessing.spawn": _children.patch_spawn,
    "multiprocessing.pool": _tasks.patch_pool,
    "concurrent.futures.process": _tasks.patch_executor,
    "loky.process_executor": _tasks.patch_executor,
    "joblib.externals.loky.process_executor": _tasks.patch_executor,
    "multiprocess.spawn": _children.patch_spawn,
    "multiprocess.pool": _tasks.patch_pool,
}
#: Of the standard library, imported here in any case.
_OWN = (_threads.patch, _children.patch)
_done: set[str] = set()
_waiting: Waiting | None = None


def install() -> None:
    """Patches the libraries that are imported, and each of the others once it is."""
    global _waiting
    if _waiting is None:
        _waiting = Waiting({name: functools.partial(_apply, name) for name in _PATCHES})
        _waiting.begin()
        for patch_own in _OWN:
            patch_own()
    else:
        # One may have been imported by another thread when the first block began.
        for name in _PATCHES:
            if is_imported(name):
                _apply(name, sys.modules[name])
    _sockets.patch()


def _apply(name: str, module: ModuleType) -> None:
    if name not in _done:
        _PATCHES[name](module)
        _done.add(name)
