"""Patches modules that are imported already, and each of the others once it is."""

from __future__ import annotations

import functools
import sys
from types import ModuleType
from typing import Any, Callable, Dict, Set

Patch = Callable[[ModuleType], None]


def is_imported(name: str) -> bool:
    """Whether a module is imported whole: one that is being imported has no classes yet."""
    module = sys.modules.get(name)
    return module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False)


class Waiting:
    """Finds modules as all others would, and patches them when they are loaded."""

    def __init__(self, patches: Dict[str, Patch]) -> None:
        self._patches = dict(patches)
        self._asked: Set[str] = set()

    def begin(self) -> None:
        """Patches what is imported, and waits for the rest."""
        # Before the modules are looked at: another thread may import one.
        sys.meta_path.insert(0, self)
        for name in list(self._patches):
            if is_imported(name):
                self.patch(name, sys.modules[name])

    def patch(self, name: str, module: ModuleType) -> None:
        """Patches a module that is loaded, once."""
        patch = self._patches.pop(name, None)
        if patch is not None:
            patch(module)

    def end(self) -> None:
        """Waits no more."""
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]
        self._patches.clear()

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname not in self._patches or fullname in self._asked:
            return None
        self._asked.add(fullname)
        try:
            for finder in sys.meta_path:
                find = None if finder is self else getattr(finder, "find_spec", None)
                spec = None if find is None else find(fullname, path, target)
                if spec is not None:
                    if hasattr(spec.loader, "exec_module"):
                        spec.loader = _Loader(spec.loader, functools.partial(self.patch, fullname))
                    return spec
        finally:
            self._asked.discard(fullname)
        return None


class _Loader:
    """Patches a module once it is loaded: to ask where it is, as `importlib.util.find_spec` does, loads nothing."""

    def __init__(self, inner: Any, patch: Patch) -> None:
        self._inner, self._patch = inner, patch

    def create_module(self, spec: Any) -> Any:
        return self._inner.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        # Whoever asks for the loader of a module expects the usual one.
        module.__loader__ = self._inner
        if module.__spec__ is not None:
            module.__spec__.loader = self._inner
        self._inner.exec_module(module)
        self._patch(module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)
