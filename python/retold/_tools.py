"""Calls of tools: recorded with their results and errors, and answered from the record without running the tool."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
import time
import warnings
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from ._context import Frame, call_headers, current_frame, enter_frame, leave_frame, note_asked
from ._errors import NotRecorded, ReportError, RetoldWarning
from ._recorder import Recorder, is_refusal, recorder
from ._tool_errors import error_as_json, error_of
from ._values import NotJson, decode, encode, plain

F = TypeVar("F", bound=Callable[..., Any])
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
        home = self._recorder()
        if home is None:
            return function()
        given = self._ask(home, call_headers())
        if isinstance(given, RecordedCall):
            return given.result()
        frame = Frame(self.owner)
        token = enter_frame(frame)
        try:
            try:
                result = function()
            finally:
                leave_frame(token)
        except Exception as error:
            given.fail(error, frame)
            raise
        given.end(result, frame)
        return result

    async def run_async(self, function: Callable[[], Awaitable[Any]]) -> Any:
        """The same of an async function."""
        home = self._recorder()
        if home is None:
            return await function()
        given = await _run_beside(self._ask, home, call_headers(), give_up=_give_up)
        if isinstance(given, RecordedCall):
            await given.wait()
            return given.result()
        frame = Frame(self.owner)
        token, start = enter_frame(frame), time.monotonic()
        try:
            try:
                result = await function()
            finally:
                leave_frame(token)
        except asyncio.CancelledError:
            given.cancel(time.monotonic() - start, frame)
            raise
        except Exception as error:
            await _run_beside(given.fail, error, frame)
            raise
        await _run_beside(given.end, result, frame)
        return result

    def _recorder(self) -> Recorder | None:
        frame = current_frame()
        if self.owner is not None and frame is not None and frame.owner is self.owner:
            return None
        note_asked()
        return recorder()

    def _ask(self, home: Recorder, headers: list[tuple[str, str]]) -> RecordedCall | RunningCall:
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
        if self.call.id is not None:
            what["id"] = self.call.id
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


async def _run_beside(
    function: Callable[..., Any], *given: Any, give_up: Callable[[Any], None] | None = None
) -> Any:
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


@overload
def tool(function: F, /) -> F: ...
@overload
def tool(
    *, name: str | None = None, to_json: Convert | None = None, from_json: Convert | None = None
) -> Callable[[F], F]: ...


def tool(
    function: Any = None,
    /,
    *,
    name: str | None = None,
    to_json: Convert | None = None,
    from_json: Convert | None = None,
) -> Any:
    """Records each call of a function, sync or async, and answers it in a replay without running it.

    ``name`` is that of the tool, if it is not the function's. ``to_json`` makes JSON of a result that JSON cannot hold, and
    ``from_json`` reads it again. Outside of a block, the function is called as ever.
    """
    if (to_json is None) != (from_json is None):
        raise TypeError("retold: to_json= and from_json= belong together: what one makes, the other reads")
    if function is None:
        return functools.partial(_decorate, name=name, to_json=to_json or encode, from_json=from_json or decode)
    if not callable(function):
        raise TypeError(f"retold: a tool is a function, not {type(function).__name__}: write retold.tool(name=..)")
    return _decorate(function, name=name, to_json=encode, from_json=decode)


def _decorate(function: Any, *, name: str | None, to_json: Convert, from_json: Convert) -> Any:
    title = name or getattr(function, "__name__", None)
    if title is None:
        raise TypeError(f"retold: {type(function).__name__} has no name: write retold.tool(name=..)")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise TypeError(f"retold: {title} is a generator, and a tool gives one result: return a list")
    signature = inspect.signature(function)
    # A method's own object is no argument; a function may call one `cls`.
    owner = getattr(function, "__qualname__", "").rpartition(".")[0]
    is_method = owner != "" and not owner.endswith("<locals>")
    takes_self = is_method and next(iter(signature.parameters), None) in ("self", "cls")
    others = next((one.name for one in signature.parameters.values() if one.kind is one.VAR_KEYWORD), None)

    def call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> ToolCall:
        # By name, however the arguments were given.
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        arguments = dict(bound.arguments)
        if takes_self:
            arguments.pop(next(iter(arguments)))
        if others is not None and not arguments[others].keys() & arguments.keys():
            # A key among them is known by its name.
            arguments.update(arguments.pop(others))
        return ToolCall(title, arguments, to_json=to_json, from_json=from_json)

    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None)):

        @functools.wraps(function)
        async def run_async(*args: Any, **kwargs: Any) -> Any:
            if recorder() is None:
                return await function(*args, **kwargs)
            return await call(args, kwargs).run_async(lambda: function(*args, **kwargs))

        setattr(run_async, TOOL, title)
        return run_async

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        if recorder() is None:
            return function(*args, **kwargs)
        return call(args, kwargs).run(lambda: function(*args, **kwargs))

    setattr(run, TOOL, title)
    return run


def call_tool(name: str, arguments: Mapping[str, Any], function: Callable[..., Any], /, *, id: str | None = None) -> Any:
    """The result of ``function(**arguments)``, recorded as a call of a tool; from the record in a replay, without the function.

    Of an async function, it is to be awaited. ``id`` is the one by which a model asked for the call.
    """
    if not callable(function):
        raise TypeError(f"retold: call_tool(name, arguments, function) calls a function, not {type(function).__name__}")
    made = ToolCall(name, dict(arguments), id)
    if inspect.iscoroutinefunction(function):
        return made.run_async(lambda: function(**arguments))
    return made.run(lambda: function(**arguments))
