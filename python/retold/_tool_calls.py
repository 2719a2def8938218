"""A call of a tool: recorded with its result or error, and answered from the record without running the tool."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import time
import warnings
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ._context import Frame, call_headers, current_frame, enter_frame, leave_frame, note_asked
from ._errors import NotRecorded, ReportError, RetoldWarning
from ._recorder import Recorder, is_refusal, recorder
from ._tool_errors import error_as_json, error_of
from ._values import NotJson, decode, encode, plain

Convert = Callable[[Any], Any]

#: The attribute of a decorated function with the name of its tool.
TOOL = "__retold_tool__"

#: The field of an error which says that the call was cancelled, and after how many seconds.
_CANCELLED_AFTER = "cancelled_after"

#: For how many seconds more a replay waits to be cancelled.
_PATIENCE = 2

#: The ids of the last results in this context, by the names of their tools.
_last: contextvars.ContextVar[Mapping[str, str]] = contextvars.ContextVar("retold_results", default={})  # noqa: B039


@dataclass(frozen=True)
class ToolCall:
    """A call of a tool, and how its result becomes JSON."""

    name: str
    arguments: Any
    #: The id by which a model asked for it.
    id: str | None = None
    to_json: Convert = encode
    from_json: Convert = decode
    #: Whether a result that JSON cannot hold is an error of the program: it is its own tool, not that of a framework.
    is_strict: bool = True
    #: What is called, if that may call itself under the same name.
    owner: object = None

    def run(self, function: Callable[[], Any]) -> Any:
        """The recorded result; or that of the function, which is recorded."""
        with ToolBlock(self) as block:
            if not block.is_recorded:
                block.result = function()
        return block.result

    async def run_async(self, function: Callable[[], Awaitable[Any]]) -> Any:
        """The same of an async function."""
        async with ToolBlock(self) as block:
            if not block.is_recorded:
                block.result = await function()
        return block.result

    def recorder(self) -> Recorder | None:
        """What records the call, if anything does."""
        frame = current_frame()
        if self.owner is not None and frame is not None and frame.owner is self.owner:
            return None
        note_asked()
        return recorder()

    def ask(self, home: Recorder, headers: list[tuple[str, str]]) -> RecordedCall | RunningCall:
        """What is recorded of the call; or the call, which begins.

        Raises `NotRecorded` if a replay has no such call.
        """
        what: dict[str, Any] = {"tool": self.name, "arguments": self._arguments()}
        if self.id is not None:
            what["id"] = self.id
        if home.is_live(self.name):
            what["live"] = True
        status, reply, answer = _ask_recorder(home, "", what, headers)
        if status == 202:
            return RunningCall(self, home, reply["run"], headers)
        if is_refusal(reply):
            raise NotRecorded(reply["error"]["message"])
        if reply.get("asked"):
            # What it asks is answered from the record, one by one.
            return RunningCall(self, home, None, headers)
        note_result(self.name, answer)
        return RecordedCall(self, reply)

    def _arguments(self) -> Any:
        try:
            return plain(self.arguments, is_strict=self.is_strict)
        except NotJson as error:
            raise TypeError(
                f"retold: {self.name!r} was called with what JSON cannot hold ({error}), so a replay cannot find the call: "
                "call it with texts, numbers, lists and dicts, dataclasses or pydantic models"
            ) from None


@dataclass(frozen=True)
class RecordedCall:
    """A call that is recorded."""

    call: ToolCall
    reply: dict[str, Any]

    async def wait(self) -> None:
        """Waits if the call was cancelled: whoever gave it up then does so again, and gets what only that gives."""
        after = self.reply.get("error", {}).get(_CANCELLED_AFTER)
        if after is not None:
            await asyncio.sleep(after + _PATIENCE)

    def result(self) -> Any:
        """The result; raises the error that was raised."""
        if "error" in self.reply:
            raise error_of(self.reply["error"])
        return self.call.from_json(self.reply["result"])


@dataclass(frozen=True)
class RunningCall:
    """A tool that runs. Without a number, what it gives is not recorded."""

    call: ToolCall
    home: Recorder
    number: int | None
    headers: list[tuple[str, str]]

    def end(self, result: Any, frame: Frame) -> None:
        """Records the result."""
        if self.number is None:
            return
        try:
            made = self.call.to_json(result)
            # What a converter of the user's has made.
            self._say({"result": made if self.call.to_json is encode else plain(made)}, frame)
        except Exception as error:
            # Also one that is too long.
            reason = error if isinstance(error, (NotJson, ReportError)) else f"{type(error).__name__}: {error}"
            said = f"what {self.call.name!r} gave cannot be recorded as JSON ({reason})"
            self._say({"error": {"type": "retold.NotRecorded", "message": said}}, frame)
            if self.call.is_strict:
                raise TypeError(
                    f"retold: {said}: return texts, numbers, lists and dicts, dataclasses or pydantic models, or say "
                    "with to_json= and from_json= how it becomes JSON and is read again"
                ) from (None if isinstance(error, NotJson) else error)
            warnings.warn(f"retold: {said}, and a replay cannot give it", RetoldWarning, stacklevel=2)

    def fail(self, error: BaseException, frame: Frame) -> None:
        """Records the error."""
        if self.number is not None:
            self._say({"error": error_as_json(error)}, frame)

    def cancel(self, seconds: float, frame: Frame) -> None:
        """Records that the call was cancelled: the tool has not ended."""
        if self.number is not None:
            error = error_as_json(TimeoutError("the tool was cancelled"))
            # A run that goes on makes the call again.
            self._say({"error": {**error, _CANCELLED_AFTER: seconds, "again": True}}, frame)

    def _say(self, what: dict[str, Any], frame: Frame) -> None:
        if frame.asked:
            what["asked"] = frame.asked
        try:
            _, reply, answer = _ask_recorder(self.home, f"/{self.number}", what, self.headers)
            if is_refusal(reply):
                raise ReportError(reply["error"]["message"])
        except ReportError:
            if not self.home.has_ended:
                raise
            said = f"retold: the block ended before the tool {self.call.name!r} did, and what it gave is not recorded"
            warnings.warn(said, RetoldWarning, stacklevel=2)
            return
        note_result(self.call.name, answer)


class ToolBlock:
    """The call of a tool as a block: ``with run.tool("search", {"query": "x"}) as call:``.

    The block runs in a replay, too, because Python cannot skip it: ``if not call.is_recorded:`` guards the tool.
    """

    def __init__(self, call: ToolCall) -> None:
        self._call = call
        self._given: list[Any] = []
        self._running: tuple[RunningCall, Frame, Any, float] | None = None
        #: Whether the result is recorded, so that the tool must not run.
        self.is_recorded = False
        setattr(self, TOOL, call.name)

    @property
    def result(self) -> Any:
        """What the tool gave: from the record, or as it was set."""
        if not self._given:
            raise ReportError(f"the tool {self._call.name!r} has given nothing yet: set `result` inside its block")
        return self._given[0]

    @result.setter
    def result(self, result: Any) -> None:
        if self.is_recorded:
            raise ReportError(
                f"the tool {self._call.name!r} ran, although its result is recorded: put it under `if not call.is_recorded:`"
            )
        self._given = [result]

    def __enter__(self) -> ToolBlock:
        home = self._call.recorder()
        if home is not None:
            self._begin(self._call.ask(home, call_headers()))
        return self

    async def __aenter__(self) -> ToolBlock:
        home = self._call.recorder()
        if home is not None:
            given = await _run_beside(self._call.ask, home, call_headers(), give_up=_give_up)
            if isinstance(given, RecordedCall):
                await given.wait()
            self._begin(given)
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        end = self._leave(error)
        end()

    async def __aexit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        end = self._leave(error)
        if isinstance(error, asyncio.CancelledError):
            end()
        else:
            await _run_beside(end)

    def _begin(self, given: RecordedCall | RunningCall) -> None:
        if isinstance(given, RecordedCall):
            self._given = [given.result()]
            self.is_recorded = True
        else:
            frame = Frame(self._call.owner)
            self._running = given, frame, enter_frame(frame), time.monotonic()

    def _leave(self, error: BaseException | None) -> Callable[[], None]:
        """Ends the block; what records how the tool ended."""
        if self._running is None:
            return _do_nothing
        running, frame, token, start = self._running
        leave_frame(token)
        if error is None and not self._given:
            said = f"the block of the tool {running.call.name!r} has set no `result`: set it, to None if the tool gives none"
            running.fail(ReportError(said), frame)
            raise ReportError(said)
        if error is None:
            return functools.partial(running.end, self._given[0], frame)
        if isinstance(error, asyncio.CancelledError):
            return functools.partial(running.cancel, time.monotonic() - start, frame)
        return functools.partial(running.fail, error, frame) if isinstance(error, Exception) else _do_nothing


def _do_nothing() -> None:
    pass


def _ask_recorder(
    home: Recorder, place: str, what: dict[str, Any], headers: list[tuple[str, str]]
) -> tuple[int, dict[str, Any], str | None]:
    try:
        return home.ask(place, what, headers)
    except OSError as error:
        raise ReportError(f"retold does not answer: {error}") from error


def _give_up(given: RecordedCall | RunningCall) -> None:
    if isinstance(given, RunningCall):
        given.cancel(0, Frame(None))


async def _run_beside(function: Callable[..., Any], *given: Any, give_up: Callable[[Any], None] | None = None) -> Any:
    """What a function gives that waits for the disk, while the event loop goes on.

    ``give_up`` gets it if whoever waits for it is cancelled meanwhile.
    """
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        # Another kind of loop.
        return function(*given)
    inside = contextvars.copy_context()
    running = loop.run_in_executor(None, functools.partial(inside.run, function, *given))
    try:
        result = await asyncio.shield(running)
    except asyncio.CancelledError:
        if give_up is not None:
            running.add_done_callback(lambda done: None if done.exception() else give_up(done.result()))
        raise
    _last.set(inside[_last] if _last in inside else {})
    return result


def note_result(tool: str, answer: str | None) -> None:
    """Notes the id of a result, so that a fact can rest on it."""
    if answer is not None:
        _last.set({**_last.get(), tool: answer})


def result_of(tool: Any) -> str | None:
    """The id of the last result of a decorated function in this context; `None` if it is none."""
    name = getattr(tool, TOOL, None)
    if name is None:
        return None
    if name not in _last.get():
        raise ReportError(
            f"the tool {name!r} has given nothing here yet: call it in the same task or thread, or give the id by which the "
            "model called it"
        )
    return _last.get()[name]
