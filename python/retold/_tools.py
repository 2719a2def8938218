"""How a program says what its tools are: the decorator `tool`, and calls of what is no function of its own."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, overload

from ._recorder import recorder
from ._tool_calls import TOOL, Convert, ToolBlock, ToolCall
from ._values import decode, encode

F = TypeVar("F", bound=Callable[..., Any])


@overload
def tool(function: F, /) -> F: ...
@overload
def tool(
    *, name: str | None = None, to_json: Convert | None = None, from_json: Convert | None = None
) -> Callable[[F], F]: ...
@overload
def tool(
    name: str,
    arguments: Mapping[str, Any],
    /,
    *,
    id: str | None = None,
    to_json: Convert | None = None,
    from_json: Convert | None = None,
) -> ToolBlock: ...


def tool(
    function: Any = None,
    arguments: Mapping[str, Any] | None = None,
    /,
    *,
    name: str | None = None,
    id: str | None = None,
    to_json: Convert | None = None,
    from_json: Convert | None = None,
) -> Any:
    """Records each call of a function, sync or async, and answers it in a replay without running it.

    ``name`` is that of the tool, if it is not the function's. ``to_json`` makes JSON of a result that JSON cannot hold, and
    ``from_json`` reads it again. Outside of a block, the function is called as ever.

    With a name and arguments instead of a function, it is one call, as a block: ``with tool("search", {"query": "x"}) as call:``.
    There ``call.result = ..`` goes under ``if not call.is_recorded:``. ``id`` is the one by which a model asked for the call.
    """
    if (to_json is None) != (from_json is None):
        raise TypeError("retold: to_json= and from_json= belong together: what one makes, the other reads")
    to_json, from_json = to_json or encode, from_json or decode
    if isinstance(function, str):
        if not isinstance(arguments, Mapping):
            raise TypeError(f"retold: tool({function!r}, arguments) takes the arguments as a dict")
        if name is not None:
            raise TypeError(f"retold: name= is for the decorator: this call has the name {function!r}")
        return ToolBlock(ToolCall(function, dict(arguments), id, to_json, from_json))
    if arguments is not None or id is not None:
        raise TypeError("retold: arguments and id= belong to one call: tool(name, arguments); the decorator takes neither")
    if function is None:
        return functools.partial(_decorate, name=name, to_json=to_json, from_json=from_json)
    if not callable(function):
        raise TypeError(f"retold: a tool is a function, not {type(function).__name__}: write retold.tool(name=..)")
    return _decorate(function, name=name, to_json=to_json, from_json=from_json)


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
