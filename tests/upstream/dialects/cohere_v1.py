"""Cohere's chat API, version 1.

Sources: Cohere's API reference, "Chat" (version 1), and the types of its SDK, cohere-python: `NonStreamedChatResponse`,
`StreamedChatResponse` and `ToolCall`. Streams are lines of JSON.
"""

from __future__ import annotations

from typing import Any

from .. import made_up
from ..exchange import Refused, Request, Stream, Whole, written
from .cohere import failure

__all__ = ["answer", "failure", "takes"]

LINES = "application/stream+json"


def takes(path: str) -> bool:
    return path == "/v1/chat"


def answer(request: Request) -> Whole | Stream:
    # Reference, "Errors": 401.
    if not request.headers.get("authorization", "").lower().startswith("bearer "):
        raise Refused(failure(401, "no api key supplied", request))
    body, number = request.body, request.number
    # Reference, "Chat": `message` is required.
    if not isinstance(body, dict) or not isinstance(body.get("message"), str):
        raise Refused(failure(400, "invalid request: message is required", request))
    tools = [(tool["name"], schema(tool)) for tool in body.get("tools") or []]
    picked = made_up.chosen(tools, bool(body.get("tool_results")), None, request.text)
    calls = [{"name": name, "parameters": made_up.value(form, number)} for name, form in picked]
    text = "" if calls else "".join(made_up.words(number, request.text))
    tokens = {"input_tokens": 10 + number, "output_tokens": 5}
    meta = {"api_version": {"version": "1"}, "billed_units": {"input_tokens": 3, "output_tokens": 4}, "tokens": tokens}
    whole = {"text": text, "generation_id": f"g{number}", "finish_reason": "COMPLETE", "meta": meta}
    whole |= {"tool_calls": calls} if calls else {}
    if not body.get("stream"):
        return Whole(whole)
    said = [line("text-generation", text=piece) for piece in made_up.pieces(text)]
    called = [line("tool-calls-generation", tool_calls=calls)] if calls else []
    end = line("stream-end", is_finished=True, finish_reason="COMPLETE", response=whole)
    wrong = line("stream-end", is_finished=True, finish_reason="ERROR", response=whole)
    return Stream([line("stream-start", generation_id=f"g{number}"), *said, *called, end], wrong, LINES, comment=b"\n")


def line(kind: str, is_finished: bool = False, **more: Any) -> bytes:
    return written({"is_finished": is_finished, "event_type": kind, **more}).encode() + b"\n"


def schema(tool: dict[str, Any]) -> dict[str, Any]:
    """The JSON schema of a tool's parameters, whose types have the names of Python's."""
    types = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "list": "array", "dict": "object"}
    definitions = (tool.get("parameter_definitions") or {}).items()
    properties = {name: {"type": types.get(form["type"], "string")} for name, form in definitions}
    return {"type": "object", "properties": properties, "required": list(properties)}
