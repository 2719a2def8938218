"""What child processes inherit of a block, however they are started.

The variables are in the environment of C alone: `os.environ` stays what it was, so that clients that this process makes keep
their own servers. Python processes begin with our `sitecustomize`, and then catch requests as this one does.
"""

from __future__ import annotations

import json
import os
import pickle
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _environ
from ._hosts import OWN

if TYPE_CHECKING:
    from ._session import Session

#: Holds what the variables were before, for Python processes.
_BEFORE = "RETOLD_BEFORE"
_PATH = "PYTHONPATH"
_DIRECT = ("NO_PROXY", "no_proxy")

#: The file with the session, and the module that Python imports before any other.
_SESSION, _START = "session", "sitecustomize.py"

#: Takes itself out of the way of another `sitecustomize`.
_CODE = """\
import sys

sys.path[:] = [path for path in sys.path if path != {folder!r}]
if sys.version_info >= (3, 10):
    import importlib.util

    spec = importlib.util.spec_from_file_location("retold", {package!r})
    sys.modules["retold"] = retold = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(retold)
    from retold._inheritance import join_block

    join_block({folder!r})
del sys.modules["sitecustomize"]
try:
    import sitecustomize
except ModuleNotFoundError as missing:
    if missing.name != "sitecustomize":
        raise
    sys.modules["sitecustomize"] = sys
"""


def write(session: Session) -> None:
    """Writes what Python processes need to join a block into its folder."""
    folder = Path(session.folder)
    package = os.path.join(os.path.dirname(os.path.abspath(__file__)), "__init__.py")
    (folder / _START).write_text(_CODE.format(folder=session.folder, package=package), encoding="utf-8")
    (folder / _SESSION).write_bytes(pickle.dumps(session))


def join_block(folder: str) -> None:
    """Makes this process, which has just begun, a part of the block that wrote the folder."""
    from . import _catch, _chance
    from ._session import activate

    before = json.loads(os.environ.pop(_BEFORE, "null"))
    try:
        session: Session = pickle.loads(Path(folder, _SESSION).read_bytes())
    except FileNotFoundError:
        # It has ended meanwhile.
        return
    if before is not None:
        for name in _names(session):
            if name in before:
                os.environ[name] = before[name]
            else:
                os.environ.pop(name, None)
    _catch.install()
    activate(session)
    _chance.start(folder)


def environment(session: Session, given: Mapping[Any, Any]) -> dict[str, str]:
    """The environment of a child process that is started with a given one."""
    own = {os.fsdecode(name): os.fsdecode(value) for name, value in given.items()}
    if not session.reaches_children:
        return own
    changed = {**own, **_variables(session, own)}
    for name in session.server.unset:
        changed.pop(name, None)
    return changed


def inherit(session: Session) -> None:
    """Lets child processes belong to a block that are started without an environment of their own."""
    if session.reaches_children:
        _environ.shadow(session.server.environment if session.offline else {}, lambda name: _put_again(session, name))
        _put(session)


def disinherit(session: Session) -> None:
    """Makes the environment of C what `os.environ` is."""
    _environ.unshadow()
    for name in _names(session):
        _put_one(name, os.environ.get(name))


def _put_again(session: Session, name: str) -> None:
    if name in _names(session):
        _put(session)


def _names(session: Session) -> list[str]:
    return [*session.server.environment, *session.server.unset, _PATH, _BEFORE]


def _put(session: Session) -> None:
    for name, value in _variables(session, os.environ).items():
        _put_one(name, value)
    for name in session.server.unset:
        _put_one(name, None)


def _put_one(name: str, value: str | None) -> None:
    if value is None:
        os.unsetenv(name)
    else:
        os.putenv(name, value)


def _variables(session: Session, own: Mapping[str, str]) -> dict[str, str]:
    """The variables that are set for a child process whose own ones are given."""
    ours = dict(session.server.environment)
    reached = (*OWN, *session.allow_hosts, *session.exclude)
    direct = [_direct(host) for host in reached if isinstance(host, str)]
    for name in _DIRECT:
        if direct and name in ours:
            ours[name] = ",".join([ours[name], *direct])
    ours[_PATH] = os.pathsep.join([session.folder, *filter(None, [own.get(_PATH)])])
    ours[_BEFORE] = json.dumps({name: own[name] for name in _names(session) if name in own})
    return ours


def _direct(host: str) -> str:
    """A host as `NO_PROXY` has it, in which a name stands for all below it."""
    return re.sub(r"^\*\.?", ".", host) if host.startswith("*") else host
