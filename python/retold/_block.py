"""`record`, `replay`, `resume` and `fork`: blocks, decorators, and both of them for async code."""

from __future__ import annotations

import contextlib
import copy
import functools
import inspect
import json
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, TypeVar

from . import _catch, _chance, _inheritance
from ._asked import Rewrite
from ._catch import _clusters
from ._errors import BlockError, OverBudget, ReplayMismatch, UnusedAnswers
from ._hosts import Host
from ._progress import progress_line
from ._run import Run
from ._scratch import ScratchFolder
from ._server import Server
from ._session import Session, activate, active
from ._version import VERSION

#: What becomes of recorded answers that nobody asked for.
UNUSED = ("error", "warn", "ignore")

F = TypeVar("F", bound=Callable[..., Any])


class Block:
    """A block in which requests to models are recorded, or answered from a run.

    Also a decorator of functions and of async functions: each call of the function is a block.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        offline: bool,
        settings: Mapping[str, Any] | None = None,
        hosts: Sequence[Host] = (),
        exclude: Sequence[Host] = (),
        allow_hosts: Sequence[Host] = (),
        unused: str = "error",
        live_tools: Sequence[str] = (),
        rewrite: Rewrite | None = None,
    ) -> None:
        if unused not in UNUSED:
            raise ValueError(f"unused is one of {', '.join(UNUSED)}, not {unused!r}")
        self._unused = unused
        if settings is not None:
            try:
                settings = json.loads(json.dumps(dict(settings), allow_nan=False))
            except (TypeError, ValueError) as error:
                raise ValueError(f"settings have a value that JSON cannot hold: {error}") from error
        #: How many requests the last block made, how many answers it recorded, and how many earlier ones nobody asked for.
        self.requests = self.recorded = self.left = 0
        #: How many calls of tools it made, and how many results it recorded.
        self.tool_calls = self.tool_results = 0
        self._arguments, self._offline, self._settings = list(arguments), offline, settings
        self._hosts, self._exclude = _tuple(hosts), _tuple(exclude)
        self._allow_hosts, self._rewrite = _tuple(allow_hosts), rewrite
        self._live_tools = (live_tools,) if isinstance(live_tools, str) else tuple(live_tools)
        self._server: Server | None = None
        self._session: Session | None = None
        self._run: Run | None = None
        self._folder: ScratchFolder | None = None
        self._chance: _chance.Chance | None = None
        #: The block of the process that started this one.
        self._outer: Session | None = None

    def __enter__(self) -> Run:
        if self._server is not None:
            raise BlockError("retold: this block is active already: make one for each use")
        with _reserved():
            clusters = _clusters.running(self._offline)
            # Child processes that do not join the block have its program for their proxy, which counts or refuses.
            server = Server([*self._arguments, "--watch", f"--stdio={VERSION}", "--", *_command()])
            self._folder, self._outer = ScratchFolder(), active()
            session = Session(
                server.address, self._offline, self._folder.name, self._hosts, self._exclude, self._allow_hosts
            )
            session.rewrite, session.live_tools = self._rewrite, self._live_tools
            session.progress = progress_line(server.address.run)
            for workers in clusters:
                session.pass_by(workers)
            _inheritance.write(session)
            self._server, self._session, self._run = server, session, Run(session)
            if server.address.unfinished is not None:
                print(_unfinished(self._arguments, server.address.unfinished), file=sys.stderr)
            _catch.install()
            activate(session)
            if server.address.chance is not None:
                self._chance = _chance.install(server.address.chance)
        if self._settings is not None:
            try:
                self._run.fact("settings", self._settings, lane="settings")
            except BaseException as error:
                self.__exit__(type(error), error, error.__traceback__)
                raise
        return self._run

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        server, session, run, folder = self._server, self._session, self._run, self._folder
        if server is None or session is None or run is None or folder is None:
            raise BlockError("retold: this block is not active: it has ended, or was never entered")
        self._server = self._session = self._run = None
        session.has_ended = True
        session.connections.close()
        if self._chance is not None:
            _chance.remove(self._chance)
            self._chance = None
        activate(self._outer)
        session.collect()
        folder.cleanup()
        if session.pid != os.getpid():
            # A forked child that leaves the block: it is its parent's.
            return
        run.summary = server.end(0 if error is None or _is_success(error) else 1)
        self.requests, self.recorded = run.summary["requests"], run.summary["recorded"]
        self.left = run.summary["left"]
        tools = run.summary["tools"]
        self.tool_results, self.tool_calls = tools["recorded"], tools["recorded"] + tools["replayed"]
        session.add(run.summary["connections"])
        if session.progress is not None:
            session.progress.end(run.summary)
        if error is not None and not isinstance(error, Exception):
            # Ctrl-C and an exit are what they are.
            if isinstance(error, KeyboardInterrupt) and not self._offline and run.summary["requests"]:
                print(f"retold: interrupted: retold.resume(.., {run.id[:8]!r}) continues the run", file=sys.stderr)
            return
        missed, differs = run.summary["not_recorded"], run.summary["differences"]
        left = run.summary["left"] if self._offline else 0
        if error is not None:
            # What was not asked or reported was perhaps still to come.
            differs, left = differs - run.summary["not_reported_again"], 0
        if missed or differs or (left and self._unused == "error"):
            raise ReplayMismatch(run.summary["report"], run.summary) from error
        if run.summary["over_budget"] is not None:
            raise OverBudget(
                f"retold: {run.summary['over_budget']}: {run.summary['not_asked']} of the requests were not asked. "
                f"retold.resume(.., {run.id[:8]!r}) continues the run, with a higher max_cost or with none"
            ) from error
        if left and self._unused == "warn":
            warnings.warn(run.summary["report"], UnusedAnswers, stacklevel=2)

    async def __aenter__(self) -> Run:
        return self.__enter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio = sys.modules.get("asyncio")
        try:
            loop = asyncio.get_running_loop() if asyncio is not None else None
        except RuntimeError:
            loop = None
        if loop is None:
            return self.__exit__(kind, error, trace)
        # Answers that are under way are waited for, and the loop goes on meanwhile.
        await loop.run_in_executor(None, self.__exit__, kind, error, trace)

    def _copy(self) -> Block:
        """A block of its own for each call of a decorated function."""
        other = copy.copy(self)
        other._server = other._session = other._run = other._folder = other._chance = other._outer = None
        return other

    def __call__(self, function: F) -> F:
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise TypeError(f"retold: {function.__name__} is a generator: put the block around what uses it")
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def run_async(*args: Any, **kwargs: Any) -> Any:
                async with self._copy():
                    return await function(*args, **kwargs)

            return run_async  # type: ignore[return-value]

        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            with self._copy():
                return function(*args, **kwargs)

        return run  # type: ignore[return-value]


def _tuple(hosts: Sequence[Host]) -> tuple[Host, ...]:
    # A single name is meant as one, not as its letters.
    return (hosts,) if isinstance(hosts, str) else tuple(hosts)


def _is_success(error: BaseException) -> bool:
    return isinstance(error, SystemExit) and error.code in (None, 0)


#: Held while a block begins: two threads that begin one at the same time would both find none.
_beginning = threading.Lock()


@contextlib.contextmanager
def _reserved() -> Iterator[None]:
    """The right to be the only block of this process."""
    with _beginning:
        _refuse_another()
        yield


def _refuse_another() -> None:
    other = active()
    # A program that was started inside a block may have blocks of its own.
    if other is None or other.is_joined:
        return
    if other.pid != os.getpid():
        raise BlockError(
            "retold: this process was forked inside a block, and its requests belong to the run of its parent: begin "
            "a block of its own before the fork, or in a process that is spawned"
        )
    raise BlockError(
        f"retold: a block is active already (run {other.server.run}): blocks are one after the other, and run.call(..) "
        "names parts of one"
    )


def _unfinished(arguments: Sequence[str], run: str) -> str:
    """What is said of an earlier run of the same name that is not finished."""
    log, name = (arguments[arguments.index(flag) + 1] for flag in ("--log", "--name"))
    return (
        f"retold: run {run[:8]}, which is also named {name!r}, is not finished: "
        f"retold.resume({log!r}, {run[:8]!r}) continues it"
    )


def _command() -> list[str]:
    """The command line of this program, as it is recorded and shown."""
    words = getattr(sys, "orig_argv", None) or [sys.executable, *sys.argv]
    return [os.path.basename(words[0]), *words[1:]]
