"""Child processes: programs get the variables, and Python processes that are spawned catch requests as we do."""

from __future__ import annotations

import os
import subprocess
from types import ModuleType
from typing import Any

from .._session import Session, activate, active

#: The place of `env` among the positional arguments of `Popen`.
_ENV = 10


def patch() -> None:
    """Patches `Popen`."""
    begin = subprocess.Popen.__init__

    def begin_child(self: Any, *args: Any, **kwargs: Any) -> None:
        session = active()
        if session is not None and session.reaches_children:
            given = args[_ENV] if len(args) > _ENV else kwargs.get("env")
            env = dict(os.environ if given is None else given)
            env.update(session.server.environment)
            for name in session.server.unset:
                env.pop(name, None)
            if len(args) > _ENV:
                args = (*args[:_ENV], env, *args[_ENV + 1 :])
            else:
                kwargs["env"] = env
        begin(self, *args, **kwargs)

    subprocess.Popen.__init__ = begin_child  # type: ignore[method-assign]


def patch_spawn(spawn: ModuleType) -> None:
    """Patches what `multiprocessing` tells a process that it spawns."""
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
