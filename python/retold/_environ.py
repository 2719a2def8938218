"""`os.environ` while a block is active.

What is set there does not take the place of what child processes inherit. In a replay, whoever looks up a key that is not set finds a
placeholder, because SDKs want one before they start. It is not listed, and it hides nothing: for a program, and for whatever loads a
file with keys, the key is not set.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Mapping
from typing import Any

#: The value of keys that a replay does not need.
NO_KEY = "retold-replay-needs-no-key"

#: Packages that set what is not set, from files or for a test.
_LOADERS = ("_pytest", "decouple", "dotenv", "environ", "environs", "pydantic_settings")

#: Other objects may take its place for a while, as tests do.
_OWN = os.environ
_Plain = type(_OWN)

#: The keys of which a block has placeholders, and those of which a whole test run has.
_of_block: frozenset[str] = frozenset()
_of_tests: frozenset[str] = frozenset()
_changed: Callable[[str], None] | None = None


def shadow(environment: Mapping[str, str], changed: Callable[[str], None]) -> None:
    """Begins it for a block; ``changed`` gets the names of variables that are set or removed."""
    global _of_block, _changed
    _of_block = frozenset(name for name, value in environment.items() if value == NO_KEY)
    _changed = changed
    _OWN.__class__ = _Shadowed


def unshadow() -> None:
    """Ends it for a block."""
    global _of_block, _changed
    _of_block, _changed = frozenset(), None
    _OWN.__class__ = _Shadowed if _of_tests else _Plain


def place_keys(names: Collection[str]) -> None:
    """Has placeholders outside of blocks too, where tests are collected; none of them if there are no names."""
    global _of_tests
    _of_tests = frozenset(names)
    _OWN.__class__ = _Shadowed if _of_tests or _changed is not None else _Plain


class _Shadowed(_Plain):  # type: ignore[misc, valid-type]
    def __getitem__(self, name: str) -> str:
        try:
            found: str = super().__getitem__(name)
        except KeyError:
            if name in _of_block or name in _of_tests:
                return NO_KEY
            raise
        # SDKs take an empty one for none.
        return found or (NO_KEY if name in _of_block or name in _of_tests else found)

    def __contains__(self, name: object) -> bool:
        is_placed = (name in _of_block or name in _of_tests) and _is_of_an_sdk(sys._getframe(1))
        return is_placed or name in list(self)

    def pop(self, name: str, *default: Any) -> Any:
        # A placeholder is no value that can be taken out.
        values: dict[str, str] = {} if name not in list(self) else {name: super().pop(name)}
        return values.pop(name, *default)

    def __setitem__(self, name: str, value: str) -> None:
        if value == NO_KEY:
            # Whoever changes a variable for a while puts back what was found.
            self.pop(name, None)
            return
        super().__setitem__(name, value)
        if _changed is not None:
            _changed(name)

    def __delitem__(self, name: str) -> None:
        super().__delitem__(name)
        if _changed is not None:
            _changed(name)


def _is_of_an_sdk(caller: Any) -> bool:
    """Whether code is that of a library which looks for a key: LangChain asks whether it is set."""
    package = str(caller.f_globals.get("__name__")).partition(".")[0]
    is_installed = any(place in caller.f_code.co_filename for place in ("site-packages", "dist-packages"))
    return is_installed and package not in _LOADERS
