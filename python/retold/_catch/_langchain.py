"""LangChain and LangGraph: all tools of `langchain_core`."""

from __future__ import annotations

import copy
import functools
from types import ModuleType
from typing import Any

from .._recorder import recorder
from .._tool_calls import ToolCall


def patch(base: ModuleType) -> None:
    """Patches what runs a tool: callbacks, messages and the treatment of errors stay as they are."""
    tool = base.BaseTool
    run, arun = tool.run, tool.arun

    @functools.wraps(run)
    def run_recorded(self: Any, tool_input: Any, *args: Any, **kwargs: Any) -> Any:
        return run(_recording_tool(self, tool_input, kwargs), tool_input, *args, **kwargs)

    @functools.wraps(arun)
    async def arun_recorded(self: Any, tool_input: Any, *args: Any, **kwargs: Any) -> Any:
        return await arun(_recording_tool(self, tool_input, kwargs), tool_input, *args, **kwargs)

    tool.run, tool.arun = run_recorded, arun_recorded


def _recording_tool(tool: Any, tool_input: Any, kwargs: dict[str, Any]) -> Any:
    """The same tool, whose functions are recorded; itself if nothing records."""
    if recorder() is None:
        return tool
    made = copy.copy(tool)
    # One of the functions may call the other: that is one call.
    owner = object()
    call = ToolCall(tool.name, _model_arguments(tool, tool_input), kwargs.get("tool_call_id"), is_strict=False, owner=owner)
    inner, inner_async = tool._run, tool._arun

    @functools.wraps(inner)
    def run(*args: Any, **kwargs: Any) -> Any:
        return call.run(lambda: inner(*args, **kwargs))

    @functools.wraps(inner_async)
    async def arun(*args: Any, **kwargs: Any) -> Any:
        return await call.run_async(lambda: inner_async(*args, **kwargs))

    made.__dict__.update(_run=run, _arun=arun)
    return made


def _model_arguments(tool: Any, tool_input: Any) -> Any:
    """The arguments as the model wrote them, without what LangGraph adds."""
    if not isinstance(tool_input, dict):
        return {"input": tool_input}
    without = getattr(tool, "_filter_injected_args", None)
    return without(tool_input) if without is not None else tool_input
