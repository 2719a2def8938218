"""The call that code is in, for whatever runs in its context."""

from __future__ import annotations

import contextvars
import json
from types import TracebackType
from typing import Any


class Call:
    """A named call: requests that are made inside have its name and its labels."""

    def __init__(self, name: str, labels: dict[str, Any]) -> None:
        self.name = name
        #: What it belongs to. Values become text, as they are in a table.
        self.labels = {key: str(value) for key, value in labels.items()}
        #: The labels, as the child process is told of them.
        self.told = json.dumps(self.labels)
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


_current: contextvars.ContextVar[Call | None] = contextvars.ContextVar("retold_call", default=None)


def current_call() -> Call | None:
    """The innermost call, if there is one."""
    return _current.get()
