"""The places of child processes."""

from __future__ import annotations

import contextvars
import functools
import os
import sys
from types import ModuleType
from typing import Any, Dict, List, Optional

from ._chance import Chance
from ._place import digest, name_of

#: Holds the seed of a process, and what of its chance is the run's.
VARIABLE = "RETOLD_CHANCE"

#: Fixes the order of sets of texts in Python processes that begin.
_HASHES = "PYTHONHASHSEED"

#: Where Python looks for the module that it imports before any other.
_PATH = "PYTHONPATH"

#: The place of the environment among the positional arguments of `Popen`.
_OF_POPEN = 10

#: The seed of the process that is being started, by `multiprocessing` or by a fork.
_starting: contextvars.ContextVar[Optional[bytes]] = contextvars.ContextVar("retold_starting", default=None)


def hash_seed(setting: str) -> str:
    """The seed of hashes, which is the beginning of the seed; 0 would mean none."""
    return str(max(1, int(setting[:8], 16)))


def inherit(chance: Chance) -> None:
    """Lets child processes have the variables, and this process see its own."""
    for name, value in {VARIABLE: chance.setting, _HASHES: hash_seed(chance.setting)}.items():
        if name not in os.environ:
            os.putenv(name, value)
            chance.when_undone(functools.partial(os.unsetenv, name))
    if chance.folder is not None:
        _hold(chance, {_PATH: chance.folder, VARIABLE: os.environ.get(VARIABLE, chance.setting)})


def _hold(chance: Chance, held: Dict[str, str]) -> None:
    """Lets child processes have the folder and the seed, also if the program changes its environment."""
    put, unset = os.putenv, os.unsetenv

    def putenv(name: Any, value: Any) -> None:
        put(name, _with_folder(held[_PATH], os.fsdecode(value)) if os.fsdecode(name) == _PATH else value)

    def unsetenv(name: Any) -> None:
        own = held.get(os.fsdecode(name))
        if own is None:
            unset(name)
        else:
            put(name, own)

    # Python 3.8 keeps them in the environment.
    for owner in (os, os.environ):
        if "putenv" in vars(owner):
            chance.put(owner, "putenv", putenv)
            chance.put(owner, "unsetenv", unsetenv)


def _with_folder(folder: str, path: str) -> str:
    """A search path that begins with the folder, or has it anyway."""
    paths = [place for place in path.split(os.pathsep) if place]
    return path if folder in paths else os.pathsep.join([folder, *paths])


def own_seed(seed: bytes, folder: str) -> bytes:
    """The seed of this process, which has begun with that of another: programs that know nothing of places may have started several."""
    # Python before 3.10 knows what it runs, but not the name of a module.
    words = list(getattr(sys, "orig_argv", ["", *sys.argv]))[1:]
    while words and words[0].startswith("-") and words[0] not in ("-m", "-c"):
        words.pop(0)
    program = " ".join(words[:2]) if words[:1] in (["-m"], ["-c"]) else os.path.basename(words[0] if words else "")
    number = 0
    while True:
        own = digest(seed, "program", program, number)
        try:
            # The files also say that somebody was here.
            os.close(os.open(os.path.join(folder, f"{own.hex()}.begun"), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            number += 1
        except OSError:
            return own
        else:
            return own


def patch_subprocess(subprocess: ModuleType, chance: Chance) -> None:
    """Gives each program that is started the seed of its place."""
    begin = subprocess.Popen.__init__

    @functools.wraps(begin)
    def begin_at(self: Any, *args: Any, **kwargs: Any) -> None:
        given = args[_OF_POPEN] if len(args) > _OF_POPEN else kwargs.get("env")
        seed = chance.place().next_seed("program", _program(args[0] if args else kwargs.get("args")))
        given = os.environ if given is None else given
        own = {os.fsdecode(name): os.fsdecode(value) for name, value in given.items()}
        own.setdefault(_HASHES, os.environ.get(_HASHES) or hash_seed(chance.setting))
        own[VARIABLE] = chance.setting_of(seed)
        if chance.folder is not None:
            own[_PATH] = _with_folder(chance.folder, own.get(_PATH, ""))
        if len(args) > _OF_POPEN:
            args = (*args[:_OF_POPEN], own, *args[_OF_POPEN + 1 :])
        else:
            kwargs["env"] = own
        begin(self, *args, **kwargs)

    chance.put(subprocess.Popen, "__init__", begin_at)


def _program(args: Any) -> str:
    """The name of a program, without its folder."""
    first = args if isinstance(args, (str, bytes, os.PathLike)) else next(iter(args or ()), "")
    words = os.fsdecode(first).split()
    return os.path.basename(words[0]) if words else ""


def patch_process(process: ModuleType, chance: Chance) -> None:
    """Notes which process is started, whatever starts it: a fork, or a new Python."""
    start = process.BaseProcess.start

    @functools.wraps(start)
    def start_at(self: Any) -> None:
        target = getattr(self, "_target", None)
        before = _starting.set(chance.place().next_seed("process", name_of(self if target is None else target)))
        try:
            start(self)
        finally:
            _starting.reset(before)

    chance.put(process.BaseProcess, "start", start_at)


def patch_spawn(spawn: ModuleType, chance: Chance) -> None:
    """Tells a process that begins anew, or was forked by a server, its place."""
    tell = spawn.get_preparation_data

    @functools.wraps(tell)
    def tell_place(name: str) -> Any:
        data = tell(name)
        seed = _starting.get() or chance.place().next_seed("process", "")
        data["retold_chance"] = _Entry(chance.setting, seed)
        return data

    chance.put(spawn, "get_preparation_data", tell_place)


class _Entry:
    """Takes the process in which it is unpickled to its place."""

    def __init__(self, setting: str, seed: bytes) -> None:
        self._entry = (setting, seed)

    def __reduce__(self) -> Any:
        from . import enter

        return enter, self._entry


def _before_fork() -> None:
    from . import active

    chance = active()
    if chance is not None and _starting.get() is None:
        _starting.set(chance.place().next_seed("process", ""))
        _forking.append(True)


def _after_fork_in_parent() -> None:
    if _forking:
        _forking.clear()
        _starting.set(None)


def _after_fork_in_child() -> None:
    from . import active

    chance, seed = active(), _starting.get()
    _forking.clear()
    _starting.set(None)
    if chance is not None and seed is not None:
        chance.become(seed)
        random: Any = sys.modules.get("random")
        if random is not None:
            # As Python does it: a seed of the program's own is its parent's.
            random.seed()


#: Whether the process that is forked was given its seed here.
_forking: List[bool] = []

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork_in_parent, after_in_child=_after_fork_in_child)
