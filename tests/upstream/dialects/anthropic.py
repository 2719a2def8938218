"""Anthropic's Messages API, and the same messages by way of Vertex AI (`:rawPredict`).

Sources: Anthropic's API reference, "Create a Message", "Streaming Messages" and "Errors"; the errors that users of its SDKs
and of its command line quote in their issues. `anthropic_rules.py` has what is refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .. import made_up
from ..exchange import Request, Stream, Whole, server_sent
from .anthropic_rules import check, failure, results

__all__ = ["answer", "events", "failure", "message", "takes"]

OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
"""Reference, "Streaming Messages", error events."""


def takes(path: str) -> bool:
    return path.endswith(("/messages", "/messages/count_tokens")) or "rawPredict" in path or "RawPredict" in path


def answer(request: Request) -> Whole | Stream:
    by_vertex = "awPredict" in request.path
    check(request, "vertex-2023-10-16" if by_vertex else None)
    if request.path.endswith("/count_tokens"):
        return Whole({"input_tokens": request.number})
    said = message(request)
    if not request.body.get("stream") and "streamRawPredict" not in request.path:
        return Whole(said)
    stream = [server_sent(event, event["type"]) for event in events(said)]
    return Stream(stream, server_sent(OVERLOADED, "error"), comment=server_sent({"type": "ping"}, "ping"))


def message(request: Request) -> dict[str, Any]:
    """The whole answer."""
    body, number = request.body, request.number
    content: list[dict[str, Any]] = []
    if (body.get("thinking") or {}).get("type") == "enabled":
        content.append({"type": "thinking", "thinking": f"hmm {number}", "signature": "c2ln"})
    calls = called(request)
    for place, (name, arguments) in enumerate(calls):
        content.append({"type": "tool_use", "id": f"toolu_{number}_{place}", "name": name, "input": arguments})
    if not calls:
        content.append({"type": "text", "text": text(request)})
    usage = {"input_tokens": 10 + number, "output_tokens": 7}
    usage |= {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 4}
    base = {"id": f"msg_{number}", "type": "message", "role": "assistant", "model": body.get("model", "claude")}
    end = "tool_use" if calls else "end_turn"
    return {**base, "content": content, "stop_reason": end, "stop_sequence": None, "usage": usage}


def text(request: Request) -> str:
    body = request.body
    form = body.get("output_format") or (body.get("output_config") or {}).get("format") or {}
    if form.get("type") == "json_schema":
        return json.dumps(made_up.value(form["schema"], request.number))
    return "".join(made_up.words(request.number, request.text))


def called(request: Request) -> list[tuple[str, Any]]:
    body = request.body
    tools = [(tool["name"], tool["input_schema"]) for tool in body.get("tools") or [] if "input_schema" in tool]
    choice = body.get("tool_choice") or {}
    is_answered = any(results(message) for message in body["messages"])
    forced = choice.get("name") if choice.get("type") == "tool" else None
    if choice.get("type") == "any" and not is_answered:
        forced = "*"
    picked = [] if choice.get("type") == "none" else made_up.chosen(tools, is_answered, forced, request.text)
    return [(name, made_up.value(schema, request.number)) for name, schema in picked]


def events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The events of a stream, in the order of the reference ("Streaming Messages", event types)."""
    begun = {**message["usage"], "output_tokens": 1}
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None, "usage": begun}}
    yield {"type": "ping"}
    for index, block in enumerate(message["content"]):
        empty = {"text": {"text": ""}, "thinking": {"thinking": "", "signature": ""}, "tool_use": {"input": {}}}
        yield {"type": "content_block_start", "index": index, "content_block": {**block, **empty[block["type"]]}}
        for delta in deltas(block):
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    end = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": end, "usage": {"output_tokens": message["usage"]["output_tokens"]}}
    yield {"type": "message_stop"}


def deltas(block: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if block["type"] == "text":
        for piece in made_up.pieces(block["text"]):
            yield {"type": "text_delta", "text": piece}
    elif block["type"] == "thinking":
        yield {"type": "thinking_delta", "thinking": block["thinking"]}
        yield {"type": "signature_delta", "signature": block["signature"]}
    else:
        arguments = json.dumps(block["input"])
        for start in range(0, len(arguments), 7):
            yield {"type": "input_json_delta", "partial_json": arguments[start : start + 7]}
