"""The call that code is in, for whatever runs in its context."""

from __future__ import annotations

import contextvars
import json
import re
from types import TracebackType
from typing import Any

#: The longest path of a call, in bytes.
_LONGEST = 500


class Call:
    """A named call: requests that are made inside have its name and its labels.

    The path of the call has both, because two participants who are asked the same under one name are two calls: a
    replay gives each its own answer, whoever asks first.
    """

    def __init__(self, name: str, labels: dict[str, Any]) -> None:
        if not isinstance(name, str):
            raise TypeError(f"the name of a call is a text, not {type(name).__name__}")
        self.name = name
        #: What it belongs to. Values become text, as they are in a table.
        self.labels = {key: str(value) for key, value in labels.items()}
        #: The labels, as the child process is told of them.
        self.told = json.dumps(self.labels)
        #: Name and labels, such as ``vote/p_07/acp``.
        self.path = "/".join([name, *map(_part, self.labels.values())])
        _check(self.path)
        #: The id of the last answer that was received inside.
        self.answer: str | None = None
        self._tokens: list[contextvars.Token[Call | None]] = []

    def __enter__(self) -> Call:
        self._tokens.append(_current.set(self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _current.reset(self._tokens.pop())

    async def __aenter__(self) -> Call:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.__exit__(kind, error, trace)


def _part(value: str) -> str:
    """A label as a part of a path, which has no slash and no control character, and is not empty."""
    plain = re.sub(r"[\x00-\x20%/\x7f-\x9f]", lambda found: f"%{ord(found[0]):02X}", value)
    return plain or "-"


def _check(path: str) -> None:
    """Refuses what cannot be the path of a call."""
    if path != path.strip() or re.search(r"[\x00-\x1f\x7f-\x9f]", path):
        reason = "it has a control character, or begins or ends with a space"
    elif "" in path.split("/"):
        reason = "it, or a part of it between slashes, is empty"
    elif len(path.encode("utf-8", "surrogatepass")) > _LONGEST:
        reason = f"with its labels, it is longer than {_LONGEST} bytes"
    else:
        try:
            path.encode()
            return
        except UnicodeEncodeError:
            reason = "it has half of a character (a surrogate)"
    raise ValueError(f"{path[:80]!r} cannot be the name of a call: {reason}")


_current: contextvars.ContextVar[Call | None] = contextvars.ContextVar("retold_call", default=None)


def current_call() -> Call | None:
    """The innermost call, if there is one."""
    return _current.get()


#: Names the call of a request, and what it belongs to, in what the child process is sent.
CALL = "X-Retold-Call"
LABELS = "X-Retold-Labels"


def call_headers() -> list[tuple[str, str]]:
    """The headers that name the innermost call."""
    call = current_call()
    if call is None:
        return []
    # UTF-8, in the form in which HTTP libraries take bytes as text.
    path = (CALL, call.path.encode().decode("latin-1"))
    return [path, (LABELS, call.told)] if call.labels else [path]


class Frame:
    """The run of a tool, as far as it is not in the run of another."""

    def __init__(self, owner: object) -> None:
        #: What is called.
        self.owner = owner
        #: How many requests and calls of tools were made inside, which are recorded by themselves.
        self.asked = 0


_frame: contextvars.ContextVar[Frame | None] = contextvars.ContextVar("retold_frame", default=None)


def current_frame() -> Frame | None:
    """The innermost tool that runs, if one does."""
    return _frame.get()


def enter_frame(frame: Frame) -> contextvars.Token[Frame | None]:
    """Notes that a tool runs."""
    return _frame.set(frame)


def leave_frame(token: contextvars.Token[Frame | None]) -> None:
    """Notes that it has ended."""
    _frame.reset(token)


def note_asked() -> None:
    """Notes that a request is made, or a tool called, that is recorded by itself."""
    frame = _frame.get()
    if frame is not None:
        frame.asked += 1
