"""The draws of Python's `random`, and of `uuid4` if that is asked for.

A seed that the program sets wins: from then on, the module's generator is one for the whole process, as without retold.
"""

from __future__ import annotations

import functools
from types import FrameType, ModuleType
from typing import Any, Optional

from ._chance import Chance, in_call, places
from ._hidden import frame_at, hidden, module_at, replace
from ._place import RANDOM, UUID, digest

#: Whose new generators stay those of the operating system: names of files that everybody may write beside are not to be guessed.
_LEFT_ALONE = ("tempfile",)


def patch(random: ModuleType, chance: Chance) -> None:
    """Patches the module `random`."""
    shared, make = random._inst, random.Random
    seed_plainly = make.seed

    def begin(seed: bytes, module: Any) -> Any:
        return make(int.from_bytes(digest(seed, "random", module), "big"))

    def new(hidden_class: Any) -> Any:
        instead = make.__new__(hidden_class)
        instead.gauss_next = None
        return instead

    @functools.wraps(seed_plainly)
    def seed_by_place(self: Any, a: Any = None, version: int = 2) -> None:
        if a is None:
            a = new_seed(chance, "generator", frame_at(1), vars(random))
        seed_plainly(self, a, version)

    replace(chance, RANDOM, shared, hidden(RANDOM, shared, begin, "state", new), random)
    chance.put(make, "seed", seed_by_place)


def new_seed(chance: Chance, kind: str, frame: Optional[FrameType], own: Any) -> Optional[int]:
    """The seed of a new generator, by the function that makes it; `None` if it is to be that of the operating system."""
    while frame is not None and frame.f_globals is own:
        frame = frame.f_back
    module, function = ("", "") if frame is None else (frame.f_globals.get("__name__"), frame.f_code.co_name)
    if module in _LEFT_ALONE:
        return None
    return int.from_bytes(chance.place().next_seed(kind, f"{module}.{function}"), "big")


def patch_uuid(uuid: ModuleType, chance: Chance) -> None:
    """Patches the module `uuid`."""
    if not chance.has_uuid:
        return
    import random

    original, make = uuid.uuid4, random.Random

    @functools.wraps(original)
    def uuid4() -> Any:
        place, module = places[UUID](), module_at(1)
        if place is None:
            return original()
        place = in_call(place)
        stream = place.streams[UUID].get(module)
        if stream is None:
            stream = place.streams[UUID][module] = make(int.from_bytes(digest(place.seed, "uuid", module), "big"))
        return uuid.UUID(int=stream.getrandbits(128), version=4)

    chance.put_everywhere([(original, uuid4)])
    chance.draw(UUID)
