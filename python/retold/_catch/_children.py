"""Child processes get the variables of the block, and Python processes that `multiprocessing` starts are a part of it."""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from .._inheritance import environment
from .._session import Session, activate, active

#: The place of the environment among positional arguments.
_OF_POPEN, _OF_EXEC, _OF_FORK_EXEC = 11, 2, 5


def patch() -> None:
    """Patches what starts processes with an environment that is given; all others inherit that of C."""
    subprocess.Popen.__init__ = _changed(subprocess.Popen.__init__, _OF_POPEN)  # type: ignore[method-assign]
    for name in ("execve", "posix_spawn", "posix_spawnp"):
        if hasattr(os, name):
            setattr(os, name, _changed(getattr(os, name), _OF_EXEC))
    try:
        import _posixsubprocess as posix  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        return
    # For those who start processes as `subprocess` does.
    posix.fork_exec = _changed(posix.fork_exec, _OF_FORK_EXEC)


def _changed(start: Callable[..., Any], place: int) -> Callable[..., Any]:
    """A function that starts a process with the variables of the block."""

    @functools.wraps(start)
    def start_child(*args: Any, **kwargs: Any) -> Any:
        session = active()
        given = args[place] if len(args) > place else kwargs.get("env")
        # The child has the environment of C where none is given, and nothing is changed that cannot be read.
        if session is None or given is None or not session.reaches_children:
            return start(*args, **kwargs)
        if isinstance(given, Mapping):
            env: Any = environment(session, given)
        else:
            split = dict(one.split(b"=", 1) for one in map(os.fsencode, given) if b"=" in one)
            env = [os.fsencode(f"{name}={value}") for name, value in environment(session, split).items()]
        if len(args) > place:
            args = (*args[:place], env, *args[place + 1 :])
        else:
            kwargs["env"] = env
        return start(*args, **kwargs)

    return start_child


def patch_spawn(spawn: ModuleType) -> None:
    """Patches what `multiprocessing` tells a process that it spawns; a server that forks them may be older than the block."""
    tell = spawn.get_preparation_data

    def tell_child(name: str) -> dict[str, Any]:
        data: dict[str, Any] = tell(name)
        session = active()
        if session is not None and session.reaches_children:
            data["retold"] = _Joining(session)
        return data

    spawn.get_preparation_data = tell_child  # type: ignore[attr-defined]


class _Joining:
    """Makes the process in which it is unpickled a part of the run."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __reduce__(self) -> tuple[Any, ...]:
        return join, (self._session,)


def join(session: Session) -> None:
    """Catches the requests of this process for the block of its parent."""
    from . import install

    install()
    activate(session)
