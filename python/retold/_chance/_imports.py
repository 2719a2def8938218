"""Patches modules that are imported already, and each of the others once it is."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, Callable, Dict

Patch = Callable[[ModuleType], None]


def is_imported(name: str) -> bool:
    """Whether a module is imported whole: one that is being imported has no classes yet."""
    module = sys.modules.get(name)
    return module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False)


class Waiting:
    """Finds modules as all others would, and patches them when they are loaded."""

    def __init__(self, patches: Dict[str, Patch]) -> None:
        self._patches = dict(patches)

    def begin(self) -> None:
        """Patches what is imported, and waits for the rest."""
        # Before the modules are looked at: another thread may import one.
        sys.meta_path.insert(0, self)
        for name in list(self._patches):
            if is_imported(name):
                self._patches[name](sys.modules[name])

    def end(self) -> None:
        """Waits no more."""
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        patch = self._patches.pop(fullname, None)
        if patch is None:
            return None
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec = None if find is None else find(fullname, path, target)
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader, patch)
                return spec
        self._patches[fullname] = patch
        return None


class _Loader:
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
