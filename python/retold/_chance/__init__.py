"""A program's own chance: its draws come from the seed of its run, so that a replay draws them again.

Each task, thread, child process and new generator has a stream by its place: what made it, and the how-many-eth it is there. This
package is written beside a program that `retold record --chance` starts, too: it needs nothing but Python 3.8.
"""

from __future__ import annotations

import functools
import os
from types import ModuleType
from typing import Callable, Dict, Optional

from . import _draws, _imports, _numpy, _pools, _processes, _stack, _tasks
from ._chance import Chance, active, begun
from ._place import LENGTH

__all__ = ["Chance", "VARIABLE", "active", "enter", "install", "join", "remove", "start"]

#: The variable with the seed of a process.
VARIABLE = _processes.VARIABLE

#: By the module whose import is waited for.
_PATCHES: Dict[str, Callable[[ModuleType, Chance], None]] = {
    "random": _draws.patch,
    "uuid": _draws.patch_uuid,
    "numpy.random": _numpy.patch,
    "asyncio.base_events": _tasks.patch_loop,
    "uvloop": _tasks.patch_uvloop,
    "threading": _tasks.patch_threads,
    "concurrent.futures.thread": _tasks.patch_executor,
    "concurrent.futures.process": _pools.patch_executor,
    "loky.process_executor": _pools.patch_executor,
    "joblib.externals.loky.process_executor": _pools.patch_executor,
    "joblib.parallel": _pools.patch_joblib,
    "multiprocessing.pool": _pools.patch_pool,
    "multiprocess.pool": _pools.patch_pool,
    "multiprocessing.process": _processes.patch_process,
    "multiprocess.process": _processes.patch_process,
    "multiprocessing.spawn": _processes.patch_spawn,
    "multiprocess.spawn": _processes.patch_spawn,
    "subprocess": _processes.patch_subprocess,
}


def install(setting: str, seed: Optional[bytes] = None, folder: Optional[str] = None) -> Chance:
    """Makes the draws of this process those of a run, whose setting is given; ``seed`` is that of the process."""
    outer, chance = active(), Chance(setting, seed, folder)
    if outer is not None:
        outer.undo()
    begun.append(chance)
    _begin(chance)
    return chance


def _begin(chance: Chance) -> None:
    _processes.inherit(chance)
    # In a block, retold catches the requests itself.
    told = _stack.patches(chance.put, _stack.told) if chance.is_replay and chance.folder is not None else {}
    own = {name: functools.partial(_patch, patch, chance) for name, patch in _PATCHES.items()}
    waiting = _imports.Waiting({**own, **told})
    chance.when_undone(waiting.end)
    waiting.begin()


def _patch(patch: Callable[[ModuleType, Chance], None], chance: Chance, module: ModuleType) -> None:
    patch(module, chance)


def remove(chance: Chance) -> None:
    """Takes everything back that was changed; the one before it, if there is one, goes on."""
    chance.undo()
    if chance in begun:
        begun.remove(chance)
        outer = active()
        if outer is not None:
            outer.undo()
            _begin(outer)


def start(folder: str) -> None:
    """Gives a Python process that begins, and has the variable, the stream of its place."""
    setting = os.environ.get(VARIABLE)
    if setting:
        seed = _processes.own_seed(bytes.fromhex(setting.partition("+")[0]), folder)
        install(setting, seed, folder)


def enter(setting: str, seed: bytes) -> Chance:
    """Makes this process the one at a place, whatever it was before."""
    chance = join(setting)
    chance.become(seed)
    return chance


def join(setting: str) -> Chance:
    """The chance of this process, which is made that of a run; a pool of processes may be older than a block."""
    chance = active()
    if chance is not None and chance.setting == setting:
        return chance
    if chance is not None:
        remove(chance)
    # It has no place of its own, only those of what it is handed: what it draws besides, and after the block, is as without a run.
    return install(setting, os.urandom(LENGTH))
