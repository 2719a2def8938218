"""The draws of `numpy.random`: the module's own functions, and whatever has no seed of the program's."""

from __future__ import annotations

import functools
import sys
from sys import _getframe
from types import ModuleType
from typing import Any, Callable

from ._chance import Chance
from ._draws import new_seed
from ._place import digest

#: Where numpy asks for entropy, by release.
_ENTROPY = ("numpy.random.bit_generator", "numpy.random._bit_generator")

_STATE = ("seed", "get_state", "set_state")


class _State(tuple):  # type: ignore[type-arg]
    """The state of a stream: to put it back is no seed of the program's own."""


class _NewState(dict):  # type: ignore[type-arg]
    """The same in the form that is not the old one."""


def patch(numpy_random: ModuleType, chance: Chance) -> None:
    """Patches `numpy.random` from 1.17 on."""
    for name in _ENTROPY:
        module = sys.modules.get(name)
        if module is not None and "randbits" in vars(module):
            chance.put(module, "randbits", _entropy(chance))
            break
    mtrand = numpy_random.mtrand
    shared = mtrand._rand
    hidden = _hidden(mtrand.RandomState, shared, chance)
    pairs = [(shared, hidden)]
    for value in {id(it): it for it in (*vars(numpy_random).values(), *vars(mtrand).values())}.values():
        if getattr(value, "__self__", None) is shared:
            pairs.append((value, getattr(hidden, value.__name__)))
    chance.put_everywhere(pairs)


def _entropy(chance: Chance) -> Callable[[int], int]:
    def randbits(bits: int) -> int:
        """The entropy of whatever numpy makes without a seed."""
        seed = new_seed(chance, "numpy", _getframe(1), None)
        return int(seed or 0) & ((1 << bits) - 1)

    return randbits


def _hidden(make: Any, shared: Any, chance: Chance) -> Any:
    """What numpy's own functions draw from, and whoever asks for its generator."""
    get = chance.here.get
    is_seeded = False

    def stream_of(module: Any) -> Any:
        place = get()
        stream = place.numpy.get(module)
        if stream is None:
            seed = digest(place.seed, "numpy", module)
            stream = place.numpy[module] = make([int.from_bytes(seed[at : at + 4], "big") for at in range(0, 16, 4)])
        return stream

    def drawing(name: str) -> Callable[..., Any]:
        method = getattr(make, name)

        @functools.wraps(method)
        def draw(self: Any, *args: Any, **kwargs: Any) -> Any:
            if is_seeded:
                return method(shared, *args, **kwargs)
            caller = _getframe(1).f_globals
            try:
                stream = get().numpy[caller["__name__"]]
            except KeyError:
                stream = stream_of(caller.get("__name__"))
            return method(stream, *args, **kwargs)

        return draw

    class Hidden(make):  # type: ignore[misc]
        def seed(self, seed: Any = None) -> None:
            nonlocal is_seeded
            if seed is not None:
                shared.seed(seed)
            is_seeded = seed is not None

        def get_state(self, legacy: bool = True) -> Any:
            if is_seeded:
                return shared.get_state(legacy)
            state = stream_of(_getframe(1).f_globals.get("__name__")).get_state(legacy)
            return _State(state) if isinstance(state, tuple) else _NewState(state)

        def set_state(self, state: Any) -> None:
            nonlocal is_seeded
            is_own = not isinstance(state, (_State, _NewState))
            stream = shared if is_own else stream_of(_getframe(1).f_globals.get("__name__"))
            stream.set_state(state)
            is_seeded = is_own

        def __reduce__(self) -> Any:
            stream = shared if is_seeded else stream_of(_getframe(1).f_globals.get("__name__"))
            return stream.__reduce__()

    for name in dir(make):
        if not name.startswith("_") and name not in _STATE and callable(getattr(make, name)):
            setattr(Hidden, name, drawing(name))
    Hidden.__name__, Hidden.__qualname__, Hidden.__module__ = make.__name__, make.__qualname__, make.__module__
    return Hidden(0)
