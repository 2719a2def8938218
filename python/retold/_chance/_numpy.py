"""The draws of `numpy.random`: the module's own functions, and whatever has no seed of the program's."""

from __future__ import annotations

import functools
import sys
from types import ModuleType
from typing import Any, Callable

from ._chance import Chance
from ._draws import new_seed
from ._hidden import frame_at, hidden, replace
from ._place import NUMPY, digest

#: Where numpy asks for entropy, by release.
_ENTROPY = ("numpy.random.bit_generator", "numpy.random._bit_generator")


def patch(numpy_random: ModuleType, chance: Chance) -> None:
    """Patches `numpy.random` from 1.17 on."""
    for name in _ENTROPY:
        module = sys.modules.get(name)
        if module is not None and "randbits" in vars(module):
            chance.put(module, "randbits", _entropy(chance))
            break
    mtrand = numpy_random.mtrand
    shared = mtrand._rand
    make = type(shared)

    def begin(seed: bytes, module: Any) -> Any:
        own = digest(seed, "numpy", module)
        return make([int.from_bytes(own[at : at + 4], "big") for at in range(0, 16, 4)])

    def new(hidden_class: Any) -> Any:
        # Compiled code takes it from the object, and has that of the whole process.
        instead = hidden_class(shared._bit_generator)
        hidden_class._bit_generator = property(lambda self: self.drawn_from(1)._bit_generator)
        return instead

    instead = hidden(NUMPY, shared, begin, "_state", new)
    replace(chance, NUMPY, shared, instead, numpy_random, mtrand)
    if "set_bit_generator" in vars(mtrand):
        _patch_bit_generator(mtrand, shared, instead, chance)


def _entropy(chance: Chance) -> Callable[[int], int]:
    def randbits(bits: int) -> int:
        """The entropy of whatever numpy makes without a seed."""
        seed = new_seed(chance, "numpy", frame_at(1), None)
        return int(seed or 0) & ((1 << bits) - 1)

    return randbits


def _patch_bit_generator(mtrand: Any, shared: Any, instead: Any, chance: Chance) -> None:
    """One that the program sets is as its seed."""
    get, put = mtrand.get_bit_generator, mtrand.set_bit_generator

    @functools.wraps(get)
    def get_bit_generator() -> Any:
        return instead.drawn_from(1)._bit_generator

    @functools.wraps(put)
    def set_bit_generator(bitgen: Any) -> None:
        mtrand._rand = shared
        try:
            put(bitgen)
        finally:
            mtrand._rand = instead
        chance.note_seed(NUMPY, True)

    chance.put_everywhere([(get, get_bit_generator), (put, set_bit_generator)])
