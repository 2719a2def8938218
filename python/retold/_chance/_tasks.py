"""The places of tasks of `asyncio`, of threads, and of what is handed to a pool of threads."""

from __future__ import annotations

import contextvars
import functools
from types import ModuleType
from typing import Any, Callable

from ._chance import Chance
from ._place import Place, name_of


def patch_loop(base_events: ModuleType, chance: Chance) -> None:
    """Patches the event loops of `asyncio`."""
    _patch_loop(base_events.BaseEventLoop, chance)


def patch_uvloop(uvloop: ModuleType, chance: Chance) -> None:
    """Patches those of uvloop."""
    _patch_loop(uvloop.Loop, chance)


def _patch_loop(loop: Any, chance: Chance) -> None:
    create, here = loop.create_task, chance.here

    @functools.wraps(create)
    def create_task(self: Any, coro: Any, **kwargs: Any) -> Any:
        place = chance.place().child("task", name_of(coro))
        context = kwargs.get("context")
        if context is not None:
            try:
                context.run(here.set, place)
            except RuntimeError:
                # The code that is running is in it, and keeps its place.
                pass
            return create(self, coro, **kwargs)
        # A task has a copy of the context in which it is made.
        before = here.set(place)
        try:
            return create(self, coro, **kwargs)
        finally:
            here.reset(before)

    if "create_task" in vars(loop):
        chance.put(loop, "create_task", create_task)
    else:
        loop.create_task = create_task
        chance.when_undone(lambda: delattr(loop, "create_task"))


def patch_threads(threading: ModuleType, chance: Chance) -> None:
    """Patches the threads of `threading`."""
    start = threading.Thread.start

    @functools.wraps(start)
    def start_at(self: Any) -> None:
        target = getattr(self, "_target", None)
        place = chance.place().child("thread", name_of(self if target is None else target))
        # One that runs a context is a call; others may take from a queue what has contexts of its own.
        is_call = isinstance(getattr(target, "__self__", None), contextvars.Context)
        run_at = chance.call_at if is_call else functools.partial(_run_at, chance)
        self.run = functools.partial(run_at, place, self.run)
        start(self)

    chance.put(threading.Thread, "start", start_at)


def patch_executor(thread: ModuleType, chance: Chance) -> None:
    """Patches pools of threads as `concurrent.futures` has them."""
    submit = thread.ThreadPoolExecutor.submit

    @functools.wraps(submit)
    def submit_at(self: Any, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        place = chance.place().child("call", name_of(fn))
        return submit(self, chance.call_at, place, fn, *args, **kwargs)

    chance.put(thread.ThreadPoolExecutor, "submit", submit_at)


def _run_at(chance: Chance, place: Place, run: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    before = chance.here.set(place)
    try:
        return run(*args, **kwargs)
    finally:
        chance.here.reset(before)
