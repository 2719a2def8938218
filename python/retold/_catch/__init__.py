"""Catches requests in the transports of HTTP libraries, for the whole process, while a block is active.

A client that was made earlier keeps its address, whatever the environment says later; its transport is the one place
that all its requests pass. Only transports that open connections are patched, not those for tests and ASGI.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable
from types import ModuleType

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
    _wanted.update(patches)
    for name, patch in patches.items():
        module = sys.modules.get(name)
        # A module that is being imported has no classes yet.
        if module is not None and not _is_being_imported(module):
            _apply(name, module, patch)
    if not any(isinstance(finder, _Waiting) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Waiting())


def _is_being_imported(module: ModuleType) -> bool:
    spec = getattr(module, "__spec__", None)
    return bool(getattr(spec, "_initializing", False))


def _apply(name: str, module: ModuleType, patch: Callable[[ModuleType], None]) -> None:
    if name not in _done:
        patch(module)
        _done.add(name)


class _Waiting(importlib.abc.MetaPathFinder):
    """Finds the libraries as all others would, and patches them when they are loaded."""

    def find_spec(self, fullname, path=None, target=None):  # type: ignore[no-untyped-def]
        if fullname not in _wanted or fullname in _done:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, fullname)
        return spec


class _Loader(importlib.abc.Loader):
    def __init__(self, inner: importlib.abc.Loader, name: str) -> None:
        self._inner, self._name = inner, name

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._inner.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._inner.exec_module(module)
        _apply(self._name, module, _PATCHES[self._name])

    def __getattr__(self, name: str) -> object:
        return getattr(self._inner, name)
