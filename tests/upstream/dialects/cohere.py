"""Cohere's API, version 2: chat, embed, rerank.

Sources: Cohere's API reference, "Chat", "Chat with Streaming", "Embed" and "Rerank" (version 2), and "Errors"; its guide
"Migrating From API v1 to API v2". The reference says what is required; it has the words of few errors, so most words here
are made up after those.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

from .. import made_up
from ..exchange import COMMENT, Refused, Request, Stream, Whole, server_sent
from ..rules import is_number

REQUIRED = {
    # Guide "Migrating": `model` is required everywhere, `embedding_types` by Embed.
    "chat": {"model": str, "messages": list},
    "embed": {"model": str, "input_type": str, "embedding_types": list},
    "rerank": {"model": str, "query": str, "documents": list},
}
ROLES = ("system", "user", "assistant", "tool")


def takes(path: str) -> bool:
    return path.startswith("/v2/") and path.rpartition("/")[2] in REQUIRED


def failure(status: int, message: str, request: Request) -> Whole:
    return Whole({"id": f"e{request.number}", "message": message}, status)


def answer(request: Request) -> Whole | Stream:
    kind = request.path.rpartition("/")[2]
    check(request, kind)
    number, body = request.number, request.body
    if kind == "embed":
        count = len(body.get("texts") or body.get("inputs") or [])
        vectors = {"float": [[number + 0.5, place] for place in range(count)]}
        meta = {"api_version": {"version": "2"}, "billed_units": {"input_tokens": 3}}
        same = {"id": f"e{number}", "texts": body.get("texts"), "response_type": "embeddings_by_type"}
        return Whole({**same, "embeddings": vectors, "meta": meta})
    if kind == "rerank":
        scored = [{"index": place, "relevance_score": 1 / (1 + place + number)} for place in range(len(body["documents"]))]
        meta = {"api_version": {"version": "2"}, "billed_units": {"search_units": 1}}
        return Whole({"id": f"r{number}", "results": scored[: body.get("top_n")], "meta": meta})
    return chat(request)


def check(request: Request, kind: str) -> None:
    def refuse(message: str, status: int = 400) -> NoReturn:
        raise Refused(failure(status, message, request))

    # Reference, "Errors": 401.
    if not request.headers.get("authorization", "").lower().startswith("bearer "):
        refuse("no api key supplied", 401)
    body = request.body
    if not isinstance(body, dict):
        refuse("invalid json syntax")
    for field, wanted in REQUIRED[kind].items():
        if body.get(field) in (None, "", []):
            refuse(f"invalid request: {field} is required")
        if not isinstance(body[field], wanted):
            got = f"parameter {field} is of type {type(body[field]).__name__} but should be of type {wanted.__name__}"
            refuse(f"invalid type: {got}")
    # Reference, "Embed": at most 96 texts for each call.
    if kind == "embed" and (count := len(body.get("texts") or [])) > 96:
        refuse(f"invalid request: total number of texts must be at most 96 - received {count}")
    # Reference, "Chat": `temperature` is a non-negative number.
    if (heat := body.get("temperature")) is not None and (not is_number(heat) or heat < 0):
        refuse("invalid request: temperature must be a non-negative number")
    calls: set[str] = set()
    for place, message in enumerate(body.get("messages") or []):
        if message.get("role") not in ROLES:
            refuse(f"invalid request: message at index {place} has an invalid role: must be one of {', '.join(ROLES)}")
        # Guide "Migrating", tool call ids: results are matched with calls by their id.
        if message["role"] == "tool" and message.get("tool_call_id") not in calls:
            refuse(f"invalid request: tool call id not found in previous tool calls: {message.get('tool_call_id')}")
        calls |= {call["id"] for call in message.get("tool_calls") or []}


def chat(request: Request) -> Whole | Stream:
    number, body = request.number, request.body
    tools = [(tool["function"]["name"], tool["function"].get("parameters")) for tool in body.get("tools") or []]
    is_answered = any(message["role"] == "tool" for message in body["messages"])
    forced = "*" if body.get("tool_choice") == "REQUIRED" and not is_answered else None
    picked = made_up.chosen(tools, is_answered, forced, request.text) if body.get("tool_choice") != "NONE" else []
    calls = []
    for place, (name, schema) in enumerate(picked):
        arguments = json.dumps(made_up.value(schema, number))
        calls.append({"id": f"t{number}_{place}", "type": "function", "function": {"name": name, "arguments": arguments}})
    form = body.get("response_format") or {}
    text = "".join(made_up.words(number, request.text))
    if form.get("type") == "json_object":
        text = json.dumps(made_up.value(form.get("json_schema") or form.get("schema"), number))
    tokens = {"input_tokens": 10 + number, "output_tokens": 5}
    usage = {"billed_units": {"input_tokens": 3, "output_tokens": 4}, "tokens": tokens}
    end = "TOOL_CALL" if calls else "COMPLETE"
    if body.get("stream"):
        # SDK, `ChatMessageEndEventDelta.error`.
        inside = {"type": "message-end", "delta": {"finish_reason": "ERROR", "error": "made-up failure", "usage": usage}}
        return Stream(list(events(number, text, calls, end, usage)), server_sent(inside, "message-end"), comment=COMMENT)
    said = {"tool_plan": "I will look", "tool_calls": calls} if calls else {"content": [{"type": "text", "text": text}]}
    return Whole({"id": f"c{number}", "message": {"role": "assistant", **said}, "finish_reason": end, "usage": usage})


def events(number: int, text: str, calls: list[Any], end: str, usage: Any):
    """Reference, "Chat with Streaming"."""

    def event(kind: str, **more: Any) -> bytes:
        return server_sent({"type": kind, **more}, kind)

    def delta(kind: str, message: Any, **more: Any) -> bytes:
        return event(kind, delta={"message": message}, **more)

    empty = {"role": "assistant", "content": [], "tool_plan": "", "tool_calls": [], "citations": []}
    yield event("message-start", id=f"c{number}", delta={"message": empty})
    if calls:
        yield delta("tool-plan-delta", {"tool_plan": "I will look"})
    for index, call in enumerate(calls):
        begun = {**call, "function": {**call["function"], "arguments": ""}}
        yield delta("tool-call-start", {"tool_calls": begun}, index=index)
        arguments = call["function"]["arguments"]
        for start in range(0, len(arguments), 7):
            part = {"tool_calls": {"function": {"arguments": arguments[start : start + 7]}}}
            yield delta("tool-call-delta", part, index=index)
        yield event("tool-call-end", index=index)
    if not calls:
        yield delta("content-start", {"content": {"type": "text", "text": ""}}, index=0)
        for piece in made_up.pieces(text):
            yield delta("content-delta", {"content": {"text": piece}}, index=0)
        yield event("content-end", index=0)
    yield event("message-end", id=f"c{number}", delta={"finish_reason": end, "usage": usage})
    yield server_sent("[DONE]")
