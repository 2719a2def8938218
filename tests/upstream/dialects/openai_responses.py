"""OpenAI's responses.

Sources: OpenAI's API reference, "Create a model response" and "Streaming events"; its published OpenAPI description
(`CreateResponse`); the errors that users quote in issues, which each rule names by repository and number.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

from .. import made_up
from ..exchange import COMMENT, Request, Stream, Whole, server_sent
from .openai_errors import between, checked, failure, refuse, want

__all__ = ["answer", "failure", "takes"]

ROLES = ("assistant", "system", "developer", "user")
BEFORE = ("previous_response_id", "conversation", "prompt")
"""What brings input that the request does not show."""


def takes(path: str) -> bool:
    return path.endswith("/responses")


def check(body: dict[str, Any]) -> None:
    if body.get("input") is None and not any(body.get(field) for field in BEFORE):
        refuse("One of \"input\" or \"previous_response_id\" or 'prompt' or 'conversation_id' must be provided.")
    # Guide "Migrate to the Responses API"; words: cline/cline#5419, egoist/chatwise-releases#1023.
    if "messages" in body:
        moved = "In the Responses API, this parameter has moved to 'input'."
        refuse(f"Unsupported parameter: 'messages'. {moved}", "messages", "unsupported_parameter")
    want(body, "input", (str, list))
    want(body, "stream", bool)
    want(body, "max_output_tokens", int)
    # OpenAPI description: `minimum: 16`.
    if (limit := body.get("max_output_tokens")) is not None and limit < 16:
        said = f"integer below minimum value. Expected a value >= 16, but got {limit} instead."
        refuse(f"Invalid 'max_output_tokens': {said}", "max_output_tokens", "integer_below_min_value")
    between(body, "temperature", 0, 2)
    between(body, "top_p", 0, 1)
    calls: set[str] = set()
    answered: set[str] = set()
    for place, item in enumerate(body["input"] if isinstance(body.get("input"), list) else []):
        kind = item.get("type", "message")
        if kind == "message" and item.get("role") not in ROLES:
            names = ", ".join(f"'{role}'" for role in ROLES[:-1])
            said = f"Invalid value: '{item.get('role')}'. Supported values are: {names}, and '{ROLES[-1]}'."
            refuse(said, f"input[{place}]", "invalid_value")
        if kind == "function_call":
            calls.add(item["call_id"])
        # Guide "Function calling": each output names its call. Words: continuedev/continue#10092.
        if kind == "function_call_output":
            answered.add(item["call_id"])
            if item["call_id"] not in calls and not any(body.get(field) for field in BEFORE):
                refuse(f"No tool call found for function call output with call_id {item['call_id']}.", "input")
    # Words: bytedance/trae-agent#245, Azure/azure-sdk-for-python#46092.
    for call in sorted(calls - answered):
        refuse(f"No tool output found for function call {call}.", "input")


def answer(request: Request) -> Whole | Stream:
    body = checked(request)
    check(body)
    whole = response(body, request)
    if not body.get("stream"):
        return Whole(whole)
    numbers = itertools.count()
    numbered = [{"type": event["type"], "sequence_number": next(numbers), **event} for event in stream(whole)]
    events = [server_sent(event, event["type"]) for event in numbered]
    inside = {"type": "error", "code": "server_error", "message": "made-up failure", "param": None, "sequence_number": 9}
    return Stream(events, server_sent(inside, "error"), comment=COMMENT)


def response(body: dict[str, Any], request: Request) -> dict[str, Any]:
    number = request.number
    output: list[dict[str, Any]] = [
        {"type": "function_call", "id": f"fc_{number}_{place}", "call_id": f"call_{number}_{place}", "name": name}
        | {"arguments": json.dumps(arguments), "status": "completed"}
        for place, (name, arguments) in enumerate(called(body, request))
    ]
    if not output:
        form = (body.get("text") or {}).get("format") or {}
        text = "".join(made_up.words(number, request.text))
        if form.get("type") == "json_schema":
            text = json.dumps(made_up.value(form["schema"], number))
        part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
        said = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed", "content": [part]}
        output.append(said)
    usage = {"input_tokens": 10 + number, "input_tokens_details": {"cached_tokens": 2}, "output_tokens": 5}
    usage |= {"output_tokens_details": {"reasoning_tokens": 1}, "total_tokens": 15 + number}
    kept = {field: body.get(field) for field in ("model", "instructions", "previous_response_id", "user")}
    settings = {"parallel_tool_calls": True, "temperature": 1.0, "top_p": 1.0, "tool_choice": "auto", "truncation": "disabled"}
    settings |= {"tools": body.get("tools") or [], "metadata": {}, "text": {"format": {"type": "text"}}}
    base = {"id": f"resp_{number}", "object": "response", "created_at": 1700000000 + number, "status": "completed"}
    return {**base, **kept, **settings, "error": None, "incomplete_details": None, "output": output, "usage": usage}


def called(body: dict[str, Any], request: Request) -> list[tuple[str, Any]]:
    items = body["input"] if isinstance(body.get("input"), list) else []
    is_answered = any(item.get("type") == "function_call_output" for item in items)
    tools = [(tool["name"], tool.get("parameters")) for tool in body.get("tools") or [] if tool["type"] == "function"]
    choice = body.get("tool_choice")
    forced = choice.get("name") if isinstance(choice, dict) else None
    if choice == "required" and not is_answered:
        forced = "*"
    picked = [] if choice == "none" else made_up.chosen(tools, is_answered, forced, request.text)
    return [(name, made_up.value(schema, request.number)) for name, schema in picked]


def stream(whole: dict[str, Any]) -> Iterator[dict[str, Any]]:
    begun = {**whole, "status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(whole["output"]):
        where = {"item_id": item["id"], "output_index": index}
        is_call = item["type"] == "function_call"
        empty = {**item, "status": "in_progress", **({"arguments": ""} if is_call else {"content": []})}
        yield {"type": "response.output_item.added", "output_index": index, "item": empty}
        if is_call:
            arguments = item["arguments"]
            for start in range(0, len(arguments), 7):
                yield {"type": "response.function_call_arguments.delta", **where, "delta": arguments[start : start + 7]}
            yield {"type": "response.function_call_arguments.done", **where, "name": item["name"], "arguments": arguments}
        else:
            part = item["content"][0]
            where["content_index"] = 0
            yield {"type": "response.content_part.added", **where, "part": {**part, "text": ""}}
            for piece in made_up.pieces(part["text"]):
                yield {"type": "response.output_text.delta", **where, "delta": piece, "logprobs": []}
            yield {"type": "response.output_text.done", **where, "text": part["text"], "logprobs": []}
            yield {"type": "response.content_part.done", **where, "part": part}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": whole}
