"""The places of what is handed to pools of processes: those of the code that hands it, whichever process has it done."""

from __future__ import annotations

import functools
import itertools
from types import ModuleType
from typing import Any, Callable, Iterable, Iterator

from ._chance import Chance
from ._place import Place, digest, name_of


class Errand:
    """A function that is called at the place of whoever handed it to a pool."""

    def __init__(self, setting: str, seed: bytes, function: Callable[..., Any]) -> None:
        self._setting, self._seed, self._function = setting, seed, function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(self._seed, self._function, *args, **kwargs)

    def _call(self, seed: bytes, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        from . import join

        return join(self._setting).call_at(Place(seed), function, *args, **kwargs)


class EachErrand(Errand):
    """A function that is called for each of many items, which come with their numbers."""

    def __call__(self, numbered: Any) -> Any:
        number, item = numbered
        return self._call(digest(self._seed, number), self._function, item)


class EachStarErrand(Errand):
    """The same, where an item has all arguments."""

    def __call__(self, number: int, *args: Any) -> Any:
        return self._call(digest(self._seed, number), self._function, *args)


def patch_executor(process: ModuleType, chance: Chance) -> None:
    """Patches an executor as `concurrent.futures` has it."""
    submit = process.ProcessPoolExecutor.submit

    @functools.wraps(submit)
    def submit_at(self: Any, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        seed = chance.place().next_seed("call", name_of(fn))
        return submit(self, Errand(chance.setting, seed, fn), *args, **kwargs)

    chance.put(process.ProcessPoolExecutor, "submit", submit_at)


def patch_pool(pool: ModuleType, chance: Chance) -> None:
    """Patches a pool as `multiprocessing` has it; pools of threads are subclasses."""
    apply, each = pool.Pool.apply_async, pool.Pool._map_async

    @functools.wraps(apply)
    def apply_at(self: Any, func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        seed = chance.place().next_seed("call", name_of(func))
        return apply(self, Errand(chance.setting, seed, func), *args, **kwargs)

    @functools.wraps(each)
    def map_at(self: Any, func: Callable[..., Any], iterable: Iterable[Any], mapper: Any, *args: Any, **kwargs: Any) -> Any:
        seed = chance.place().next_seed("call", name_of(func))
        if mapper.__name__ == "starmapstar":
            star = EachStarErrand(chance.setting, seed, func)
            return each(self, star, [(n, *item) for n, item in enumerate(iterable)], mapper, *args, **kwargs)
        return each(self, EachErrand(chance.setting, seed, func), list(enumerate(iterable)), mapper, *args, **kwargs)

    def lazily(name: str) -> None:
        begin = getattr(pool.Pool, name)

        @functools.wraps(begin)
        def begin_at(self: Any, func: Callable[..., Any], iterable: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
            seed = chance.place().next_seed("call", name_of(func))
            return begin(self, EachErrand(chance.setting, seed, func), enumerate(iterable), *args, **kwargs)

        chance.put(pool.Pool, name, begin_at)

    chance.put(pool.Pool, "apply_async", apply_at)
    chance.put(pool.Pool, "_map_async", map_at)
    lazily("imap")
    lazily("imap_unordered")


def patch_joblib(parallel: ModuleType, chance: Chance) -> None:
    """Patches joblib, which puts as many calls into one piece of work as were quick lately, and takes them from threads of its own."""
    call = parallel.Parallel.__call__

    @functools.wraps(call)
    def call_at(self: Any, iterable: Iterable[Any]) -> Any:
        numbered = _numbered(chance, chance.place().next_seed("call", "joblib"), iter(iterable))
        return call(self, list(numbered) if hasattr(iterable, "__len__") else numbered)

    chance.put(parallel.Parallel, "__call__", call_at)


def _numbered(chance: Chance, seed: bytes, calls: Iterator[Any]) -> Iterator[Any]:
    """Calls with their places by their numbers; what makes them has a place, too, whichever thread is under way."""
    place = Place(digest(seed, "calls"))
    for number in itertools.count():
        call = chance.call_at(place, next, calls, None)
        if call is None:
            return
        function, args, kwargs = call
        yield Errand(chance.setting, digest(seed, number), function), args, kwargs
