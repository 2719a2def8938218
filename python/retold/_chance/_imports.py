"""Patches modules that are imported already, and each of the others once it is."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, Callable, Dict

from ._chance import Chance

Patch = Callable[[ModuleType, Chance], None]


def wait_for(patches: Dict[str, Patch], chance: Chance) -> None:
    """Patches modules by their names."""
    # Before the modules are looked at: one may be imported by another thread.
    sys.meta_path.insert(0, _Finder(patches, chance))
    for name, patch in patches.items():
        module = sys.modules.get(name)
        if module is not None and not getattr(getattr(module, "__spec__", None), "_initializing", False):
            patch(module, chance)


def forget(chance: Chance) -> None:
    """Waits for no more imports."""
    sys.meta_path[:] = [it for it in sys.meta_path if not (isinstance(it, _Finder) and it.chance is chance)]


class _Finder:
    """Finds modules as all others would, and patches them when they are loaded."""

    def __init__(self, patches: Dict[str, Patch], chance: Chance) -> None:
        self._patches, self.chance = dict(patches), chance

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        patch = self._patches.pop(fullname, None)
        if patch is None:
            return None
        for finder in sys.meta_path:
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec = None if find is None else find(fullname, path, target)
            if spec is not None:
                if hasattr(spec.loader, "exec_module"):
                    spec.loader = _Loader(spec.loader, patch, self.chance)
                return spec
        self._patches[fullname] = patch
        return None


class _Loader:
    def __init__(self, inner: Any, patch: Patch, chance: Chance) -> None:
        self._inner, self._patch, self._chance = inner, patch, chance

    def create_module(self, spec: Any) -> Any:
        return self._inner.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        # Whoever asks for the loader of a module expects the usual one.
        module.__loader__ = self._inner
        if module.__spec__ is not None:
            module.__spec__.loader = self._inner
        self._inner.exec_module(module)
        self._patch(module, self._chance)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)
