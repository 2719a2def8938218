"""The Agents SDK of OpenAI: function tools."""

from __future__ import annotations

import json
import warnings
from collections.abc import Awaitable, Callable
from types import ModuleType
from typing import Any

from .._errors import RetoldWarning
from .._recorder import recorder
from .._tool_calls import ToolCall

#: The function that runs a tool, wherever it is imported to.
_INVOKE = "_invoke_function_tool_with_metadata"


def patch(execution: ModuleType) -> None:
    """Patches the one function that runs a tool, in the module that calls it."""
    invoke = getattr(execution, _INVOKE, None)
    if invoke is None:
        warnings.warn(
            "retold: this release of openai-agents runs its tools in a way that is not known: decorate them with retold.tool",
            RetoldWarning,
            stacklevel=2,
        )
        return

    async def invoke_recorded(*, function_tool: Any, context: Any, arguments: str) -> Any:
        if recorder() is not None:
            function_tool = _recording_tool(function_tool, context, arguments)
        return await invoke(function_tool=function_tool, context=context, arguments=arguments)

    setattr(execution, _INVOKE, invoke_recorded)


def _recording_tool(function_tool: Any, context: Any, arguments: str) -> Any:
    """The same tool, whose function is recorded. What the SDK makes of its errors and of its timeout stays as it is."""
    call = ToolCall(
        getattr(function_tool, "qualified_name", None) or function_tool.name,
        _arguments(arguments),
        getattr(context, "tool_call_id", None),
        is_strict=False,
    )

    def recording(run: Callable[[Any, str], Awaitable[Any]]) -> Callable[[Any, str], Awaitable[Any]]:
        async def run_recorded(context: Any, arguments: str) -> Any:
            return await call.run_async(lambda: run(context, arguments))

        return run_recorded

    made = object.__new__(type(function_tool))
    made.__dict__.update(function_tool.__dict__)
    invoker = function_tool.on_invoke_tool
    inner = getattr(invoker, "_invoke_tool_impl", None)
    # It makes texts of errors; the errors themselves are recorded.
    if inner is not None and hasattr(invoker, "_on_handled_error"):
        invoker = type(invoker)(recording(inner), invoker._on_handled_error, function_tool=function_tool)
    else:
        invoker = recording(invoker)
    made.__dict__["on_invoke_tool"] = invoker
    return made


def _arguments(arguments: str) -> Any:
    """The arguments as the model wrote them, which may be no JSON."""
    try:
        return json.loads(arguments) if arguments else {}
    except ValueError:
        return arguments
