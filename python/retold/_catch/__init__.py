"""Catches requests in the transports of HTTP libraries, for the whole process, while a block is active.

A client that was made earlier keeps its address, whatever the environment says later; its transport is the one place
that all its requests pass. Only transports that open connections are patched, not those for tests and ASGI.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import ModuleType

from .._chance._imports import Patch, Waiting, is_imported
from . import (
    _aiohttp,
    _agents,
    _children,
    _grpc,
    _http_client,
    _httpcore,
    _httpx,
    _langchain,
    _mcp,
    _pydantic_ai,
    _sockets,
    _tasks,
    _threads,
    _urllib3,
)

#: By the module whose import is waited for: frameworks, whose tools are recorded.
_TOOLS: dict[str, Callable[[ModuleType], None]] = {
    "agents.run_internal.tool_execution": _agents.patch,
    "langchain_core.tools.base": _langchain.patch,
    "mcp.client.session": _mcp.patch_session,
    "mcp.client.stdio": _mcp.patch_stdio,
    "mcp.client.streamable_http": _mcp.patch_http,
    "pydantic_ai.toolsets.function": _pydantic_ai.patch,
}
#: The same of what requests go through, and of what child processes are started by.
_REQUESTS: dict[str, Callable[[ModuleType], None]] = {
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
_PATCHES = {**_TOOLS, **_REQUESTS}
#: Those of them that are wanted, and that are done.
_wanted: set[str] = set()
_done: set[str] = set()
_done_own: set[Callable[[], None]] = set()


def install() -> None:
    """Patches the libraries that are imported, and each of the others once it is."""
    _install(_PATCHES)
    for patch_own in _OWN:
        if patch_own not in _done_own:
            _done_own.add(patch_own)
            patch_own()
    _sockets.patch()


def install_tools() -> None:
    """Patches frameworks alone: for programs whose requests reach `retold record` by their base URLs."""
    _install(_TOOLS)


def _install(patches: dict[str, Callable[[ModuleType], None]]) -> None:
    new: dict[str, Patch] = {name: functools.partial(_apply, name) for name in patches if name not in _wanted}
    if new:
        _wanted.update(new)
        Waiting(new).begin()
    # One may have been imported by another thread when the first block began.
    for name in patches:
        if is_imported(name):
            _apply(name, sys.modules[name])


def _apply(name: str, module: ModuleType) -> None:
    if name not in _done:
        _PATCHES[name](module)
        _done.add(name)
