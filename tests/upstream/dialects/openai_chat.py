"""OpenAI's chat completions, which Azure and many other providers serve as well.

Sources: OpenAI's API reference, "Create chat completion" and "Streaming"; its published OpenAPI description
(`CreateChatCompletionRequest`); the errors that users quote in issues, which each rule names by repository and number.
"""

from __future__ import annotations

import json
from typing import Any

from .. import made_up
from ..exchange import COMMENT, Request, Stream, Whole, server_sent
from .openai_errors import between, checked, error, failure, refuse, want

__all__ = ["answer", "failure", "reply", "takes"]

ROLES = ("system", "assistant", "user", "function", "tool", "developer")

FIELDS = {
    *("model", "messages", "audio", "frequency_penalty", "function_call", "functions", "logit_bias", "logprobs"),
    *("max_completion_tokens", "max_tokens", "metadata", "modalities", "n", "parallel_tool_calls", "prediction"),
    *("presence_penalty", "prompt_cache_key", "prompt_cache_retention", "reasoning_effort", "response_format"),
    *("safety_identifier", "seed", "service_tier", "stop", "store", "stream", "stream_options", "temperature"),
    *("tool_choice", "tools", "top_logprobs", "top_p", "user", "verbosity", "web_search_options"),
}
"""OpenAPI description, `CreateChatCompletionRequest`."""


def takes(path: str) -> bool:
    return path.endswith("/chat/completions")


def check(body: dict[str, Any]) -> None:
    want(body, "model", str, is_required=True)
    want(body, "messages", list, is_required=True)
    # Words: coroot/coroot#698, sd-webui-decadetw-auto-prompt-llm#29 (xlinx).
    if unknown := sorted(set(body) - FIELDS):
        many = "s" if len(unknown) > 1 else ""
        refuse(f"Unrecognized request argument{many} supplied: {', '.join(unknown)}")
    # OpenAPI description: `minItems: 1`.
    if not body["messages"]:
        said = "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead."
        refuse(said, "messages", "empty_array")
    for field in ("stream", "logprobs", "parallel_tool_calls"):
        want(body, field, bool)
    for field in ("max_tokens", "max_completion_tokens", "n", "seed"):
        want(body, field, int)
    between(body, "temperature", 0, 2)
    between(body, "top_p", 0, 1)
    # API reference, `stream_options`: "Only set this when you set `stream: true`".
    if body.get("stream_options") is not None and not body.get("stream"):
        refuse("The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options")
    # API reference, `tool_choice`: choices are among `tools`. Words: dapr/dapr-agents#248.
    if body.get("tool_choice") is not None and not body.get("tools"):
        refuse("Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.", "tool_choice")
    # API reference, `response_format`: with `json_object`, a message must ask for JSON. Words: mem0ai/mem0#3559.
    is_json = (body.get("response_format") or {}).get("type") == "json_object"
    if is_json and "json" not in json.dumps(body["messages"]).lower():
        said = "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'."
        refuse(said, "messages")
    check_messages(body["messages"])


def check_messages(messages: list[Any]) -> None:
    """Roles are known, and results of tools follow the calls that they answer, all of them.

    Words: dimagi/open-chat-studio#1659 and smarter-sh/smarter#264 (a result without a call), microsoft/promptflow#3130
    (a call without a result).
    """
    open_calls: list[str] = []
    for place, message in enumerate(messages):
        role = message.get("role") if isinstance(message, dict) else None
        if role not in ROLES:
            names = ", ".join(f"'{name}'" for name in ROLES[:-1])
            said = f"Invalid value: '{role}'. Supported values are: {names}, and '{ROLES[-1]}'."
            refuse(said, f"messages[{place}].role", "invalid_value")
        # The spelling "preceeding" is OpenAI's.
        if role == "tool":
            if message.get("tool_call_id") not in open_calls:
                said = "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
                refuse(f"Invalid parameter: {said}", f"messages.[{place}].role")
            open_calls.remove(message["tool_call_id"])
            continue
        refuse_unanswered(open_calls, place)
        if role != "assistant" and message.get("content") is None:
            said = "Invalid value for 'content': expected a string, got null."
            refuse(said, f"messages.[{place}].content")
        open_calls = [call["id"] for call in message.get("tool_calls") or []]
    refuse_unanswered(open_calls, len(messages))


