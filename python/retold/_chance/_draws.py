"""The draws of Python's `random`, and of `uuid4` if that is asked for.

A seed that the program sets wins: from then on, the module's generator is one for the whole process, as without retold.
"""

from __future__ import annotations

import functools
from sys import _getframe
from types import FrameType, ModuleType
from typing import Any, Callable, Optional

from ._chance import Chance
from ._place import digest

#: Whose new generators stay those of the operating system: names of files that everybody may write beside are not to be guessed.
_LEFT_ALONE = ("tempfile",)

#: What is not drawn, but changes or shows the generator.
_STATE = ("seed", "getstate", "setstate")


class _State(tuple):  # type: ignore[type-arg]
    """The state of a stream: to put it back is no seed of the program's own."""

    def __reduce__(self) -> Any:
        return tuple, (tuple(self),)


def patch(random: ModuleType, chance: Chance) -> None:
    """Patches the module `random`."""
    hidden, make = random._inst, random.Random
    seed_plainly, get = make.seed, chance.here.get
    is_seeded = False

    def stream_of(module: Any) -> Any:
        place = get()
        stream = place.random.get(module)
        if stream is None:
            stream = make(int.from_bytes(digest(place.seed, "random", module), "big"))
            place.random[module] = stream
        return stream

    def drawing(name: str) -> Callable[..., Any]:
        original, method = getattr(random, name), getattr(make, name)

        @functools.wraps(original)
        def draw(*args: Any, **kwargs: Any) -> Any:
            if is_seeded:
                return original(*args, **kwargs)
            caller = _getframe(1).f_globals
            try:
                stream = get().random[caller["__name__"]]
            except KeyError:
                stream = stream_of(caller.get("__name__"))
            return method(stream, *args, **kwargs)

        return draw

    @functools.wraps(random.seed)
    def seed(a: Any = None, version: int = 2) -> None:
        nonlocal is_seeded
        if a is not None:
            seed_plainly(hidden, a, version)
        is_seeded = a is not None

    @functools.wraps(random.getstate)
    def getstate() -> Any:
        if is_seeded:
            return make.getstate(hidden)
        return _State(stream_of(_getframe(1).f_globals.get("__name__")).getstate())

    @functools.wraps(random.setstate)
    def setstate(state: Any) -> None:
        nonlocal is_seeded
        is_own = not isinstance(state, _State)
        make.setstate(hidden if is_own else stream_of(_getframe(1).f_globals.get("__name__")), state)
        is_seeded = is_own

    @functools.wraps(seed_plainly)
    def seed_by_place(self: Any, a: Any = None, version: int = 2) -> None:
        if a is None:
            a = new_seed(chance, "generator", _getframe(1), vars(random))
        seed_plainly(self, a, version)

    pairs = [(random.seed, seed), (random.getstate, getstate), (random.setstate, setstate)]
    for name, value in list(vars(random).items()):
        if getattr(value, "__self__", None) is hidden and name not in _STATE:
            pairs.append((value, drawing(name)))
    chance.put_everywhere(pairs)
    chance.put(make, "seed", seed_by_place)


def new_seed(chance: Chance, kind: str, frame: Optional[FrameType], own: Any) -> Optional[int]:
    """The seed of a new generator, by the function that makes it; `None` if it is to be that of the operating system."""
    while frame is not None and frame.f_globals is own:
        frame = frame.f_back
    module, function = ("", "") if frame is None else (frame.f_globals.get("__name__"), frame.f_code.co_name)
    if module in _LEFT_ALONE:
        return None
    return int.from_bytes(chance.here.get().next_seed(kind, f"{module}.{function}"), "big")


def patch_uuid(uuid: ModuleType, chance: Chance) -> None:
    """Patches the module `uuid`."""
    if not chance.has_uuid:
        return
    import random

    get, make = chance.here.get, random.Random

    @functools.wraps(uuid.uuid4)
    def uuid4() -> Any:
        place, module = get(), _getframe(1).f_globals.get("__name__")
        stream = place.uuid.get(module)
        if stream is None:
            stream = make(int.from_bytes(digest(place.seed, "uuid", module), "big"))
            place.uuid[module] = stream
        return uuid.UUID(int=stream.getrandbits(128), version=4)

    chance.put_everywhere([(uuid.uuid4, uuid4)])
