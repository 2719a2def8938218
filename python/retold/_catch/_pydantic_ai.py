"""Pydantic AI: the tools of an agent and of function toolsets. Those of other toolsets are requests to a server."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from .._tool_calls import ToolCall


def patch(function: ModuleType) -> None:
    """Patches the toolset in which functions are."""
    toolset = function.FunctionToolset
    call_tool = toolset.call_tool

    async def call_recorded(self: Any, name: str, tool_args: dict[str, Any], ctx: Any, tool: Any) -> Any:
        call = ToolCall(name, tool_args, getattr(ctx, "tool_call_id", None), is_strict=False)
        return await call.run_async(lambda: call_tool(self, name, tool_args, ctx, tool))

    toolset.call_tool = call_recorded
