"""Places in the tree of a program: what made something, and the how-many-eth it is there."""

from __future__ import annotations

import functools
import itertools
from typing import Any, Dict, Optional, Tuple

try:
    # The module alone: `hashlib` loads OpenSSL.
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

#: The length of a seed, in bytes.
LENGTH = 16

#: What is drawn, each with streams of its own.
RANDOM, NUMPY, UUID = range(3)


def digest(seed: bytes, *parts: object) -> bytes:
    """The seed that is made from another one and a name."""
    name = "\0".join(map(str, parts))
    return blake2b(name.encode("utf-8", "surrogatepass"), key=seed, digest_size=LENGTH).digest()


class Place:
    """A place, with its streams by the module that draws: a library that draws, such as one that waits before it tries again, does not
    take the draws of the program."""

    __slots__ = ("seed", "streams", "call", "_counts")

    def __init__(self, seed: bytes, call: Optional[Place] = None) -> None:
        #: That of the call which a pool of threads or processes has under way there.
        self.call = call
        self.become(seed)

    def become(self, seed: bytes) -> None:
        """Makes it the place with another seed, where nothing was drawn yet."""
        self.seed = seed
        #: By what is drawn, and by module.
        self.streams: Tuple[Dict[Any, Any], ...] = ({}, {}, {})
        self._counts: Dict[Any, Any] = {}

    def next_seed(self, kind: str, name: str) -> bytes:
        """The seed of the next thing of a kind and name that is made here."""
        count = self._counts.get((kind, name))
        if count is None:
            # Threads that draw without a place share the first one.
            count = self._counts.setdefault((kind, name), itertools.count())
        return digest(self.seed, kind, name, next(count))

    def child(self, kind: str, name: str) -> Place:
        """The place of the next thing of a kind and name that is made here."""
        return Place(self.next_seed(kind, name), self.call)


def name_of(made: Any) -> str:
    """The name of a function, a coroutine or an object, the same in each run."""
    while isinstance(made, functools.partial):
        made = made.func
    name = getattr(made, "__qualname__", None)
    if name is None:
        made = type(made)
        name = made.__qualname__
    return f"{getattr(made, '__module__', '')}.{name}"