def refuse_unanswered(calls: list[str], place: int) -> None:
    if calls:
        said = "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
        missing = f"The following tool_call_ids did not have response messages: {', '.join(calls)}"
        refuse(f"{said} {missing}", f"messages.[{place}].role")


def answer(request: Request) -> Whole | Stream:
    body = checked(request)
    check(body)
    return reply(body, request)


def reply(body: dict[str, Any], request: Request) -> Whole | Stream:
    """The answer to a request that is not refused."""
    number = request.number
    calls = [
        {"id": f"call_{number}_{place}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for place, (name, arguments) in enumerate(called(body, request))
    ]
    usage = {"prompt_tokens": 10 + number, "completion_tokens": 5, "total_tokens": 15 + number}
    usage["prompt_tokens_details"] = {"cached_tokens": 3}
    base = {"id": f"chatcmpl-{number}", "created": 1700000000 + number, "model": body["model"]}
    if body.get("stream"):
        return stream(body, base, said(body, request), calls, usage)
    choices = []
    for place in range(body.get("n") or 1):
        text = said(body, request) + (f" #{place}" if place else "")
        message = {"role": "assistant", "content": None if calls else text, "refusal": None}
        message |= {"tool_calls": calls} if calls else {}
        end = "tool_calls" if calls else "stop"
        choices.append({"index": place, "message": message, "finish_reason": end, "logprobs": None})
    return Whole({**base, "object": "chat.completion", "choices": choices, "usage": usage})


def called(body: dict[str, Any], request: Request) -> list[tuple[str, Any]]:
    tools = [(tool["function"]["name"], tool["function"].get("parameters")) for tool in body.get("tools") or []]
    choice = body.get("tool_choice")
    is_answered = any(message["role"] in ("tool", "function") for message in body["messages"])
    forced = choice["function"]["name"] if isinstance(choice, dict) and "function" in choice else None
    if choice in ("required", "any") and not is_answered:
        forced = "*"
    picked = [] if choice == "none" else made_up.chosen(tools, is_answered, forced, request.text)
    return [(name, made_up.value(schema, request.number)) for name, schema in picked]


def said(body: dict[str, Any], request: Request) -> str:
    form = body.get("response_format") or {}
    if form.get("type") == "json_schema":
        return json.dumps(made_up.value(form["json_schema"].get("schema"), request.number))
    if form.get("type") == "json_object":
        return json.dumps({"answer": request.number})
    return "".join(made_up.words(request.number, request.text))


def stream(body: dict[str, Any], base: dict[str, Any], text: str, calls: list[Any], usage: Any) -> Stream:
    def chunk(delta: Any, end: str | None = None, place: int = 0) -> bytes:
        choice = {"index": place, "delta": delta, "finish_reason": end, "logprobs": None}
        return server_sent({**base, "object": "chat.completion.chunk", "choices": [choice]})

    events = []
    for place in range(body.get("n") or 1):
        events.append(chunk({"role": "assistant", "content": None if calls else ""}, None, place))
        for index, call in enumerate(calls):
            arguments = call["function"]["arguments"]
            begun = {**call, "index": index, "function": {**call["function"], "arguments": ""}}
            events.append(chunk({"tool_calls": [begun]}, None, place))
            for start in range(0, len(arguments), 7):
                part = {"index": index, "function": {"arguments": arguments[start : start + 7]}}
                events.append(chunk({"tool_calls": [part]}, None, place))
        for piece in [] if calls else made_up.pieces(text):
            events.append(chunk({"content": piece}, None, place))
        events.append(chunk({}, "tool_calls" if calls else "stop", place))
    # API reference, `include_usage`: one more chunk before the end, with no choices.
    if (body.get("stream_options") or {}).get("include_usage"):
        events.append(server_sent({**base, "object": "chat.completion.chunk", "choices": [], "usage": usage}))
    events.append(server_sent("[DONE]"))
    inside = error(500, "The server had an error while processing your request. Sorry about that!")
    return Stream(events, server_sent(inside.body), comment=COMMENT)
